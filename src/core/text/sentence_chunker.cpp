// See sentence_chunker.hpp. A document flows through three stages, each of which keeps only what is
// still open: cut at delimiters, join segments that are too short, pack sentences into chunks.
#include "core/text/sentence_chunker.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/text/interrupt_ticker.hpp"
#include "core/text/literal_set.hpp"
#include "core/text/measure.hpp"
#include "core/text/tail_window.hpp"
#include "core/utf8.hpp"

namespace ai::text {
namespace {

/// Cuts at delimiters; concatenated, the segments are the document.
class SegmentCutter {
 public:
  SegmentCutter(std::string_view document, const LiteralSet& delimiters, IncludeDelimiter include,
                InterruptCheck pending)
      : document_(document), delimiters_(delimiters), include_(include), ticker_(pending) {}

  bool Next(Span& segment) {
    while (start_ < document_.size()) {
      ticker_.Tick();
      Span match = {document_.size(), document_.size()};
      delimiters_.Find(document_, search_, match);
      segment.begin = start_;
      start_ = include_ == IncludeDelimiter::kPrevious ? match.end : match.begin;
      search_ = match.end;
      segment.end = start_;
      if (segment.begin < segment.end) {
        return true;
      }
    }
    return false;
  }

 private:
  std::string_view document_;
  const LiteralSet& delimiters_;
  IncludeDelimiter include_;
  InterruptTicker ticker_;
  std::size_t start_ = 0;
  std::size_t search_ = 0;
};

/// Joins segments until both what has been collected and what follows are long enough.
class SentenceCutter {
 public:
  SentenceCutter(SegmentCutter segments, std::string_view document, std::size_t min_characters)
      : segments_(segments), document_(document), min_characters_(min_characters) {
    has_next_ = segments_.Next(next_);
    next_length_ = Length(next_);
  }

  bool Next(Span& sentence) {
    if (!has_next_) {
      return false;
    }
    sentence = next_;
    std::size_t length = next_length_;
    while ((has_next_ = segments_.Next(next_))) {
      next_length_ = Length(next_);
      if (length >= min_characters_ && next_length_ >= min_characters_) {
        break;
      }
      sentence.end = next_.end;
      length += next_length_;
    }
    return true;
  }

 private:
  std::size_t Length(Span segment) const {
    return CodePointLength(document_, segment.begin, segment.end);
  }

  SegmentCutter segments_;
  std::string_view document_;
  std::size_t min_characters_;
  Span next_ = {0, 0};
  std::size_t next_length_ = 0;
  bool has_next_ = false;
};

/// Packs as many sentences into a chunk as fit, but at least min_sentences_per_chunk.
class SentencePacker {
 public:
  SentencePacker(std::string_view document, const SentenceChunkerOptions& options, ChunkSink& sink)
      : document_(document),
        sink_(sink),
        size_(static_cast<std::size_t>(options.chunk_size)),
        overlap_(static_cast<std::size_t>(std::max<std::int64_t>(options.chunk_overlap, 0))),
        min_sentences_(static_cast<std::size_t>(options.min_sentences_per_chunk)),
        strip_(options.strip_whitespace) {
    tail_.Reset(overlap_, 0);
  }

  void Add(Span sentence, std::size_t length) {
    // What is carried over may itself leave no room; then it is a chunk again, a shorter one.
    while (count_ > 0 && count_ >= min_sentences_ && total_ + length > size_) {
      Emit();
      KeepOverlap();
    }
    if (count_ == 0) {
      begin_ = sentence.begin;
    }
    end_ = sentence.end;
    total_ += length;
    ++count_;
    tail_.Push(sentence, length + kOverlapExtra);
  }

  void Finish() {
    if (count_ > 0) {
      Emit();
    }
  }

 private:
  /// Each sentence carried over is charged one more, "for the space": so does the reference.
  static constexpr std::size_t kOverlapExtra = 1;

  void Emit() {
    std::string_view chunk = document_.substr(begin_, end_ - begin_);
    if (strip_) {
      chunk = utf8::Strip(chunk);
    }
    if (!chunk.empty()) {
      sink_.Add(chunk);
    }
  }

  void KeepOverlap() {
    tail_.Keep(overlap_, count_ - 1);  // not all, or the next chunk would start where this one did
    count_ = tail_.size();
    total_ = tail_.total() - count_ * kOverlapExtra;
    begin_ = tail_.empty() ? end_ : tail_[0].begin;
  }

  std::string_view document_;
  ChunkSink& sink_;
  std::size_t size_;
  std::size_t overlap_;
  std::size_t min_sentences_;
  bool strip_;

  // The chunk that is growing.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t total_ = 0;
  std::size_t count_ = 0;
  TailWindow tail_;
};

void RequireAtLeastOne(const char* name, std::int64_t value) {
  if (value < 1) {
    throw Error(ErrorCode::kInvalidParameter,
                std::string(name) + " must be at least 1, got " + std::to_string(value));
  }
}

std::vector<std::string> AllDelimiters(const SentenceChunkerOptions& options) {
  std::vector<std::string> all = options.delimiters;
  if (options.cjk_terminators) {
    all.insert(all.end(), {"\u3002", "\uFF01", "\uFF1F"});
  }
  return all;
}

}  // namespace

void SentenceChunkerOptions::Validate() const {
  ValidateChunkSize(*this);
  if (chunk_overlap >= chunk_size) {
    throw Error(ErrorCode::kInvalidParameter, "chunk_overlap (" + std::to_string(chunk_overlap) +
                                                  ") must be less than chunk_size (" +
                                                  std::to_string(chunk_size) + ")");
  }
  RequireAtLeastOne("min_sentences_per_chunk", min_sentences_per_chunk);
  RequireAtLeastOne("min_characters_per_sentence", min_characters_per_sentence);
  if (std::find(delimiters.begin(), delimiters.end(), std::string()) != delimiters.end()) {
    throw Error(ErrorCode::kInvalidParameter, "a sentence delimiter must not be empty");
  }
}

SentenceChunker::SentenceChunker(SentenceChunkerOptions options) : options_(std::move(options)) {
  options_.Validate();
  delimiters_ = LiteralSet(AllDelimiters(options_));
}

void SentenceChunker::Split(std::string_view document, ChunkSink& sink,
                            InterruptCheck pending) const {
  if (utf8::StripLeft(document).empty()) {
    return;
  }
  SentenceCutter cutter(SegmentCutter(document, delimiters_, options_.include_delimiter, pending),
                        document, static_cast<std::size_t>(options_.min_characters_per_sentence));
  SentencePacker packer(document, options_, sink);
  WithMeasure(options_, pending, [&](const auto& measure) {
    Span sentence = {0, 0};
    while (cutter.Next(sentence)) {
      packer.Add(sentence, measure(document, sentence));
    }
    packer.Finish();
  });
}

}  // namespace ai::text
