// The part of a text in which the next chunk of the semantic splitter must end.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/text/flat_queue.hpp"
#include "core/text/semchunk_delimiters.hpp"

namespace ai::text {

/// The delimiters of a window that slides along the text; knows the strongest. Takes constant time
/// per delimiter, however the window moves: it keeps only those with no stronger or equal one after
/// them, because the others can never be the last of the strongest.
class DelimiterWindow {
 public:
  DelimiterWindow(std::string_view text, std::size_t from) : scanner_(text, from) {}

  /// Moves the window to the delimiters that begin at or after from, and at or before to.
  /// INVARIANT: from never moves back. If to does, the window keeps what it has seen.
  void Move(std::size_t from, std::size_t to);

  /// The last one of the strongest in the window; a cut between characters at `otherwise` if the
  /// window is empty.
  Delimiter Strongest(std::size_t otherwise) const;

 private:
  DelimiterScanner scanner_;    // on the first delimiter that has not been in the window
  FlatQueue<Delimiter> queue_;  // strictly falling strength
  bool has_end_ = false;        // the end of the text has been in the window
};

}  // namespace ai::text
