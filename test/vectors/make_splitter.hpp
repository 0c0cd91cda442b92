// Turns the parameters of an oracle vector into one of our splitters.
#pragma once

#include <memory>
#include <string_view>

#include "core/json/value.hpp"
#include "core/text/splitter.hpp"

namespace ai::vectors {

/// Throws Error for parameters that the splitter refuses, or that mean nothing to us.
std::unique_ptr<text::Splitter> MakeSplitter(std::string_view reference, json::Value params);

}  // namespace ai::vectors
