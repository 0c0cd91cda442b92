// What the splitters cost: interrupts are seen, memory does not grow with the document, time grows
// no faster than it.
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>

#include "unit/catch_bridge.hpp"
#include "unit/splitter_fixture.hpp"
#include "vectors/counters.hpp"

using namespace ai::test;  // NOLINT(google-build-using-namespace): a test file
using ai::Error;
using ai::ErrorCode;
using ai::text::Splitter;

namespace {

using Splitters = std::vector<std::unique_ptr<Splitter>>;

/// One of each kind, with pieces as small as they get.
Splitters All(std::int64_t size, std::int64_t overlap,
              const std::shared_ptr<const ai::text::LengthFunction>& length) {
  auto character = Character(size, overlap, " ");
  auto recursive = Recursive(size, overlap, {"\n\n", "\n", " ", ""});
  auto sentence = Sentence(size, overlap);
  sentence.delimiters = {" "};
  sentence.min_characters_per_sentence = 1;
  auto semchunk = Semchunk(size, overlap);
  character.length = recursive.length = sentence.length = semchunk.length = length;
  Splitters all;
  all.push_back(std::make_unique<ai::text::CharacterTextSplitter>(character));
  all.push_back(std::make_unique<ai::text::RecursiveCharacterTextSplitter>(recursive));
  all.push_back(std::make_unique<ai::text::SentenceChunker>(sentence));
  all.push_back(std::make_unique<ai::text::SemchunkSplitter>(semchunk));
  return all;
}

class Counter final : public ai::text::ChunkSink {
 public:
  void Add(std::string_view /*chunk*/) override { ++chunks_; }
  std::size_t chunks() const { return chunks_; }

 private:
  std::size_t chunks_ = 0;
};

std::string Repeat(std::string_view part, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + part.size());
  while (out.size() < bytes) {
    out += part;
  }
  return out;
}

int g_calls_until_stop = 0;
bool StopLater() {
  return --g_calls_until_stop < 0;
}

long PeakKilobytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

double Seconds(const Splitter& splitter, const std::string& document) {
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    Counter counter;
    timespec start = {};
    timespec end = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    splitter.Split(document, counter, nullptr);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    best = std::min(best, static_cast<double>(end.tv_sec - start.tv_sec) +
                              static_cast<double>(end.tv_nsec - start.tv_nsec) / 1e9);
  }
  return best;
}

/// Counts the bytes that it is asked to measure.
class Meter final : public ai::text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override {
    bytes_ += text.size();
    return words_.Measure(text);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  ai::vectors::Words words_;
  mutable std::size_t bytes_ = 0;
};

}  // namespace

TEST_CASE("a splitter stops when asked to", "[splitter][limits]") {
  const std::string document = Repeat("some words ", 200'000);
  for (const auto& length :
       {ai::vectors::MakeCounter("chars"), ai::vectors::MakeCounter("words")}) {
    for (const auto& splitter : All(100, 10, length)) {
      Counter counter;
      g_calls_until_stop = 3;
      CHECK_THROWS_MATCHES(splitter->Split(document, counter, StopLater), Error,
                           IsError(ErrorCode::kCancelled));
      g_calls_until_stop = 0;
      CHECK_THROWS_AS(splitter->Split(document, counter, StopLater), Error);
    }
  }
}

TEST_CASE("memory does not grow with the document", "[splitter][limits]") {
  constexpr long kBound = 8'000;  // kilobytes; a record per piece would be twice that
  for (const char* part : {" ", "a ", "a  ", "-"}) {
    const std::string document = Repeat(part, 1'500'000);
    for (const std::int64_t size : {100, 1'000'000'000}) {
      for (const auto& splitter : All(size, 10, nullptr)) {
        Counter counter;
        const long before = PeakKilobytes();
        splitter->Split(document, counter, nullptr);
        CAPTURE(part, size);
        CHECK(PeakKilobytes() - before < kBound);
      }
    }
  }
}

TEST_CASE("time grows no faster than the document", "[splitter][limits]") {
  // Line ends in runs of all lengths, rising: cut level by level, that is one pass per length.
  const auto rising = [](std::size_t bytes) {
    std::string out;
    for (std::size_t run = 1; out.size() < bytes; ++run) {
      out.append("words").append(run, '\n');
    }
    return out;
  };
  const auto falling = [&](std::size_t bytes) {
    std::string out = rising(bytes);
    std::reverse(out.begin(), out.end());
    return out;
  };
  const auto blanks = [](std::size_t bytes) { return std::string(bytes, ' '); };
  const std::vector<std::function<std::string(std::size_t)>> makers = {rising, falling, blanks};
  constexpr std::size_t kSmall = 50'000;
  for (const auto& make : makers) {
    for (const std::int64_t size : {20, 20'000}) {
      for (const auto& splitter : All(size, 3, nullptr)) {
        const double small = Seconds(*splitter, make(kSmall));
        const double large = Seconds(*splitter, make(16 * kSmall));
        // 16 if linear, 256 if quadratic; the extra millisecond is the clock's.
        CHECK(large < 48 * (small + 0.001));
      }
    }
  }
}

TEST_CASE("a length function measures each text a few times only", "[splitter][limits]") {
  const std::string document = Repeat("some words, and a sentence. Then more\n\n", 100'000);
  for (const std::int64_t size : {5, 200, 100'000}) {
    const auto meter = std::make_shared<Meter>();
    for (const auto& splitter : All(size, size / 10, meter)) {
      Counter counter;
      const std::size_t before = meter->bytes();
      splitter->Split(document, counter, nullptr);
      CAPTURE(size, counter.chunks());
      CHECK(meter->bytes() - before < 40 * document.size());
    }
  }
}
