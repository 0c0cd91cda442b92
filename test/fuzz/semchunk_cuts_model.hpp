// Where the semantic splitter cuts a piece, as plainly as possible: one search per kind of
// delimiter, the strongest kind first. Slow, and only good to compare with.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/text/pattern.hpp"
#include "core/utf8.hpp"

namespace ai::fuzz {

/// What lies between the parts of a piece; nothing between characters.
struct SemchunkCuts {
  std::vector<text::Span> gaps;
  bool joiner = false;
  bool characters = false;
};

/// The longest runs of the given bytes.
inline std::vector<text::Span> LongestRuns(std::string_view piece, std::string_view bytes) {
  std::vector<text::Span> runs;
  std::size_t longest = 1;
  for (std::size_t at = piece.find_first_of(bytes); at != std::string_view::npos;
       at = piece.find_first_of(bytes, at)) {
    const std::size_t end = std::min(piece.find_first_not_of(bytes, at), piece.size());
    if (end - at > longest) {
      runs.clear();
      longest = end - at;
    }
    if (end - at == longest) {
      runs.push_back({at, end});
    }
    at = end;
  }
  return runs;
}

/// The spaces after the given punctuation.
inline std::vector<text::Span> SpacesAfter(std::string_view piece, std::string_view punctuation) {
  std::vector<text::Span> spaces;
  for (std::size_t at = 0; at < piece.size(); ++at) {
    const std::string_view before = piece.substr(0, at);
    const bool ellipsis = punctuation == "." && before.ends_with("...");
    if (piece[at] == ' ' && before.ends_with(punctuation) && !ellipsis) {
      spaces.push_back({at, at + 1});
    }
  }
  return spaces;
}

inline std::vector<text::Span> AllOf(std::string_view piece, char byte) {
  std::vector<text::Span> found;
  for (std::size_t at = 0; at < piece.size(); ++at) {
    if (piece[at] == byte) {
      found.push_back({at, at + 1});
    }
  }
  return found;
}

inline SemchunkCuts StrongestCuts(std::string_view piece) {
  SemchunkCuts cuts;
  cuts.gaps = LongestRuns(piece, "\r\n");
  if (cuts.gaps.empty()) {
    cuts.gaps = LongestRuns(piece, "\t");
  }
  for (const char* punctuation : {".", "?", "!", ";", ",", ")", "]", ":", "--", "..."}) {
    if (cuts.gaps.empty()) {
      cuts.gaps = SpacesAfter(piece, punctuation);
    }
  }
  if (cuts.gaps.empty()) {
    cuts.gaps = LongestRuns(piece, " ");
  }
  for (const char joiner : std::string_view("/\\&-")) {
    if (cuts.gaps.empty()) {
      cuts.gaps = AllOf(piece, joiner);
      cuts.joiner = !cuts.gaps.empty();
    }
  }
  if (cuts.gaps.empty()) {
    cuts.characters = true;
    for (std::size_t at = utf8::DecodeAt(piece, 0).length; at < piece.size();
         at += utf8::DecodeAt(piece, at).length) {
      cuts.gaps.push_back({at, at});
    }
  }
  return cuts;
}

}  // namespace ai::fuzz
