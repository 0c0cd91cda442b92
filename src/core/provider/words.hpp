// Makes what a provider said fit to be shown and stored: one line of valid UTF-8, not too long,
// without the key, be it whole, in part or masked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ai::provider {

inline constexpr std::size_t kMaxWords = 300;  // bytes

/// Control characters become spaces, runs of spaces one, bytes that are not UTF-8 question marks,
/// and everything that looks like a key or a part of api_key becomes "[key]".
std::string CleanWords(std::string_view words, std::string_view api_key,
                       std::size_t max_bytes = kMaxWords);

}  // namespace ai::provider
