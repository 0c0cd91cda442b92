// The sentence chunker: delimiters, short sentences, packing, overlap.
#include "unit/catch_bridge.hpp"
#include "unit/splitter_fixture.hpp"
#include "vectors/counters.hpp"

using namespace ai::test;  // NOLINT(google-build-using-namespace): a test file
using ai::Error;
using ai::ErrorCode;
using ai::text::IncludeDelimiter;

namespace {

/// Every segment is a sentence.
ai::text::SentenceChunkerOptions Short(std::int64_t size, std::int64_t overlap) {
  auto options = Sentence(size, overlap);
  options.min_characters_per_sentence = 1;
  return options;
}

}  // namespace

TEST_CASE("whole sentences are packed and nothing is lost", "[splitter][sentence]") {
  CHECK(Split(Short(8, 0), "Ab. Cd! Ef? Gh\nIj") == Strings{"Ab. Cd! ", "Ef? Gh\n", "Ij"});
  CHECK(Split(Short(100, 0), "  Ab. \n Cd ") == Strings{"  Ab. \n Cd "});
}

TEST_CASE("a delimiter belongs to the sentence before or after it", "[splitter][sentence]") {
  auto options = Short(1, 0);
  CHECK(Split(options, "Ab. Cd. ") == Strings{"Ab. ", "Cd. "});
  options.include_delimiter = IncludeDelimiter::kNext;
  CHECK(Split(options, "Ab. Cd. ") == Strings{"Ab", ". Cd", ". "});
}

TEST_CASE("of two delimiters at one place the first listed wins", "[splitter][sentence]") {
  auto options = Short(1, 0);
  options.delimiters = {"..", "..."};
  CHECK(Split(options, "a...b") == Strings{"a..", ".b"});
  options.delimiters = {"...", ".."};
  CHECK(Split(options, "a...b") == Strings{"a...", "b"});
  // The leftmost wins over the first listed.
  options.delimiters = {"bc", "ab"};
  CHECK(Split(options, "abc") == Strings{"ab", "c"});
}

TEST_CASE("no delimiters at all", "[splitter][sentence]") {
  auto options = Short(2, 0);
  options.delimiters = {};
  CHECK(Split(options, "One. Two.") == Strings{"One. Two."});
}

TEST_CASE("short segments join the sentence before them", "[splitter][sentence]") {
  auto options = Sentence(1, 0);
  options.min_characters_per_sentence = 4;
  CHECK(Split(options, "Abc. Hm\nLong one. No\n") == Strings{"Abc. Hm\n", "Long one. No\n"});
  // Until it is long enough itself, a sentence takes what follows, long or not.
  CHECK(Split(options, "Hm\nA long sentence. Another one. ") ==
        Strings{"Hm\nA long sentence. ", "Another one. "});
}

TEST_CASE("the minimum length is in code points", "[splitter][sentence]") {
  auto options = Sentence(1, 0);
  options.min_characters_per_sentence = 3;
  options.delimiters = {"\u3002"};
  CHECK(Split(options, "\u4E2D\u3002\u4E2D\u4E2D\u3002") ==
        Strings{"\u4E2D\u3002\u4E2D\u4E2D\u3002"});
  options.min_characters_per_sentence = 2;
  CHECK(Split(options, "\u4E2D\u3002\u4E2D\u4E2D\u3002") ==
        Strings{"\u4E2D\u3002", "\u4E2D\u4E2D\u3002"});
}

TEST_CASE("CJK terminators when asked for", "[splitter][sentence]") {
  auto options = Short(1, 0);
  const std::string document = "\u4E00\u3002\u4E8C\uFF01\u4E09\uFF1F\u56DB. \u4E94";
  CHECK(Split(options, document).size() == 2);
  options.cjk_terminators = true;
  CHECK(Split(options, document) ==
        Strings{"\u4E00\u3002", "\u4E8C\uFF01", "\u4E09\uFF1F", "\u56DB. ", "\u4E94"});
}

TEST_CASE("a sentence above the chunk size is never cut", "[splitter][sentence]") {
  CHECK(Split(Short(4, 0), "A. Long sentence. B. ") == Strings{"A. ", "Long sentence. ", "B. "});
}

TEST_CASE("a chunk has a minimum of sentences, but for the last", "[splitter][sentence]") {
  auto options = Short(1, 0);
  options.min_sentences_per_chunk = 2;
  CHECK(Split(options, "A. B. C. D. E. ") == Strings{"A. B. ", "C. D. ", "E. "});
  options.min_sentences_per_chunk = 50;
  CHECK(Split(options, "A. B. C. ") == Strings{"A. B. C. "});
}

TEST_CASE("overlap costs one more per sentence", "[splitter][sentence]") {
  // Each sentence is 3 long and 4 as overlap.
  CHECK(Split(Short(9, 3), "A. B. C. D. E. ") == Strings{"A. B. C. ", "D. E. "});
  CHECK(Split(Short(9, 4), "A. B. C. D. E. ") == Strings{"A. B. C. ", "C. D. E. "});
  CHECK(Split(Short(9, 8), "A. B. C. D. E. ") == Strings{"A. B. C. ", "B. C. D. ", "C. D. E. "});
  CHECK(Split(Short(9, -5), "A. B. C. D. E. ") == Split(Short(9, 0), "A. B. C. D. E. "));
}

TEST_CASE("overlap that leaves no room is a chunk of its own", "[splitter][sentence]") {
  CHECK(Split(Short(9, 8), "A. B. C. Long one. ") ==
        Strings{"A. B. C. ", "B. C. ", "C. ", "Long one. "});
}

TEST_CASE("chunks are stripped only when asked for", "[splitter][sentence]") {
  auto options = Short(4, 0);
  options.strip_whitespace = true;
  CHECK(Split(options, " Ab. \n\n\n\n\n Cd.  ") == Strings{"Ab.", "Cd."});
}

TEST_CASE("sentences are measured with a length function", "[splitter][sentence]") {
  auto options = Short(3, 0);
  options.length = ai::vectors::MakeCounter("words");
  CHECK(Split(options, "A b. C. D e f g. H. ") == Strings{"A b. C. ", "D e f g. ", "H. "});
}

TEST_CASE("the sentence chunker refuses bad options", "[splitter][sentence]") {
  auto options = Sentence(10, 0);
  options.min_sentences_per_chunk = 0;
  CHECK_THROWS_MATCHES(options.Validate(), Error,
                       IsError(ErrorCode::kInvalidParameter, "min_sentences_per_chunk"));
  options = Sentence(10, 0);
  options.min_characters_per_sentence = -1;
  CHECK_THROWS_MATCHES(ai::text::SentenceChunker(options), Error,
                       IsError(ErrorCode::kInvalidParameter, "min_characters_per_sentence"));
  options = Sentence(10, 0);
  options.delimiters = {". ", ""};
  CHECK_THROWS_MATCHES(options.Validate(), Error,
                       IsError(ErrorCode::kInvalidParameter, "delimiter"));
}
