// Chunks measured in the tokens of an encoding.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "core/text/length.hpp"
#include "core/token/encoding.hpp"

namespace ai::token {

class EncodingLength final : public text::LengthFunction {
 public:
  explicit EncodingLength(std::shared_ptr<const Encoding> encoding)
      : encoding_(std::move(encoding)) {}

  std::size_t Measure(std::string_view text) const override { return encoding_->Count(text); }
  std::size_t FitPrefix(std::string_view text, std::size_t limit) const override {
    return encoding_->Truncate(text, limit).size();
  }

 private:
  std::shared_ptr<const Encoding> encoding_;
};

}  // namespace ai::token
