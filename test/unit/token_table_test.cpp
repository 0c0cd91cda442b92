// Tests of the packed token tables: making, opening, and refusing everything that is not one.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/token/rank_file.hpp"
#include "core/token/table_file.hpp"
#include "core/token/table_format.hpp"
#include "core/token/table_writer.hpp"
#include "core/token/vocabulary.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/token_fixture.hpp"

using ai::ErrorCode;
using ai::test::ContainsSubstring;
using ai::test::IsError;
using ai::test::SmallSource;
using ai::test::TemporaryFile;
using ai::token::SplitRule;
using ai::token::TableFile;
using ai::token::TableHeader;
using ai::token::TableSource;
using ai::token::TokenId;
using ai::token::Vocabulary;

namespace {

std::string SmallTable() {
  return PackTable(SmallSource(SplitRule::kO200k, {"ab", "abc"}));
}

/// The error of opening a file with these contents.
ai::Error ErrorOf(const std::string& contents) {
  const TemporaryFile file(contents);
  try {
    const TableFile table(file.path());
  } catch (const ai::Error& error) {
    CHECK(error.code() == ErrorCode::kMissingResource);
    CHECK_THAT(error.what(), ContainsSubstring(file.path()));
    CHECK_THAT(error.hint(), ContainsSubstring("make token-tables"));
    return error;
  }
  return {ErrorCode::kInternal, "the table was opened"};
}

template <typename T>
std::string WithField(std::string table, std::size_t at, T value) {
  std::memcpy(table.data() + at, &value, sizeof(value));
  return table;
}

}  // namespace

TEST_CASE("a packed table holds what went into it", "[token]") {
  std::vector<std::string> others;
  std::mt19937_64 random(5);
  for (int i = 0; i < 3000; ++i) {
    // Lengths on both sides of what fits into a slot, NULs at the end, and common beginnings.
    std::string token = "t" + std::to_string(i);
    token.append(random() % 30, i % 3 == 0 ? '\0' : 'x');
    others.push_back(token);
  }
  const TableSource source = SmallSource(SplitRule::kCl100k, others);
  const TemporaryFile file(PackTable(source));
  const TableFile table(file.path());
  CHECK(table.name() == "small");
  CHECK(table.source() == "made by a test");
  CHECK(table.split_rule() == SplitRule::kCl100k);
  const Vocabulary vocabulary(table.vocabulary());
  for (std::size_t id = 0; id < source.tokens.size(); ++id) {
    REQUIRE(vocabulary.Find(source.tokens[id]) == static_cast<TokenId>(id));
    REQUIRE(vocabulary.Bytes(static_cast<TokenId>(id)) == source.tokens[id]);
    const std::string longer = source.tokens[id] + "?";
    REQUIRE(vocabulary.Find(longer) == ai::token::kNoToken);
  }
  CHECK(vocabulary.Find("") == ai::token::kNoToken);
  CHECK(vocabulary.Find(std::string(1000, 'x')) == ai::token::kNoToken);
  CHECK(vocabulary.Find("<|end|>") == ai::token::kNoToken);
  CHECK(vocabulary.Bytes(100'000) == "<|end|>");
}

TEST_CASE("every pair of bytes is found or not, as the tokens say", "[token]") {
  const TemporaryFile file(PackTable(SmallSource(SplitRule::kCl100k, {"ab", "\xFF\xFE", "abc"})));
  const TableFile table(file.path());
  const Vocabulary vocabulary(table.vocabulary());
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string pair = {static_cast<char>(first), static_cast<char>(second)};
      REQUIRE(vocabulary.FindPair(pair[0], pair[1]) == vocabulary.Find(pair));
    }
  }
  CHECK(vocabulary.FindPair('a', 'b') == 256);
  CHECK(vocabulary.FindPair('\xFF', '\xFE') == 257);
  CHECK(vocabulary.FindPair('b', 'c') == ai::token::kNoToken);
}

TEST_CASE("a packed table knows the classes of all code points", "[token]") {
  const TableSource source = SmallSource(SplitRule::kCl100k, {});
  const TemporaryFile file(PackTable(source));
  const TableFile table(file.path());
  const ai::token::ClassTable classes = table.classes();
  std::size_t different = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    different += classes.Of(c) != source.classes[c] ? 1 : 0;
  }
  CHECK(different == 0);
}

TEST_CASE("the same source gives the same file", "[token]") {
  CHECK(SmallTable() == SmallTable());
  CHECK(SmallTable() != PackTable(SmallSource(SplitRule::kCl100k, {"ab", "abc"})));
}

TEST_CASE("a table that is not there is named, with what to do", "[token]") {
  try {
    const TableFile table("/nonexistent/cl100k_base.tokens");
    FAIL("opened");
  } catch (const ai::Error& error) {
    CHECK(error.code() == ErrorCode::kMissingResource);
    CHECK(std::string(error.what()) ==
          "token table \"/nonexistent/cl100k_base.tokens\" is not installed");
    CHECK_THAT(error.hint(), ContainsSubstring("make token-tables"));
  }
  CHECK_THROWS_MATCHES(TableFile("/tmp"), ai::Error,
                       IsError(ErrorCode::kMissingResource, "cannot be read"));
  CHECK_THROWS_MATCHES(TableFile("/dev/null"), ai::Error,
                       IsError(ErrorCode::kMissingResource, "cannot be read"));
}

TEST_CASE("what is not a table of this machine and version is refused", "[token]") {
  const std::string table = SmallTable();
  CHECK_THAT(ErrorOf("").what(), ContainsSubstring("is damaged"));
  CHECK_THAT(ErrorOf("short").detail(), ContainsSubstring("has 5 bytes"));
  CHECK_THAT(ErrorOf(std::string(100'000, 'x')).what(), ContainsSubstring("is something else"));
  CHECK_THAT(ErrorOf(WithField(table, offsetof(TableHeader, byte_order), 0x04030201U)).what(),
             ContainsSubstring("another kind of machine"));
  CHECK_THAT(ErrorOf(WithField(table, offsetof(TableHeader, version), 99U)).detail(),
             ContainsSubstring("version 99, expected version 1"));
}

TEST_CASE("a table that was cut or added to is refused", "[token]") {
  const std::string table = SmallTable();
  std::mt19937_64 random(6);
  for (int i = 0; i < 50; ++i) {
    const ai::Error error = ErrorOf(table.substr(0, random() % table.size()));
    CHECK_THAT(error.what(), ContainsSubstring("is damaged"));
  }
  CHECK_THAT(ErrorOf(table.substr(0, table.size() - 1)).detail(), ContainsSubstring("header says"));
  CHECK_THAT(ErrorOf(table + "x").detail(), ContainsSubstring("header says"));
}

TEST_CASE("a single wrong bit anywhere is noticed", "[token]") {
  const std::string table = SmallTable();
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < 600; ++i) {
    // Every byte of the header, then some of the rest.
    const std::size_t at = i < sizeof(TableHeader) ? i : random() % table.size();
    std::string damaged = table;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    CAPTURE(at);
    CHECK(ErrorOf(damaged).code() == ErrorCode::kMissingResource);
  }
}

TEST_CASE("sections outside the file are refused even with good checksums", "[token]") {
  const std::string table = SmallTable();
  for (const std::size_t field :
       {offsetof(TableHeader, slots_at), offsetof(TableHeader, filter_at),
        offsetof(TableHeader, byte_pairs_at), offsetof(TableHeader, offsets_at),
        offsetof(TableHeader, bytes_at), offsetof(TableHeader, specials_at),
        offsetof(TableHeader, class_index_at), offsetof(TableHeader, class_rows_at)}) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{1} << 60,
                                      static_cast<std::uint64_t>(-16)}) {
      std::string moved = WithField(table, field, value);
      const std::size_t checked = offsetof(TableHeader, header_checksum);
      moved = WithField(moved, checked,
                        ai::token::Checksum(std::string_view(moved).substr(0, checked)));
      CAPTURE(field, value);
      CHECK_THAT(ErrorOf(moved).what(), ContainsSubstring("is damaged"));
    }
  }
}

TEST_CASE("the writer refuses what no table can be made of", "[token]") {
  const auto refuses = [](const TableSource& source, const char* reason) {
    CHECK_THROWS_MATCHES(PackTable(source), ai::Error,
                         IsError(ErrorCode::kInvalidParameter, reason));
  };
  refuses(SmallSource(SplitRule::kO200k, {"ab", "ab"}), "tokens 256 and 257 are the same");
  refuses(SmallSource(SplitRule::kO200k, {""}), "empty");
  TableSource source = SmallSource(SplitRule::kO200k, {});
  source.tokens.pop_back();
  refuses(source, "not every single byte");
  source = SmallSource(SplitRule::kO200k, {});
  source.name = std::string(17, 'x');
  refuses(source, "too long");
  source = SmallSource(SplitRule::kO200k, {});
  source.classes.pop_back();
  refuses(source, "classes of all code points");
  source = SmallSource(SplitRule::kO200k, {});
  source.specials = {{"<|x|>", 7}};
  refuses(source, "special token 7");
}

TEST_CASE("rank files are read", "[token]") {
  using Tokens = std::vector<std::string>;
  CHECK(ai::token::ParseRanks("YQ== 0\nYWI= 2\nYWJj 1\n") == Tokens{"a", "abc", "ab"});
  CHECK(ai::token::ParseRanks("/+8= 0") == Tokens{"\xFF\xEF"});
  for (const char* bad : {"", "YQ== 1\n", "YQ== 0\nYg== 0\n", "YQ== 0\nYg== 0\nYw== 2\n", "YQ==\n",
                          "YQ== x\n", "YQ= 0\n", "Y!== 0\n", " 0\n", "YQ== -1\n", "YQ== 0 0\n",
                          "YQ== 99999999999\n", "YQ== 4000001\n"}) {
    CAPTURE(bad);
    CHECK_THROWS_MATCHES(ai::token::ParseRanks(bad), ai::Error, IsError(ErrorCode::kInvalidText));
  }
}

TEST_CASE("lists of classes are read", "[token]") {
  const auto classes = ai::token::ParseClassRanges("Lu 41 42\nN 30 30\nWhite_Space a a\nM 300 300");
  REQUIRE(classes.size() == 0x110000);
  CHECK(classes['A'] == (ai::token::kLetter | ai::token::kUpperSide));
  CHECK(classes['B'] == classes['A']);
  CHECK(classes['C'] == 0);
  CHECK(classes['0'] == ai::token::kNumber);
  CHECK(classes['\n'] == (ai::token::kSpace | ai::token::kLineBreak));
  CHECK(classes[0x300] == (ai::token::kUpperSide | ai::token::kLowerSide));
  for (const char* bad : {"Lx 41 42", "Lu 42 41", "Lu 41", "Lu 0 110000", "Lu x y", "\n"}) {
    CAPTURE(bad);
    CHECK_THROWS_MATCHES(ai::token::ParseClassRanges(bad), ai::Error,
                         IsError(ErrorCode::kInvalidText));
  }
}
