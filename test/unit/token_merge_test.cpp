// Tests of core/token/short_merge and long_merge against the definition of byte-pair merging.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "core/token/long_merge.hpp"
#include "core/token/short_merge.hpp"
#include "core/token/table_file.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/token_fixture.hpp"
#include "unit/token_reference.hpp"

using ai::test::ReferenceMerge;
using ai::test::TokensWith;
using ai::token::LongMerge;
using ai::token::Token;
using ai::token::Vocabulary;

namespace {

/// A vocabulary and the mapped table under it.
class Table {
 public:
  explicit Table(const std::vector<std::string>& others)
      : file_(PackTable(ai::test::SmallSource(ai::token::SplitRule::kCl100k, others))),
        table_(file_.path()),
        vocabulary_(table_.vocabulary()) {}

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  ai::test::TemporaryFile file_;
  ai::token::TableFile table_;
  Vocabulary vocabulary_;
};

std::vector<Token> Short(const Vocabulary& vocabulary, std::string_view piece) {
  std::array<Token, ai::token::kShortPiece> tokens;
  const std::size_t count = MergeShort(vocabulary, piece, tokens.data());
  return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<Token> Long(const Vocabulary& vocabulary, std::string_view piece, std::size_t window) {
  std::vector<Token> all;
  LongMerge merge(vocabulary, piece, nullptr, window);
  for (const std::vector<Token>* next = &merge.Next(); !next->empty(); next = &merge.Next()) {
    all.insert(all.end(), next->begin(), next->end());
  }
  return all;
}

std::vector<std::string> Texts(const std::vector<Token>& tokens, std::string_view piece) {
  std::vector<std::string> texts;
  for (const Token token : tokens) {
    texts.emplace_back(piece.substr(0, token.length));
    piece.remove_prefix(token.length);
  }
  return texts;
}

std::string RandomPiece(std::mt19937_64& random, std::string_view alphabet, std::size_t longest) {
  std::string piece(1 + random() % longest, ' ');
  // Now and then the same few bytes over and over, which is where merges depend on far ones.
  const std::size_t period = random() % 3 == 0 ? 1 + random() % 5 : piece.size();
  for (std::size_t i = 0; i < piece.size(); ++i) {
    piece[i] = i < period ? alphabet[random() % alphabet.size()] : piece[i - period];
  }
  return piece;
}

}  // namespace

TEST_CASE("merging takes the lowest rank first and the leftmost of equals", "[token]") {
  using Parts = std::vector<std::string>;
  const Table table({"bc", "ab", "cd", "abcd", "aa"});
  const auto merge = [&table](std::string_view piece) {
    CHECK(Long(table.vocabulary(), piece, 3) == Short(table.vocabulary(), piece));
    return Texts(Short(table.vocabulary(), piece), piece);
  };
  CHECK(merge("a") == Parts{"a"});
  CHECK(merge("abc") == Parts{"a", "bc"});
  CHECK(merge("abd") == Parts{"ab", "d"});
  // A token that merging never reaches: bc comes first, and neither a nor d joins it.
  CHECK(merge("abcd") == Parts{"a", "bc", "d"});
  CHECK(merge("aaaaa") == Parts{"aa", "aa", "a"});
  CHECK(merge("aab") == Parts{"a", "ab"});
  CHECK(merge("xyz") == Parts{"x", "y", "z"});
}

TEST_CASE("short pieces merge as the definition says", "[token]") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const auto others = ai::test::RandomTokens(random, "abc", 5 + random() % 60, 20);
    const Table table(others);
    const ReferenceMerge reference(TokensWith(others));
    for (int i = 0; i < 20; ++i) {
      const std::string piece = RandomPiece(random, "abcd", ai::token::kShortPiece);
      CAPTURE(round, piece);
      REQUIRE(Short(table.vocabulary(), piece) == reference(piece));
    }
  }
}

TEST_CASE("long pieces merge as the definition says, whatever the window", "[token]") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 60; ++round) {
    const auto others = ai::test::RandomTokens(random, "ab", 5 + random() % 80, 24);
    const Table table(others);
    const ReferenceMerge reference(TokensWith(others));
    for (int i = 0; i < 6; ++i) {
      const std::string piece = RandomPiece(random, "abc", 300);
      const std::vector<Token> expected = reference(piece);
      for (const std::size_t window : {1U, 2U, 3U, 7U, 16U, 40U, 200U, 1000U}) {
        CAPTURE(round, piece, window);
        REQUIRE(Long(table.vocabulary(), piece, window) == expected);
      }
    }
  }
}

TEST_CASE("a window that depends on all that follows grows", "[token]") {
  // Whether the first two letters merge is decided at the far end, pair by pair: each pair has a
  // lower rank than the one to its left, so the merging starts at the right and takes every second
  // one.
  std::string piece;
  std::vector<std::string> pairs;
  for (char c = 'a'; c <= 'z'; ++c) {
    piece += c;
  }
  for (std::size_t i = piece.size() - 1; i > 0; --i) {
    pairs.push_back(piece.substr(i - 1, 2));
  }
  const Table table(pairs);
  const ReferenceMerge reference(TokensWith(pairs));
  for (const std::string& text : {piece, piece.substr(1)}) {
    REQUIRE(Long(table.vocabulary(), text, 4) == reference(text));
    REQUIRE(Short(table.vocabulary(), text) == reference(text));
  }
}

TEST_CASE("a long piece is given window by window", "[token]") {
  const Table table({"aa", "aaaa", "aaaaaaaa"});
  const std::string piece(1'000'003, 'a');
  LongMerge merge(table.vocabulary(), piece, nullptr);
  std::size_t bytes = 0;
  std::size_t count = 0;
  for (const std::vector<Token>* next = &merge.Next(); !next->empty(); next = &merge.Next()) {
    std::size_t batch = 0;
    for (const Token token : *next) {
      batch += token.length;
    }
    CHECK(batch <= 65536);
    bytes += batch;
    count += next->size();
  }
  CHECK(bytes == piece.size());
  CHECK(count == 1'000'000 / 8 + 2);
}

TEST_CASE("merging a long piece can be interrupted", "[token]") {
  const Table table({"aa"});
  const std::string piece(1000, 'a');
  LongMerge merge(table.vocabulary(), piece, [] { return true; });
  REQUIRE_THROWS_MATCHES(merge.Next(), ai::Error, ai::test::IsError(ai::ErrorCode::kCancelled));
}
