// The unit in which chunks are measured. Code points are the default and need no object; anything
// else (the tokens of an encoding) is a LengthFunction.
//
// A length function only measures. It knows nothing of chunks and keeps no text.
#pragma once

#include <cstddef>
#include <string_view>

namespace ai::text {

class LengthFunction {
 public:
  LengthFunction() = default;
  LengthFunction(const LengthFunction&) = delete;
  LengthFunction& operator=(const LengthFunction&) = delete;
  virtual ~LengthFunction() = default;

  /// The length of text, 0 for an empty one. INVARIANT: text is valid UTF-8.
  virtual std::size_t Measure(std::string_view text) const = 0;

  /// The same if it is at most limit, else anything above limit. A function that can stop when it
  /// knows should override it: splitters ask for the length of texts far longer than a chunk.
  virtual std::size_t MeasureUpTo(std::string_view text, std::size_t limit) const;

  /// How many bytes the longest prefix of text has that measures at most limit and ends on a
  /// character boundary. The default searches with Measure, as if a longer prefix never measured
  /// less; a function that can count while it reads should override it with a single pass.
  virtual std::size_t FitPrefix(std::string_view text, std::size_t limit) const;
};

}  // namespace ai::text
