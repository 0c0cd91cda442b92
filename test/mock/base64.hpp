// base64.hpp: base64 of a vector's floats, as OpenAI sends it. Writes only; nothing here reads it.
#pragma once

#include <string>
#include <vector>

namespace ai::mock {

/// Appends the little-endian 32-bit floats in base64 with padding, without quotes.
void AppendBase64(std::string& out, const std::vector<float>& values);

}  // namespace ai::mock
