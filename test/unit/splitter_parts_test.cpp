// The small parts that the splitters are made of.
#include "core/text/byte_finder.hpp"
#include "core/text/code_points.hpp"
#include "core/text/flat_queue.hpp"
#include "core/text/literal_set.hpp"
#include "core/text/tail_window.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/splitter_fixture.hpp"
#include "vectors/counters.hpp"

using namespace ai::text;  // NOLINT(google-build-using-namespace): a test file

namespace {

/// Code points of one to four bytes, in an order that shifts against words of eight bytes.
std::string Mixed(std::size_t code_points) {
  constexpr const char* kSymbols[] = {"a", "\u00E9", "b", "\u4E2D", "\U0001F680", "c", "d"};
  std::string out;
  for (std::size_t i = 0; i < code_points; ++i) {
    out += kSymbols[i * i % 7];
  }
  return out;
}

}  // namespace

TEST_CASE("code points are counted in any part of a text", "[splitter][parts]") {
  const std::string text = Mixed(100);
  std::vector<std::size_t> boundaries;
  for (std::size_t at = 0; at < text.size(); at = NextCodePoint(text, at)) {
    boundaries.push_back(at);
  }
  boundaries.push_back(text.size());
  REQUIRE(boundaries.size() == 101);
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    for (std::size_t j = i; j < boundaries.size(); ++j) {
      REQUIRE(CodePointLength(text, boundaries[i], boundaries[j]) == j - i);
      REQUIRE(SkipCodePoints(text, boundaries[i], j - i) == boundaries[j]);
      const std::size_t back =
          BackCodePoints(std::string_view(text).substr(0, boundaries[j]), j - i);
      REQUIRE(back >= boundaries[i]);
      REQUIRE((i == j || back < boundaries[i + 1]));
    }
    REQUIRE(SkipCodePoints(text, boundaries[i], 1000) == text.size());
    REQUIRE(FloorToCodePoint(text, boundaries[i]) == boundaries[i]);
    if (i > 0) {
      REQUIRE(FloorToCodePoint(text, boundaries[i] - 1) == boundaries[i - 1]);
    }
  }
}

TEST_CASE("a byte is found wherever it stands", "[splitter][parts]") {
  std::string text(300, '\x80');
  for (std::size_t i = 0; i < text.size(); i += 1 + i % 90) {
    text[i] = i % 2 == 0 ? ' ' : '!';  // the neighbour in the code must not be taken for it
  }
  for (std::size_t from = 0; from < text.size(); from += 7) {
    for (std::size_t to = from; to <= text.size(); to += 13) {
      ByteFinder finder;
      finder.Begin(text, ' ', from, to);
      std::size_t expected = from;
      for (;;) {
        expected = std::string_view(text).substr(0, to).find(' ', expected);
        REQUIRE(finder.Next() == expected);
        if (expected == std::string::npos) {
          break;
        }
        ++expected;
      }
    }
  }
}

TEST_CASE("the tail window keeps what fits", "[splitter][parts]") {
  TailWindow window;
  window.Reset(10, 1);
  for (std::size_t i = 0; i < 5000; ++i) {
    window.Push({3 * i, 3 * i + 2}, 2);
  }
  window.Keep(10, TailWindow::kAnyNumber);
  REQUIRE(window.size() == 3);  // 2 + 1 + 2 + 1 + 2 = 8
  CHECK(window.total() == 8);
  CHECK(window[0].begin == 14'991);
  window.Keep(10, 2);
  CHECK(window.size() == 2);
  CHECK(window.total() == 5);
  window.Push({20000, 20010}, 10);
  window.Keep(10, TailWindow::kAnyNumber);
  CHECK(window.size() == 1);
  window.Keep(9, TailWindow::kAnyNumber);
  CHECK(window.empty());
  CHECK(window.total() == 0);
}

TEST_CASE("the flat queue is a queue", "[splitter][parts]") {
  FlatQueue<int> queue;
  int in = 0;
  int out = 0;
  for (int round = 0; round < 500; ++round) {
    for (int i = 0; i < round % 7 + 1; ++i) {
      queue.push_back(in++);
    }
    while (!queue.empty() && queue.front() % 5 != 0) {
      REQUIRE(queue.front() == out++);
      queue.pop_front();
    }
    if (!queue.empty()) {
      REQUIRE(queue.back() == in - 1);
      REQUIRE(queue.front() == out++);
      queue.pop_front();
    }
  }
  queue.push_back(in);
  queue.pop_back();
  CHECK(queue.size() == static_cast<std::size_t>(in - out));
}

TEST_CASE("literals are found leftmost and in their order", "[splitter][parts]") {
  const LiteralSet set({"bc", "b", "bcd", "\u00E9"});
  Span match = {0, 0};
  REQUIRE(set.Find("a\u00E9bcd", 0, match));
  CHECK(match.begin == 1);
  CHECK(match.end == 3);
  REQUIRE(set.Find("a\u00E9bcd", match.end, match));
  CHECK(match.end - match.begin == 2);
  CHECK_FALSE(set.Find("a\u00E9bcd", match.end, match));
  CHECK_FALSE(LiteralSet().Find("abc", 0, match));
}

TEST_CASE("the longest prefix that fits is found by measuring", "[splitter][parts]") {
  const auto words = ai::vectors::MakeCounter("words");
  const auto quarters = ai::vectors::MakeCounter("ceil_chars_div_4");
  const std::string text = "one two  three " + Mixed(40) + " " + std::string(300, 'x') + " end";
  for (const auto& length : {words, quarters}) {
    for (std::size_t limit = 0; limit < 120; ++limit) {
      std::size_t expected = 0;
      for (std::size_t at = 0; at < text.size(); at = NextCodePoint(text, at)) {
        if (length->Measure(std::string_view(text).substr(0, NextCodePoint(text, at))) <= limit) {
          expected = NextCodePoint(text, at);
        }
      }
      REQUIRE(length->FitPrefix(text, limit) == expected);
    }
    CHECK(length->FitPrefix("", 5) == 0);
    CHECK(length->FitPrefix(text, ~std::size_t{0}) == text.size());
  }
}

TEST_CASE("a chunk list copies only what is no slice", "[splitter][parts]") {
  const std::string document = "abcdef";
  ChunkList list(document);
  {
    const std::string other = "other";
    list.Add(std::string_view(document).substr(2, 3));
    list.Add(other);
    list.Add(std::string_view(document).substr(6));
  }
  REQUIRE(list.chunks().size() == 3);
  CHECK(list.chunks()[0].data() == document.data() + 2);
  CHECK(list.chunks()[1] == "other");
  CHECK(list.chunks()[2].empty());
}
