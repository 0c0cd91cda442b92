// The recursive splitter: which separator is chosen, what is recursed into, where overlap ends.
#include "unit/catch_bridge.hpp"
#include "unit/splitter_fixture.hpp"
#include "vectors/counters.hpp"

using namespace ai::test;  // NOLINT(google-build-using-namespace): a test file
using ai::Error;
using ai::ErrorCode;
using ai::text::KeepSeparator;

TEST_CASE("the first separator that occurs is used, later ones below it", "[splitter][recursive]") {
  CHECK(Split(Recursive(6, 0, {}), "aa bb\n\ncc dd ee") == Strings{"aa bb", "cc dd", "ee"});
  // "|b.c.d" is too long for "|", so "." cuts it; "a" stands before the cut and stays alone.
  CHECK(Split(Recursive(4, 0, {"|", "."}), "a|b.c.d") == Strings{"a", "|b.c", ".d"});
}

TEST_CASE("no separators or none given means the default list", "[splitter][recursive]") {
  const std::string document = "one two\n\nthree four five";
  CHECK(Split(Recursive(9, 0, {}), document) ==
        Split(Recursive(9, 0, {"\n\n", "\n", " ", ""}), document));
}

TEST_CASE("a piece exactly as long as a chunk is cut further", "[splitter][recursive]") {
  // "|bbb" is four long: it goes to the next separator, and comes back without its neighbours.
  CHECK(Split(Recursive(4, 0, {"|", ""}), "a|bbb|c") == Strings{"a", "|bbb", "|c"});
  CHECK(Split(Recursive(4, 0, {"|"}), "a|bbb|c") == Strings{"a", "|bbb", "|c"});
  CHECK(Split(Recursive(5, 0, {"|"}), "a|bb|c") == Strings{"a|bb", "|c"});
}

TEST_CASE("a leaf is a chunk as it stands", "[splitter][recursive]") {
  CHECK(Split(Recursive(3, 0, {" "}), "ab    cde") == Strings{"ab", " cde"});
  CHECK(Split(Recursive(4, 0, {"\n"}), "     \nx") == Strings{"     ", "x"});
}

TEST_CASE("overlap never crosses a recursion", "[splitter][recursive]") {
  auto options = Recursive(6, 3, {"|", " "});
  options.keep_separator = KeepSeparator::kNone;
  CHECK(Split(options, "a|b|c d e f g|h|i") == Strings{"a|b", "c d e", "d e f", "e f g", "h|i"});
}

TEST_CASE("an empty separator hides those after it", "[splitter][recursive]") {
  CHECK(Split(Recursive(3, 0, {"", " "}), "ab cd") == Strings{"ab", "cd"});
  auto regex = Recursive(3, 0, {"", "["});
  regex.is_separator_regex = true;
  CHECK(Split(regex, "abcd") == Strings{"abc", "d"});
}

TEST_CASE("a chunk size of one gives every code point", "[splitter][recursive]") {
  CHECK(Split(Recursive(1, 0, {}), "a b\u00E9") == Strings{"a", " ", "b", "\u00E9"});
}

TEST_CASE("separators are kept at the start, at the end or not", "[splitter][recursive]") {
  const Strings separators = {"\n\n", "\n", ".", "?", "!", " ", ""};
  auto options = Recursive(10, 0, separators);
  CHECK(Split(options, "Hi. Go on. Yes now? Ok!") == Strings{"Hi. Go on", ". Yes now", "? Ok!"});
  options.keep_separator = KeepSeparator::kEnd;
  CHECK(Split(options, "Hi. Go on. Yes now? Ok!") == Strings{"Hi. Go on.", "Yes now?", "Ok!"});
  options.keep_separator = KeepSeparator::kNone;
  CHECK(Split(options, "a.b.c") == Strings{"a.b.c"});
  CHECK(Split(options, "aaaa..bbbbb.c") == Strings{"aaaa.bbbbb", "c"});
}

TEST_CASE("a pattern sees only the piece it cuts", "[splitter][recursive][regex]") {
  auto options = Recursive(4, 0, {"\\|", "^b", ""});
  options.is_separator_regex = true;
  options.keep_separator = KeepSeparator::kEnd;
  // "^" matches at the start of each piece, not only of the document.
  CHECK(Split(options, "aaa|bcdefg") == Strings{"aaa|", "b", "cdef", "g"});
}

TEST_CASE("a pattern that is not kept comes back, look-around or not",
          "[splitter][recursive][regex]") {
  auto options = Recursive(20, 0, {"(?<=a) "});
  options.is_separator_regex = true;
  options.keep_separator = KeepSeparator::kNone;
  CHECK(Split(options, "a b") == Strings{"a(?<=a) b"});
}

TEST_CASE("separators that are in use must be good patterns", "[splitter][recursive][regex]") {
  auto options = Recursive(4, 0, {"a", "("});
  options.is_separator_regex = true;
  CHECK_THROWS_MATCHES(options.Validate(), Error, IsError(ErrorCode::kInvalidText));
  options.is_separator_regex = false;
  CHECK_NOTHROW(options.Validate());
}

TEST_CASE("the recursive splitter measures with a length function", "[splitter][recursive]") {
  auto options = Recursive(2, 0, {"\n", " "});
  options.length = ai::vectors::MakeCounter("words");
  CHECK(Split(options, "a b c\nd\ne") == Strings{"a b", "c", "d\ne"});
}
