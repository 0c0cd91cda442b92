// How the inner loops of the splitters measure: code points inline, everything else through a
// LengthFunction. Splitters are templates over one of these two, chosen once per document. A length
// above the chunk size is only known to be above it, which is all that anybody asks.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/interrupt.hpp"
#include "core/text/code_points.hpp"
#include "core/text/length.hpp"
#include "core/text/pattern.hpp"
#include "core/text/splitter.hpp"

namespace ai::text {

class CodePointMeasure {
 public:
  /// Whether the lengths of two parts add up to the length of the whole.
  static constexpr bool kAdditive = true;

  std::size_t operator()(std::string_view text) const { return utf8::CountCodePoints(text); }

  /// The length of a part; faster than that of a view for a few bytes.
  std::size_t operator()(std::string_view text, Span part) const {
    return CodePointLength(text, part.begin, part.end);
  }

  /// The bytes of the longest prefix that measures at most limit.
  std::size_t Fit(std::string_view text, std::size_t limit) const {
    return SkipCodePoints(text, 0, limit);
  }

  /// A suffix of text that starts later than this offset measures at most limit; one that starts
  /// earlier may be longer.
  static std::size_t SuffixStart(std::string_view text, std::size_t limit) {
    return BackCodePoints(text, limit);
  }
};

class FunctionMeasure {
 public:
  static constexpr bool kAdditive = false;

  FunctionMeasure(const LengthFunction& length, std::size_t chunk_size, InterruptCheck pending)
      : length_(&length), chunk_size_(chunk_size), pending_(pending) {}

  std::size_t operator()(std::string_view text) const {
    CheckInterrupt(pending_);
    return length_->MeasureUpTo(text, chunk_size_);
  }

  std::size_t operator()(std::string_view text, Span part) const {
    return (*this)(text.substr(part.begin, part.end - part.begin));
  }

  std::size_t Fit(std::string_view text, std::size_t limit) const {
    CheckInterrupt(pending_);
    return length_->FitPrefix(text, limit);
  }

  static std::size_t SuffixStart(std::string_view /*text*/, std::size_t /*limit*/) { return 0; }

 private:
  const LengthFunction* length_;
  std::size_t chunk_size_;
  InterruptCheck pending_;
};

/// Calls body with the measure that options ask for.
template <typename Body>
void WithMeasure(const SplitterOptions& options, InterruptCheck pending, const Body& body) {
  if (options.length == nullptr) {
    body(CodePointMeasure());
  } else {
    const auto chunk_size = static_cast<std::size_t>(options.chunk_size);
    body(FunctionMeasure(*options.length, chunk_size, pending));
  }
}

}  // namespace ai::text
