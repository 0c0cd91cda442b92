// vectors.hpp: the deterministic unit vector of a text, and how it is written.
//
// A vector depends on the text and the number of dimensions and on nothing else: not on the model,
// the provider, the process or the machine. It means nothing: texts that resemble each other do not
// get vectors that do. README.md describes the algorithm; a change here changes it there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ai::mock {

/// The most dimensions a vector may have: the sum of squares must fit 64 bits (see vectors.cpp).
inline constexpr size_t kMaxDimensions = 16384;

/// Components are whole numbers of 1e-8, so that the eight decimals of a reply are all there is and
/// the float and the base64 form of a vector are the same vector.
inline constexpr int32_t kUnit = 100'000'000;

/// FNV-1a with 64 bits.
uint64_t HashText(std::string_view text);

/// Replaces `out` by the components of the text's vector, in units of 1e-8.
void FillVector(std::string_view text, size_t dimensions, std::vector<int32_t>& out);

/// The float that a component is.
inline float ToFloat(int32_t component) {
  return static_cast<float>(static_cast<double>(component) / kUnit);
}

/// The longest component is "-0.12345678".
inline constexpr size_t kLongestComponent = 11;

/// Writes a component as a JSON number with eight decimals; returns where it ends. There must be
/// room for kLongestComponent.
char* WriteComponent(char* at, int32_t component);

/// What a text costs: a quarter of its bytes, rounded up, and at least one token.
inline uint64_t CountTokens(std::string_view text) {
  return text.size() <= 4 ? 1 : (text.size() + 3) / 4;
}

}  // namespace ai::mock
