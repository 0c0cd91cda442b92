// A splitter from a vectorizer's chunking configuration: the JSON that the SQL helpers
// ai.chunking_...() return. What SQL calls and what a worker does with a configuration is this.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/json/value.hpp"
#include "core/text/length.hpp"
#include "core/text/splitter.hpp"

namespace ai::text {

/// Finds the length function of an encoding or a model by its name, or throws Error. The caller
/// knows where the tables are.
using LengthLookup = std::function<std::shared_ptr<const LengthFunction>(std::string_view name)>;

/// Throws Error(kInvalidParameter) naming what is wrong. Members that are absent or null have the
/// defaults of the splitter; "length" is absent or "characters" for code points.
std::unique_ptr<Splitter> MakeSplitter(json::Value config, const LengthLookup& find_length);

}  // namespace ai::text
