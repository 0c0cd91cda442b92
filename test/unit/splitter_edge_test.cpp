// The edge cases that every splitter meets: one test per kind of input, all four splitters in each.
// Then white space, code point by code point.
#include <set>

#include "core/utf8.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/splitter_fixture.hpp"

using namespace ai::test;  // NOLINT(google-build-using-namespace): a test file
using ai::Error;
using ai::ErrorCode;
using ai::text::KeepSeparator;

TEST_CASE("an empty text has no chunks", "[splitter]") {
  CHECK(Split(Character(10, 0, " "), "").empty());
  CHECK(Split(Recursive(10, 0, {}), "").empty());
  CHECK(Split(Sentence(10, 0), "").empty());
  CHECK(Split(Semchunk(10, 0), "").empty());
}

TEST_CASE("a text of white space only", "[splitter]") {
  const std::string blanks = " \n\t ";
  auto character = Character(10, 0, "\n\n");
  CHECK(Split(character, blanks).empty());
  character.strip_whitespace = false;
  CHECK(Split(character, blanks) == Strings{blanks});

  auto recursive = Recursive(10, 0, {"\n"});
  CHECK(Split(recursive, blanks).empty());
  recursive.strip_whitespace = false;
  CHECK(Split(recursive, blanks) == Strings{blanks});
  // Leaves that nothing can cut are chunks as they stand.
  CHECK(Split(Recursive(5, 0, {"\n"}), "      \n      ") == Strings{"      ", "\n      "});

  CHECK(Split(Sentence(10, 0), blanks).empty());
  CHECK(Split(Semchunk(10, 0), blanks).empty());
  CHECK(Split(Semchunk(1, 0), blanks).empty());
}

TEST_CASE("a separator that is absent or longer than the text", "[splitter]") {
  CHECK(Split(Character(3, 0, "\n\n"), "abcdef") == Strings{"abcdef"});
  CHECK(Split(Character(10, 0, "a separator"), "a sep") == Strings{"a sep"});

  CHECK(Split(Recursive(4, 0, {"|", " "}), "ab cd ef") == Strings{"ab", "cd", "ef"});
  CHECK(Split(Recursive(3, 0, {"|", "a separator"}), " abcdef ") == Strings{" abcdef "});

  auto sentence = Sentence(3, 0);
  sentence.delimiters = {"a separator"};
  CHECK(Split(sentence, "a sep") == Strings{"a sep"});

  CHECK(Split(Semchunk(3, 0), "ab cd") == Strings{"ab", "cd"});
}

TEST_CASE("an overlap as large as the chunk size", "[splitter]") {
  CHECK(Split(Character(3, 3, ""), "abcde") == Strings{"abc", "bcd", "cde"});
  CHECK(Split(Recursive(3, 3, {""}), "abcde") == Strings{"abc", "bcd", "cde"});
  CHECK_THROWS_MATCHES(ai::text::SentenceChunker(Sentence(3, 3)), Error,
                       IsError(ErrorCode::kInvalidParameter, "chunk_overlap (3) must be less"));
  CHECK(Split(Semchunk(3, 3), "abcde") == Split(Semchunk(3, 2), "abcde"));
  CHECK(Split(Semchunk(3, 2), "abcde") == Strings{"abc", "bcd", "cde"});
}

TEST_CASE("an overlap larger than the chunk size", "[splitter]") {
  CHECK_THROWS_MATCHES(
      ai::text::CharacterTextSplitter(Character(3, 4, " ")), Error,
      IsError(ErrorCode::kInvalidParameter, "chunk_overlap (4) must not be larger"));
  CHECK_THROWS_MATCHES(ai::text::RecursiveCharacterTextSplitter(Recursive(3, 4, {})), Error,
                       IsError(ErrorCode::kInvalidParameter, "chunk_size (3)"));
  CHECK_THROWS_MATCHES(ai::text::SentenceChunker(Sentence(3, 4)), Error,
                       IsError(ErrorCode::kInvalidParameter, "chunk_overlap (4)"));
  CHECK(Split(Semchunk(3, 100), "abcde") == Split(Semchunk(3, 2), "abcde"));
}

TEST_CASE("sizes that mean nothing", "[splitter]") {
  for (const std::int64_t size : {0, -3}) {
    const IsError expected(ErrorCode::kInvalidParameter,
                           "chunk_size must be > 0, got " + std::to_string(size));
    CHECK_THROWS_MATCHES(Character(size, 0, " ").Validate(), Error, expected);
    CHECK_THROWS_MATCHES(Recursive(size, 0, {}).Validate(), Error, expected);
    CHECK_THROWS_MATCHES(Sentence(size, -9).Validate(), Error, expected);
    CHECK_THROWS_MATCHES(Semchunk(size, 0).Validate(), Error, expected);
  }
  const IsError expected(ErrorCode::kInvalidParameter, "chunk_overlap must be >= 0, got -1");
  CHECK_THROWS_MATCHES(Character(3, -1, " ").Validate(), Error, expected);
  CHECK_THROWS_MATCHES(Recursive(3, -1, {}).Validate(), Error, expected);
  CHECK_THROWS_MATCHES(Semchunk(3, -1).Validate(), Error, expected);
  CHECK_NOTHROW(Sentence(3, -1).Validate());
}

TEST_CASE("a unit above the chunk size", "[splitter]") {
  CHECK(Split(Character(3, 0, " "), "a abcdef b") == Strings{"a", "abcdef", "b"});
  CHECK(Split(Recursive(3, 0, {" ", ""}), "a abcdef b") == Strings{"a", "ab", "cde", "f", "b"});
  CHECK(Split(Recursive(3, 0, {" "}), "a abcdef b") == Strings{"a", " abcdef", "b"});
  auto sentence = Sentence(3, 0);
  sentence.min_characters_per_sentence = 1;
  CHECK(Split(sentence, "a. abcdef. b") == Strings{"a. ", "abcdef. ", "b"});
  CHECK(Split(Semchunk(3, 0), "a abcdef b") == Strings{"a", "abc", "def", "b"});
}

TEST_CASE("line ends of two characters", "[splitter]") {
  const std::string document = "one\r\n\r\ntwo\r\nthree";
  CHECK(Split(Character(8, 0, "\n"), document) == Strings{"one", "two", "three"});
  auto raw = Character(8, 0, "\n");
  raw.strip_whitespace = false;
  CHECK(Split(raw, document) == Strings{"one\r\n\r", "two\r", "three"});
  // "\n\n" does not match, so paragraphs are lost on the recursive splitter.
  CHECK(Split(Recursive(12, 0, {"\n\n", "\n"}), document) == Strings{"one\r\n\r\ntwo", "three"});
  auto sentence = Sentence(5, 0);
  sentence.min_characters_per_sentence = 1;
  CHECK(Split(sentence, document) == Strings{"one\r\n", "\r\n", "two\r\n", "three"});
  CHECK(Split(Semchunk(8, 0), document) == Strings{"one", "two", "three"});
  CHECK(Split(Semchunk(10, 0), document) == Strings{"one", "two\r\nthree"});
}

TEST_CASE("chunks are slices of the document where the rules allow it", "[splitter]") {
  const std::string document = "a\n\n\n\nb c. d\n\n";
  const auto is_slice = [&](std::string_view chunk) {
    return chunk.data() >= document.data() &&
           chunk.data() + chunk.size() <= document.data() + document.size();
  };
  const auto all_slices = [&](const ai::text::Splitter& splitter) {
    ai::text::ChunkList list(document);
    splitter.Split(document, list, nullptr);
    bool all = !list.chunks().empty();
    for (const std::string_view chunk : list.chunks()) {
      all = all && is_slice(chunk);
    }
    return all;
  };
  auto kept = Character(6, 0, "\n\n");
  kept.keep_separator = KeepSeparator::kEnd;
  CHECK(all_slices(ai::text::CharacterTextSplitter(kept)));
  CHECK(all_slices(ai::text::RecursiveCharacterTextSplitter(Recursive(6, 2, {}))));
  CHECK(all_slices(ai::text::SentenceChunker(Sentence(6, 2))));
  CHECK(all_slices(ai::text::SemchunkSplitter(Semchunk(6, 2))));
  // A dropped piece between two separators makes a text that is nowhere in the document.
  CHECK(Split(Character(9, 0, "\n\n"), document) == Strings{"a\n\nb c. d"});
  CHECK_FALSE(all_slices(ai::text::CharacterTextSplitter(Character(9, 0, "\n\n"))));
  CHECK(all_slices(ai::text::CharacterTextSplitter(Character(8, 0, "\n\n"))));
}

namespace {

/// Python's str.isspace(), enumerated.
const std::set<char32_t> kWhitespace = {
    0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
    0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
    0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};

std::string Encoded(char32_t code_point) {
  std::string out;
  ai::utf8::Append(out, code_point);
  return out;
}

/// The three parts with the code point between them.
std::string Between(char32_t code_point, const char* first, const char* second, const char* third) {
  const std::string between = Encoded(code_point);
  return first + between + second + between + third;
}

}  // namespace

TEST_CASE("every white space code point is stripped, and only those", "[splitter]") {
  REQUIRE(kWhitespace.size() == 29);
  for (char32_t code_point = 1; code_point < 0x11000; ++code_point) {
    if (code_point == 'x' || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
      continue;
    }
    const Strings chunks =
        Split(Character(10, 0, "no such separator"), Between(code_point, "", "x", ""));
    const bool stripped = chunks == Strings{"x"};
    if (stripped != kWhitespace.contains(code_point)) {
      FAIL("U+" << std::hex << static_cast<std::uint32_t>(code_point));
    }
  }
}

TEST_CASE("every white space code point alone makes no chunk", "[splitter]") {
  for (const char32_t code_point : kWhitespace) {
    const std::string blank = Encoded(code_point);
    CAPTURE(static_cast<std::uint32_t>(code_point));
    CHECK(Split(Character(10, 0, "|"), blank).empty());
    CHECK(Split(Recursive(10, 0, {}), blank).empty());
    CHECK(Split(Sentence(10, 0), blank).empty());
    CHECK(Split(Semchunk(10, 0), blank).empty());
    CHECK(Split(Semchunk(1, 0), Between(code_point, "a", "", "b")) == Strings{"a", "b"});
  }
}

TEST_CASE("what only looks like white space is text", "[splitter]") {
  for (const char32_t code_point : {U'\u200B', U'\uFEFF', U'\u180E', U'\u2060'}) {
    const std::string other = Encoded(code_point);
    CHECK(Split(Character(10, 0, "|"), other) == Strings{other});
    CHECK(Split(Recursive(10, 0, {}), other) == Strings{other});
    CHECK(Split(Sentence(10, 0), other) == Strings{other});
    CHECK(Split(Semchunk(10, 0), other) == Strings{other});
  }
}
