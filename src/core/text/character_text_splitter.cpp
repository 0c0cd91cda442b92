// See character_text_splitter.hpp.
#include "core/text/character_text_splitter.hpp"

#include <array>
#include <utility>

#include "core/text/cutter.hpp"
#include "core/text/interrupt_ticker.hpp"
#include "core/text/measure.hpp"
#include "core/text/merger.hpp"

namespace ai::text {
namespace {

/// The reference looks at how the pattern is written, not at what it matches: a look-around at its
/// start stands for a separator of no width, even when consuming parts follow it.
bool StartsWithLookAround(std::string_view pattern) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"(?=", "(?!", "(?<=", "(?<!"};
  for (const std::string_view prefix : kPrefixes) {
    if (pattern.starts_with(prefix)) {
      return true;
    }
  }
  return false;
}

std::string JoinString(const CharacterTextSplitterOptions& options) {
  const bool nothing = options.keep_separator != KeepSeparator::kNone ||
                       (options.is_separator_regex && StartsWithLookAround(options.separator));
  return nothing ? std::string() : options.separator;
}

const CharacterTextSplitterOptions& Checked(const CharacterTextSplitterOptions& options) {
  ValidateMergedSizes(options);
  return options;
}

template <typename Measure>
void Run(Cutter& cutter, Merger& merger, std::string_view document, const Measure& measure,
         InterruptCheck pending) {
  InterruptTicker ticker(pending);
  Span piece = {0, 0};
  while (cutter.Next(piece)) {
    ticker.Tick();
    merger.Add(piece, measure(document, piece));
  }
  merger.Finish();
}

}  // namespace

void CharacterTextSplitterOptions::Validate() const {
  ValidateMergedSizes(*this);
  Separator(separator, is_separator_regex);
}

CharacterTextSplitter::CharacterTextSplitter(CharacterTextSplitterOptions options)
    : options_(std::move(options)),
      separator_(Checked(options_).separator, options_.is_separator_regex),
      join_(JoinString(options_)) {}

void CharacterTextSplitter::Split(std::string_view document, ChunkSink& sink,
                                  InterruptCheck pending) const {
  Cutter cutter(document, options_.keep_separator, pending);
  Merger merger(document, options_, sink);
  cutter.Begin(separator_, {0, document.size()});
  WithMeasure(options_, pending, [&](const auto& measure) {
    merger.Begin(join_, measure(join_));
    Run(cutter, merger, document, measure, pending);
  });
}

}  // namespace ai::text
