// Turns the parameters of an oracle vector into one of our splitters.
#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>

#include "core/json/value.hpp"
#include "core/text/splitter.hpp"

namespace ai::vectors {

/// The case itself makes no sense to us; whatever it expects, it has failed.
class UnreadableCase final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error for parameters that the splitter refuses, UnreadableCase for a splitter or
/// parameters that we do not know.
std::unique_ptr<text::Splitter> MakeSplitter(std::string_view reference, json::Value params);

}  // namespace ai::vectors
