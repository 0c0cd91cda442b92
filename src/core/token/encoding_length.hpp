// Chunks measured in the tokens of an encoding.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "core/interrupt.hpp"
#include "core/text/length.hpp"
#include "core/token/encoding.hpp"

namespace ai::token {

class EncodingLength final : public text::LengthFunction {
 public:
  /// A measurement of a large text asks pending now and then.
  explicit EncodingLength(std::shared_ptr<const Encoding> encoding,
                          InterruptCheck pending = nullptr)
      : encoding_(std::move(encoding)), pending_(pending) {}

  std::size_t Measure(std::string_view text) const override {
    return encoding_->Count(text, pending_);
  }
  std::size_t MeasureUpTo(std::string_view text, std::size_t limit) const override {
    return encoding_->CountUpTo(text, limit, pending_);
  }
  std::size_t FitPrefix(std::string_view text, std::size_t limit) const override {
    return encoding_->Truncate(text, limit, pending_).size();
  }

 private:
  std::shared_ptr<const Encoding> encoding_;
  InterruptCheck pending_;
};

}  // namespace ai::token
