// The character splitter: cutting, merging, overlap, kept separators, regular expressions.
#include "unit/catch_bridge.hpp"
#include "unit/splitter_fixture.hpp"
#include "vectors/counters.hpp"

using namespace ai::test;  // NOLINT(google-build-using-namespace): a test file
using ai::Error;
using ai::ErrorCode;
using ai::text::KeepSeparator;

namespace {

ai::text::CharacterTextSplitterOptions Keeping(ai::text::CharacterTextSplitterOptions options,
                                               KeepSeparator keep) {
  options.keep_separator = keep;
  return options;
}

ai::text::CharacterTextSplitterOptions Regex(std::int64_t size, std::string pattern) {
  auto options = Character(size, 0, std::move(pattern));
  options.is_separator_regex = true;
  return options;
}

}  // namespace

TEST_CASE("pieces are merged up to the chunk size", "[splitter][character]") {
  CHECK(Split(Character(5, 0, " "), "a b c d e") == Strings{"a b c", "d e"});
  CHECK(Split(Character(4, 0, " "), "a b c d e") == Strings{"a b", "c d", "e"});
  CHECK(Split(Character(9, 0, " "), "a b c d e") == Strings{"a b c d e"});
}

TEST_CASE("overlap is whole pieces that leave room for the next", "[splitter][character]") {
  CHECK(Split(Character(5, 3, " "), "a b c d e") == Strings{"a b c", "b c d", "c d e"});
  CHECK(Split(Character(5, 2, " "), "a b c d e") == Strings{"a b c", "c d e"});
  // The last piece is longer than the overlap: nothing is carried over.
  CHECK(Split(Character(8, 3, " "), "ab cdef gh ijkl") == Strings{"ab cdef", "gh ijkl"});
  // It would fit into the overlap, but then the next piece would not fit into the chunk.
  CHECK(Split(Character(5, 3, " "), "ab cd efgh") == Strings{"ab cd", "efgh"});
  // A piece above the chunk size stops the overlap on both sides.
  CHECK(Split(Character(3, 1, " "), "a b cdefg h i j") == Strings{"a b", "cdefg", "h i", "i j"});
}

TEST_CASE("empty pieces are dropped and the separator comes back once", "[splitter][character]") {
  CHECK(Split(Character(20, 0, "\n\n"), "a\n\n\n\nb\n\nc") == Strings{"a\n\nb\n\nc"});
  CHECK(Split(Character(20, 0, "||"), "||a||||||b||") == Strings{"a||b"});
  CHECK(Split(Character(2, 0, "||"), "||||").empty());
  // What is carried over is joined again, too.
  CHECK(Split(Character(6, 4, " "), "aa  bb  cc  dd") == Strings{"aa bb", "bb cc", "cc dd"});
}

TEST_CASE("a kept separator starts the next piece or ends the last", "[splitter][character]") {
  const auto options = Character(4, 0, ".");
  CHECK(Split(Keeping(options, KeepSeparator::kStart), "ab.cd.ef") == Strings{"ab", ".cd", ".ef"});
  CHECK(Split(Keeping(options, KeepSeparator::kEnd), "ab.cd.ef") == Strings{"ab.", "cd.", "ef"});
  CHECK(Split(Keeping(options, KeepSeparator::kEnd), ".ab.") == Strings{".ab."});
  CHECK(Split(Keeping(Character(1, 0, "."), KeepSeparator::kStart), "..a") == Strings{".", ".a"});
}

TEST_CASE("an empty separator cuts at every code point", "[splitter][character]") {
  CHECK(Split(Character(2, 1, ""), "a\u00E9\u4E2D\U0001F680") ==
        Strings{"a\u00E9", "\u00E9\u4E2D", "\u4E2D\U0001F680"});
  auto regex = Regex(2, "");
  CHECK(Split(regex, "abc") == Strings{"ab", "c"});
}

TEST_CASE("length is code points, not bytes", "[splitter][character]") {
  CHECK(Split(Character(3, 0, " "), "\u00E9\u00E9\u00E9 \u4E2D\u4E2D\u4E2D") ==
        Strings{"\u00E9\u00E9\u00E9", "\u4E2D\u4E2D\u4E2D"});
  CHECK(Split(Character(7, 0, " "), "\u00E9\u00E9\u00E9 \u4E2D\u4E2D\u4E2D").size() == 1);
}

TEST_CASE("with another length function a chunk is the sum of its pieces",
          "[splitter][character]") {
  auto options = Character(2, 1, " ");
  options.length = ai::vectors::MakeCounter("words");
  CHECK(Split(options, "a b c d") == Strings{"a b", "b c", "c d"});
  // Rounded up for each piece and each separator, although the joined text would measure 2.
  options = Character(3, 0, " ");
  options.length = ai::vectors::MakeCounter("ceil_chars_div_4");
  CHECK(Split(options, "ab cd ef") == Strings{"ab cd", "ef"});
  // Pieces of no length are carried over, and do not stop the loop from ending.
  options = Character(1, 0, "\t");
  options.length = ai::vectors::MakeCounter("words");
  options.strip_whitespace = false;
  CHECK(Split(options, "a\t \t b\tc") == Strings{"a\t ", " \t b", "c"});
}

TEST_CASE("white space is stripped after joining, or not at all", "[splitter][character]") {
  auto options = Character(6, 0, ".");
  CHECK(Split(options, " a . b . c ") == Strings{"a", "b", "c"});
  options.strip_whitespace = false;
  CHECK(Split(options, " a . b . c ") == Strings{" a ", " b ", " c "});
  CHECK(Split(Character(1, 0, "."), "a. .b") == Strings{"a", "b"});
}

TEST_CASE("a pattern that is not kept comes back as its own text", "[splitter][character][regex]") {
  CHECK(Split(Regex(10, "\\s+"), "foo  bar\tx") == Strings{"foo\\s+bar", "x"});
  // Unless it starts with a look-around: then nothing comes back.
  CHECK(Split(Regex(30, "(?<=[.!?])\\s+"), "One here.  Two here.") ==
        Strings{"One here.Two here."});
  CHECK(Split(Regex(3, "(?=b)"), "abab") == Strings{"aba", "b"});
}

TEST_CASE("a kept pattern is the text that matched", "[splitter][character][regex]") {
  CHECK(Split(Keeping(Regex(4, "\\s+"), KeepSeparator::kStart), "ab \tcd") == Strings{"ab", "cd"});
  auto options = Keeping(Regex(4, "[.!]+"), KeepSeparator::kEnd);
  CHECK(Split(options, "ab!!cd.e") == Strings{"ab!!", "cd.e"});
  // Empty matches cut, too.
  CHECK(Split(Keeping(Regex(3, "\\b"), KeepSeparator::kStart), "ab cd") == Strings{"ab", "cd"});
}

TEST_CASE("a pattern without special characters is a literal", "[splitter][character][regex]") {
  CHECK(Split(Regex(3, "--"), "a--b") == Strings{"a", "b"});
  CHECK(Split(Regex(4, "--"), "a--b") == Strings{"a--b"});
}

TEST_CASE("a pattern that Python refuses is refused", "[splitter][character][regex]") {
  CHECK_THROWS_MATCHES(ai::text::CharacterTextSplitter(Regex(4, "[")), Error,
                       IsError(ErrorCode::kInvalidText));
  CHECK_THROWS_MATCHES(Regex(4, "*").Validate(), Error, IsError(ErrorCode::kInvalidText));
  CHECK_NOTHROW(Character(4, 0, "[").Validate());
}

TEST_CASE("a long separator is found wherever it stands", "[splitter][character]") {
  for (const std::size_t offset : {4080, 4090, 4095, 4096, 4100, 12270, 12287, 12290, 12300}) {
    const std::string first(offset, 'a');
    const std::string separator = "aaaaaaaab";
    CAPTURE(offset);
    CHECK(Split(Character(1, 0, separator), first + separator + "c") == Strings{first, "c"});
  }
}
