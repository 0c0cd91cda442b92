// Generated text with the statistics of English prose: the same on every machine and every run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ai::bench {

/// About bytes of text: paragraphs of a few hundred bytes with "\n\n" between them, sentences of
/// some fifteen words, commas and the odd hyphen.
class English {
 public:
  explicit English(std::uint64_t seed = 1) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  std::string Generate(std::size_t bytes) {
    std::string text;
    text.reserve(bytes + kLongestParagraph);
    while (text.size() < bytes) {
      Paragraph(text);
    }
    text.resize(bytes);
    return text;
  }

 private:
  static constexpr std::size_t kLongestParagraph = 2000;
  static constexpr std::array<std::string_view, 64> kWords = {
      "the",    "of",     "and",     "a",         "to",      "in",       "is",     "was",
      "that",   "for",    "it",      "on",        "with",    "as",       "be",     "at",
      "by",     "this",   "had",     "not",       "are",     "but",      "from",   "or",
      "have",   "an",     "they",    "which",     "one",     "were",     "all",    "there",
      "would",  "their",  "when",    "said",      "more",    "water",    "people", "could",
      "river",  "first",  "house",   "time",      "night",   "morning",  "letter", "winter",
      "almost", "garden", "quickly", "afternoon", "silence", "together", "window", "remember",
      "street", "answer", "evening", "mountain",  "nothing", "children", "light",  "journey"};

  std::uint64_t Below(std::uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 16) % bound;
  }

  void Sentence(std::string& text) {
    const std::uint64_t words = 5 + Below(20);
    const std::size_t start = text.size();
    for (std::uint64_t i = 0; i < words; ++i) {
      // The short words at the front of the list come more often, as in real text.
      text += kWords[Below(3) == 0 ? Below(kWords.size()) : Below(40)];
      if (i + 1 < words) {
        text += Below(12) == 0 ? ", " : (Below(60) == 0 ? "-" : " ");
      }
    }
    text[start] = static_cast<char>(text[start] - 'a' + 'A');
    text += Below(10) == 0 ? (Below(2) == 0 ? '?' : '!') : '.';
  }

  void Paragraph(std::string& text) {
    const std::uint64_t sentences = 1 + Below(8);
    for (std::uint64_t i = 0; i < sentences; ++i) {
      Sentence(text);
      text += i + 1 < sentences ? " " : "\n\n";
    }
  }

  std::uint64_t state_;
};

}  // namespace ai::bench
