// The semantic splitter: the levels one by one, joiners, overlap, lengths that are not code points.
#include <memory>

#include "core/text/semchunk_window.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/splitter_fixture.hpp"
#include "vectors/counters.hpp"

using namespace ai::test;  // NOLINT(google-build-using-namespace): a test file

TEST_CASE("each level is stronger than the next", "[splitter][semchunk]") {
  // From the strongest to the weakest; every two neighbours must decide for the former.
  const Strings order = {"\n\n\n", "\r\n", "\n",  "\t\t", "\t", ". ", "? ", "! ", "; ", ", ", ") ",
                         "] ",     ": ",   "-- ", "... ", "  ", " ",  "/",  "\\", "&",  "-"};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const std::string& strong = order[i];
    const std::string& weak = order[i + 1];
    CAPTURE(strong, weak);
    // Two parts fit together with either delimiter between them, three do not.
    std::string document = "aa";
    document.append(weak).append("bb").append(strong).append("cc").append(weak).append("dd");
    const auto size = static_cast<std::int64_t>(4 + weak.size() + strong.size());
    const Strings chunks = Split(Semchunk(size, 0), document);
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[0].starts_with("aa" + weak + "bb"));
    CHECK(chunks[1] == "cc" + weak + "dd");
  }
}

TEST_CASE("delimiters of equal strength merge while they fit", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(7, 0), "aa bb cc dd") == Strings{"aa bb", "cc dd"});
  CHECK(Split(Semchunk(8, 0), "aa bb cc dd") == Strings{"aa bb cc", "dd"});
  CHECK(Split(Semchunk(2, 0), "aa bb") == Strings{"aa", "bb"});
}

TEST_CASE("a text that fits stays as it is", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(5, 0), "\nabc\n") == Strings{"\nabc\n"});
  auto options = Semchunk(5, 0);
  options.strip_whitespace = true;
  CHECK(Split(options, "\nabc\n") == Strings{"abc"});
}

TEST_CASE("parts of a piece never merge with what is beside it", "[splitter][semchunk]") {
  // "bb cc dd" is too long for a line, so its words stay among themselves.
  CHECK(Split(Semchunk(5, 0), "a\nbb cc dd\ne\nf") == Strings{"a", "bb cc", "dd", "e\nf"});
}

TEST_CASE("punctuation stays and its space is dropped at a cut", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(6, 0), "Aa bb. Cc dd, ee") == Strings{"Aa bb.", "Cc dd,", "ee"});
  // Spaces beyond the first are a run of their own.
  CHECK(Split(Semchunk(4, 0), "Aa.   Bb") == Strings{"Aa.", "  Bb"});
  CHECK(Split(Semchunk(3, 0), "Aa.   Bb") == Strings{"Aa.", "Bb"});
}

TEST_CASE("an ellipsis is not the end of a sentence", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(9, 0), "a... b: c d") == Strings{"a... b:", "c d"});
  CHECK(Split(Semchunk(9, 0), "a.. b: c d") == Strings{"a..", "b: c d"});
  CHECK(Split(Semchunk(10, 0), "aa.... b: cc") == Strings{"aa.... b:", "cc"});
}

TEST_CASE("a joiner ends the chunk before it if it fits", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(4, 0), "abc-def") == Strings{"abc-", "def"});
  CHECK(Split(Semchunk(3, 0), "abc-def") == Strings{"abc", "-", "def"});
  CHECK(Split(Semchunk(4, 0), "a-b-cc-d") == Strings{"a-b-", "cc-d"});
  CHECK(Split(Semchunk(4, 0), "abcdef-gh") == Strings{"abcd", "ef-", "gh"});
  CHECK(Split(Semchunk(4, 0), "abcdefgh-i") == Strings{"abcd", "efgh", "-", "i"});
  CHECK(Split(Semchunk(1, 0), "-a-") == Strings{"-", "a", "-"});
}

TEST_CASE("other white space is text, but never a chunk", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(3, 0), "ab\u00A0cd") == Strings{"ab\u00A0", "cd"});
  CHECK(Split(Semchunk(2, 0), "ab\u00A0\u00A0cd") == Strings{"ab", "cd"});
}

TEST_CASE("characters are the last resort", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(2, 0), "\u4E00\u4E8C\u4E09\U0001F680\u00E9") ==
        Strings{"\u4E00\u4E8C", "\u4E09\U0001F680", "\u00E9"});
}

TEST_CASE("overlap is whole pieces and no chunk is too long", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(8, 2), "aa bb cc dd ee") == Strings{"aa bb cc", "cc dd ee"});
  CHECK(Split(Semchunk(8, 5), "aa bb cc dd ee") == Strings{"aa bb cc", "bb cc dd", "cc dd ee"});
  CHECK(Split(Semchunk(8, 1), "aa bb cc dd ee") == Strings{"aa bb cc", "dd ee"});
  // "cc" and "dddddd" together would be too long.
  CHECK(Split(Semchunk(8, 2), "aa bb cc dddddd") == Strings{"aa bb cc", "dddddd"});
  CHECK(Split(Semchunk(4, 2), "abcdefgh") == Strings{"abcd", "cdef", "efgh"});
  CHECK(Split(Semchunk(6, 3), "ab-cd-ef-gh") == Strings{"ab-cd-", "cd-ef-", "ef-gh"});
}

TEST_CASE("overlap stays within a piece", "[splitter][semchunk]") {
  CHECK(Split(Semchunk(8, 2), "aa bb cc dd\nee\nff") == Strings{"aa bb cc", "cc dd", "ee\nff"});
}

TEST_CASE("the semantic splitter measures with a length function", "[splitter][semchunk]") {
  auto options = Semchunk(2, 0);
  options.length = ai::vectors::MakeCounter("words");
  CHECK(Split(options, "a b c. d e. f") == Strings{"a b", "c.", "d e.", "f"});
  options = Semchunk(2, 1);
  options.length = ai::vectors::MakeCounter("words");
  CHECK(Split(options, "a b c d") == Strings{"a b", "b c", "c d"});
  options = Semchunk(1, 0);
  options.length = ai::vectors::MakeCounter("ceil_chars_div_4");
  CHECK(Split(options, "abcd efgh ij") == Strings{"abcd", "efgh", "ij"});
}

namespace {

/// Three units for every code point, as a byte-level tokenizer may need for an emoji.
class Expensive final : public ai::text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override { return 3 * text.size(); }
};

}  // namespace

TEST_CASE("a single code point is always accepted", "[splitter][semchunk]") {
  auto options = Semchunk(2, 1);
  options.length = std::make_shared<Expensive>();
  CHECK(Split(options, "ab -\u4E2D") == Strings{"a", "b", "-", "\u4E2D"});
}

TEST_CASE("the delimiter window knows the last of the strongest", "[splitter][semchunk]") {
  const std::string text = "a\nb\n\nc\nd e\n\nf g h";
  ai::text::DelimiterWindow window(text, 0);
  window.Move(0, 0);
  CHECK(window.Strongest(0).strength == ai::text::kCharacterStrength);
  window.Move(0, 2);
  CHECK(window.Strongest(2).begin == 1);
  window.Move(0, 9);
  CHECK(window.Strongest(9).begin == 3);
  CHECK(window.Strongest(9).end() == 5);
  window.Move(4, 9);
  CHECK(window.Strongest(9).begin == 6);
  window.Move(7, text.size());
  CHECK(window.Strongest(text.size()).strength == ai::text::kEndStrength);
}
