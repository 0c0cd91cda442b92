// The check of oracle vectors must be able to fail.
#include "vectors/vector_case.hpp"

#include <optional>
#include <string>

#include "core/json/document.hpp"
#include "unit/catch_bridge.hpp"
#include "vectors/make_splitter.hpp"

using ai::json::Document;
using ai::vectors::Check;
using ai::vectors::SkipReason;
using ai::vectors::UnreadableCase;

namespace {

const std::string kCharacter =
    R"("splitter": "langchain.CharacterTextSplitter", "text": "a b", "params": {"separator": " ",
       "keep_separator": false, "chunk_overlap": 0, "is_separator_regex": false,
       "strip_whitespace": true, "length_function": "chars", "chunk_size": )";
const std::string kPattern =
    R"("splitter": "langchain.CharacterTextSplitter", "text": "a b", "params": {"chunk_size": 1,
       "keep_separator": false, "chunk_overlap": 0, "is_separator_regex": true,
       "strip_whitespace": true, "length_function": "chars", "separator": )";
const std::string kSemchunk =
    R"("splitter": "semchunk.chunk", "text": "äb c", "params": {"token_counter": "chars",
       "chunk_size": 2, "overlap": )";

/// What is wrong with a case, "" if nothing is.
std::string Wrong(const std::string& members) {
  const Document line = Document::Parse("{" + members + "}");
  return Check(line.root()).value_or("");
}

std::string Skipped(const std::string& members) {
  const Document line = Document::Parse("{" + members + "}");
  return SkipReason(line.root()).value_or("");
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("oracle vectors: chunks are compared", "[vectors]") {
  CHECK(Wrong(kCharacter + R"(1}, "chunks": ["a", "b"])").empty());
  CHECK(Contains(Wrong(kCharacter + R"(1}, "chunks": ["a", "c"])"), "chunk 1: expected \"c\""));
  CHECK(Contains(Wrong(kCharacter + R"(1}, "chunks": ["a"])"), "chunk 1: expected none"));
  CHECK(Contains(Wrong(kCharacter + R"(1}, "chunks": ["a", "b", "c"])"), "got none"));
}

TEST_CASE("oracle vectors: offsets are compared, in code points", "[vectors]") {
  const std::string chunks = R"(null}, "chunks": ["äb", "c"], "offsets": )";
  CHECK(Wrong(kSemchunk + chunks + "[[0, 2], [3, 4]]").empty());
  CHECK(Contains(Wrong(kSemchunk + chunks + "[[0, 2], [2, 4]]"), "chunk 1: got 3 to 4"));
  CHECK(Contains(Wrong(kSemchunk + chunks + "[[0, 2]]"), "no offsets"));
  CHECK(Contains(Wrong(kSemchunk + chunks + "[[0, 2], [3, 4], [4, 4]]"), "no such chunk"));
}

TEST_CASE("oracle vectors: errors are compared by kind and by what they name", "[vectors]") {
  const auto error = [](const std::string& type, const std::string& message) {
    return R"(}, "error": {"type": ")" + type + R"(", "message": ")" + message + R"("})";
  };
  CHECK(Wrong(kCharacter + "0" + error("ValueError", "chunk_size must be > 0, got 0")).empty());
  CHECK_FALSE(Wrong(kCharacter + "0" + error("ValueError", "chunk_overlap is negative")).empty());
  CHECK_FALSE(Wrong(kCharacter + "0" + error("ValueError", "something else")).empty());
  CHECK_FALSE(Wrong(kCharacter + "0" + error("IndexError", "chunk_size")).empty());
  CHECK_FALSE(Wrong(kCharacter + "1" + error("ValueError", "chunk_size")).empty());
  CHECK(Contains(Wrong(kCharacter + R"(0}, "chunks": [])"), "unexpected error"));

  const std::string repeat = "nothing to repeat at position 1";
  CHECK(Wrong(kPattern + R"("*a")" + error("re.error", repeat)).empty());
  CHECK_FALSE(Wrong(kPattern + R"("(a")" + error("re.error", repeat)).empty());
  CHECK_FALSE(Wrong(kPattern + R"("*a")" + error("ValueError", repeat)).empty());
}

TEST_CASE("oracle vectors: a case that is not understood is no case that passes", "[vectors]") {
  CHECK_THROWS_AS(Wrong(kCharacter + R"(1, "more": 1}, "chunks": ["a", "b"])"), UnreadableCase);
  CHECK_THROWS_AS(Wrong(R"("splitter": "semchunk.chunk", "text": "", "chunks": [],
                           "params": {"token_counter": "chars", "chunk_size": 1})"),
                  UnreadableCase);
  CHECK_THROWS_AS(Wrong(R"("splitter": "other", "text": "", "params": {}, "chunks": [])"),
                  UnreadableCase);
  CHECK_THROWS(Wrong(kCharacter + "1}"));
}

TEST_CASE("oracle vectors: skipped is what is not meant for us, and nothing else", "[vectors]") {
  const std::string chunks = R"(1}, "chunks": ["a", "b"], "tags": )";
  CHECK(Skipped(kCharacter + chunks + R"(["fuzz", "regex", "error", "nul"])").empty());
  CHECK(Contains(Skipped(kCharacter + chunks + R"(["fuzz", "py_quirk"])"), "py_quirk"));
  CHECK(Contains(Skipped(kCharacter + chunks + R"(["min_chars_bytes_vs_codepoints"])"),
                 "min_chars_bytes_vs_codepoints"));
  CHECK(Skipped(kSemchunk + R"(null}, "spec8": "same")").empty());
  CHECK(Skipped(kSemchunk + R"(0.1}, "spec8": "same_cuts_drop_space")").empty());
  CHECK(Contains(Skipped(kSemchunk + R"(1}, "spec8": "same")"), "overlap"));
  CHECK(Contains(Skipped(kSemchunk + R"(null}, "spec8": "differs")"), "differs"));
}
