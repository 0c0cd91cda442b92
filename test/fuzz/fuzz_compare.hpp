// What the fuzz entries of all splitters share: options from bytes, and the comparison of a
// splitter with its model.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/splitter.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/merge_model.hpp"
#include "vectors/counters.hpp"

namespace ai::fuzz {

/// Sizes from 1 to 40 and an overlap that is mostly allowed.
inline void TakeSizes(FuzzInput& input, text::SplitterOptions& options) {
  constexpr std::array<const char*, 5> kCounters = {"chars", "chars", "words", "ceil_chars_div_4",
                                                    "chars"};
  options.chunk_size = 1 + input.Below(40);
  options.chunk_overlap = input.Flag() ? 0 : input.Below(static_cast<unsigned>(options.chunk_size));
  options.strip_whitespace = input.Flag();
  options.length = vectors::MakeCounter(input.Pick(kCounters));
}

[[noreturn]] inline void ThrowDifference(std::size_t index, const std::string& got,
                                         const std::string& want, const std::string& document) {
  throw std::runtime_error("chunk " + std::to_string(index) + " is \"" + got + "\", not \"" + want +
                           "\", of \"" + document + "\"");
}

/// Throws std::runtime_error where they differ.
inline void Compare(const text::Splitter& splitter, const std::string& document,
                    const Strings& expected) {
  text::ChunkList list(document);
  splitter.Split(document, list, nullptr);
  const std::vector<std::string_view>& chunks = list.chunks();
  for (std::size_t i = 0; i < std::max(chunks.size(), expected.size()); ++i) {
    const std::string got = i < chunks.size() ? std::string(chunks[i]) : "(none)";
    const std::string want = i < expected.size() ? expected[i] : "(none)";
    if (got != want) {
      ThrowDifference(i, got, want, document);
    }
  }
}

}  // namespace ai::fuzz
