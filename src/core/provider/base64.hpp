// Floats as OpenAI and others send them: base64 of 32-bit little-endian numbers. Strict: the
// standard alphabet, full padding, nothing else; no line breaks, no bits to spare.
#pragma once

#include <string_view>
#include <vector>

namespace ai::provider {

enum class Base64Outcome { kOk, kInvalid, kPartialFloat };

/// Appends the floats of text to values; adds nothing unless all of it is well. Does not look at
/// the numbers: they may be NaN.
Base64Outcome DecodeFloats(std::string_view text, std::vector<float>& values);

}  // namespace ai::provider
