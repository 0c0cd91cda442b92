// See recursive_character_text_splitter.hpp.
#include "core/text/recursive_character_text_splitter.hpp"

#include <utility>

#include "core/text/cutter.hpp"
#include "core/text/interrupt_ticker.hpp"
#include "core/text/measure.hpp"
#include "core/text/merger.hpp"

namespace ai::text {
namespace {

std::vector<Separator> MakeSeparators(const RecursiveCharacterTextSplitterOptions& options) {
  static constexpr const char* kDefaults[] = {"\n\n", "\n", " ", ""};
  std::vector<Separator> separators;
  const auto add = [&](const std::string& text) {
    separators.emplace_back(text, options.is_separator_regex);
    return !text.empty();
  };
  for (const std::string& text : options.separators) {
    if (!add(text)) {
      break;
    }
  }
  if (options.separators.empty()) {
    for (const char* text : kDefaults) {
      add(text);
    }
  }
  return separators;
}

/// One document on its way through the separators. The recursion is a stack of frames; each level
/// uses only separators behind those of the level above, so there are never more frames than
/// separators.
template <typename Measure>
class Descent {
 public:
  Descent(std::string_view document, const RecursiveCharacterTextSplitterOptions& options,
          const std::vector<Separator>& separators, const Measure& measure, ChunkSink& sink,
          InterruptCheck pending)
      : document_(document),
        options_(options),
        separators_(separators),
        measure_(measure),
        size_(static_cast<std::size_t>(options.chunk_size)),
        sink_(sink),
        pending_(pending),
        ticker_(pending) {}

  void Run() {
    Enter({0, document_.size()}, 0);
    while (depth_ > 0) {
      // INVARIANT: not used after Enter, which may move the frames.
      Frame& frame = frames_[depth_ - 1];
      Span piece = {0, 0};
      if (!frame.cutter.Next(piece)) {
        frame.merger.Finish();
        --depth_;
        continue;
      }
      ticker_.Tick();
      const std::size_t length = measure_(document_, piece);
      if (length < size_) {
        frame.merger.Add(piece, length);
        continue;
      }
      frame.merger.Finish();
      if (frame.next_level < separators_.size()) {
        Enter(piece, frame.next_level);
      } else {
        sink_.Add(document_.substr(piece.begin, piece.end - piece.begin));
      }
    }
  }

 private:
  struct Frame {
    Cutter cutter;
    Merger merger;
    std::size_t next_level;  // the first separator for pieces that are too long
  };

  /// Begins to cut part at the first separator from level on that occurs in it.
  void Enter(Span part, std::size_t level) {
    if (depth_ == frames_.size()) {
      frames_.push_back({Cutter(document_, options_.keep_separator, pending_),
                         Merger(document_, options_, sink_), 0});
    }
    Frame& frame = frames_[depth_++];
    std::size_t chosen = level;
    while (!frame.cutter.Begin(separators_[chosen], part) && chosen + 1 < separators_.size()) {
      ++chosen;
    }
    frame.next_level = chosen + 1;
    const std::string_view join = options_.keep_separator == KeepSeparator::kNone
                                      ? std::string_view(separators_[chosen].text())
                                      : std::string_view();
    frame.merger.Begin(join, measure_(join));
  }

  std::string_view document_;
  const RecursiveCharacterTextSplitterOptions& options_;
  const std::vector<Separator>& separators_;
  Measure measure_;
  std::size_t size_;
  ChunkSink& sink_;
  InterruptCheck pending_;
  InterruptTicker ticker_;
  std::vector<Frame> frames_;  // kept for reuse; the first depth_ of them are in use
  std::size_t depth_ = 0;
};

}  // namespace

void RecursiveCharacterTextSplitterOptions::Validate() const {
  ValidateMergedSizes(*this);
  MakeSeparators(*this);
}

RecursiveCharacterTextSplitter::RecursiveCharacterTextSplitter(
    RecursiveCharacterTextSplitterOptions options)
    : options_(std::move(options)) {
  ValidateMergedSizes(options_);
  separators_ = MakeSeparators(options_);
}

void RecursiveCharacterTextSplitter::Split(std::string_view document, ChunkSink& sink,
                                           InterruptCheck pending) const {
  WithMeasure(options_, pending, [&](const auto& measure) {
    Descent(document, options_, separators_, measure, sink, pending).Run();
  });
}

}  // namespace ai::text
