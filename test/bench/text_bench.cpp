// How fast the splitters cut generated English, on one thread, and how time and memory grow with
// the document. Goals are per splitter; what has none is shown for comparison.
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "bench/english.hpp"
#include "core/text/character_text_splitter.hpp"
#include "core/text/recursive_character_text_splitter.hpp"
#include "core/text/semchunk_splitter.hpp"
#include "core/text/sentence_chunker.hpp"

namespace {

using ai::bench::kMega;

constexpr std::size_t kDocument = 10'000'000;
constexpr std::size_t kSmall = 1'000'000;
constexpr std::size_t kLarge = 100'000'000;
constexpr std::size_t kRuns = 9;

/// Takes chunks as a consumer that needs no copy would.
class Counter final : public ai::text::ChunkSink {
 public:
  void Add(std::string_view chunk) override { bytes_ += chunk.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

struct Subject {
  std::string name;
  std::unique_ptr<ai::text::Splitter> splitter;
  double goal;  // bytes per second, 0 for none
};

struct Sizes {
  std::int64_t chunk;
  std::int64_t overlap;
};

template <typename Options>
Options With(Sizes sizes) {
  Options options;
  options.chunk_size = sizes.chunk;
  options.chunk_overlap = sizes.overlap;
  return options;
}

std::unique_ptr<ai::text::Splitter> Character(Sizes sizes, const char* separator, bool regex) {
  auto options = With<ai::text::CharacterTextSplitterOptions>(sizes);
  options.separator = separator;
  options.is_separator_regex = regex;
  return std::make_unique<ai::text::CharacterTextSplitter>(options);
}

std::unique_ptr<ai::text::Splitter> Recursive(Sizes sizes, std::vector<std::string> separators) {
  auto options = With<ai::text::RecursiveCharacterTextSplitterOptions>(sizes);
  options.separators = std::move(separators);
  return std::make_unique<ai::text::RecursiveCharacterTextSplitter>(options);
}

std::vector<Subject> Subjects(Sizes sizes) {
  const std::string suffix =
      " " + std::to_string(sizes.chunk) + "/" + std::to_string(sizes.overlap);
  const std::vector<std::string> sentences = {"\n\n", "\n", ".", "?", "!", " ", ""};
  std::vector<Subject> all;
  const auto add = [&](const char* name, std::unique_ptr<ai::text::Splitter> splitter,
                       double goal) {
    all.push_back({name + suffix, std::move(splitter), goal * kMega});
  };
  add("character, paragraphs", Character(sizes, "\n\n", false), 300);
  add("character, \". \"", Character(sizes, ". ", false), 300);
  add("character, words", Character(sizes, " ", false), 300);
  add("character, every code point", Character(sizes, "", false), 0);
  add("character, regex (?<=[.!?])\\s+", Character(sizes, "(?<=[.!?])\\s+", true), 100);
  add("recursive, default separators", Recursive(sizes, {}), 300);
  add("recursive, separators of the SQL helper", Recursive(sizes, sentences), 300);
  add("recursive, words and code points", Recursive(sizes, {" ", ""}), 300);
  add("sentence",
      std::make_unique<ai::text::SentenceChunker>(With<ai::text::SentenceChunkerOptions>(sizes)),
      300);
  add("semantic",
      std::make_unique<ai::text::SemchunkSplitter>(With<ai::text::SemchunkSplitterOptions>(sizes)),
      200);
  return all;
}

double Rate(const ai::text::Splitter& splitter, const std::string& text, std::size_t runs) {
  Counter counter;
  const double seconds =
      ai::bench::BestSeconds(runs, [&] { splitter.Split(text, counter, nullptr); });
  return static_cast<double>(text.size()) / seconds;
}

/// Time per byte of a large document over that of a small one. The small one is repeated so that
/// both measurements last equally long; they take turns, so that both meet the same disturbances.
double Growth(const ai::text::Splitter& splitter, const std::string& small,
              const std::string& large) {
  Counter counter;
  double small_seconds = std::numeric_limits<double>::infinity();
  double large_seconds = small_seconds;
  for (std::size_t run = 0; run < kRuns; ++run) {
    small_seconds = std::min(small_seconds, ai::bench::Seconds([&] {
                               for (std::size_t i = 0; i < kLarge / kSmall; ++i) {
                                 splitter.Split(small, counter, nullptr);
                               }
                             }));
    large_seconds = std::min(large_seconds,
                             ai::bench::Seconds([&] { splitter.Split(large, counter, nullptr); }));
  }
  return large_seconds / small_seconds;
}

}  // namespace

int main() {
  const std::string text = ai::bench::English().Generate(kDocument);
  ai::bench::Report report(ai::bench::MemcpyRate(text, kRuns));
  for (const Sizes sizes : {Sizes{512, 50}, Sizes{2000, 200}}) {
    for (const Subject& subject : Subjects(sizes)) {
      report.Rate(subject.name, Rate(*subject.splitter, text, kRuns), subject.goal);
    }
  }

  const std::string small = ai::bench::English().Generate(kSmall);
  const std::string large = ai::bench::English().Generate(kLarge);
  for (const Subject& subject : Subjects({512, 50})) {
    const long before = ai::bench::PeakKilobytes();
    report.AtMost("growth 1 to 100 MB, " + subject.name, Growth(*subject.splitter, small, large),
                  "times per byte", 1.1);
    report.AtMost("extra memory at 100 MB, " + subject.name,
                  static_cast<double>(ai::bench::PeakKilobytes() - before) / 1000, "MB", 16);
  }
  return report.status();
}
