// What must hold for tokens whatever the text, the ids or the file: encoding loses nothing, all
// ways to count agree, long pieces merge as the definition says, truncated text fits, decoded text
// is UTF-8, and a damaged table is refused. Throws std::logic_error where it does not hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/token/encoding.hpp"
#include "core/token/long_merge.hpp"
#include "core/token/short_merge.hpp"
#include "core/token/table_file.hpp"
#include "core/utf8.hpp"
#include "fuzz/fuzz_input.hpp"
#include "unit/token_fixture.hpp"
#include "unit/token_reference.hpp"
#include "unit/token_tables.hpp"

namespace ai::fuzz {

class TokenFuzz {
 public:
  TokenFuzz()
      : others_(MakeTokens()),
        packed_(PackTable(test::SmallSource(token::SplitRule::kO200k, others_))),
        file_(packed_),
        table_(file_.path()),
        vocabulary_(table_.vocabulary()),
        reference_(test::TokensWith(others_)) {
    encodings_.push_back(token::Encoding::Open(file_.path()));
    encodings_.push_back(test::SmallEncoding(token::SplitRule::kCl100k, others_));
    for (const auto name : {token::EncodingName::kCl100kBase, token::EncodingName::kO200kBase}) {
      if (auto installed = test::OpenInstalled(name)) {
        encodings_.push_back(std::move(installed));
      }
    }
  }

  void Run(std::string_view bytes) const {
    FuzzInput input(bytes);
    const unsigned what = input.Below(64);
    const token::Encoding& encoding = *encodings_[input.Below(256) % encodings_.size()];
    if (what == 0) {
      CheckDamage(input);
    } else if (what < 8) {
      CheckIds(encoding, input);
    } else if (what < 16) {
      CheckMerges(bytes);
    } else if (what < 24) {
      CheckText(encoding, bytes, input.Below(256));
    } else {
      const std::size_t tokens = input.Below(256);
      CheckText(encoding, MakeText(input), tokens);
    }
  }

 private:
  static constexpr std::array<std::string_view, 48> kParts = {"a",          "b",
                                                              "ab",         "the",
                                                              " the",       "A",
                                                              "AB",         "Ab",
                                                              "hello",      " world",
                                                              "'s",         "'LL",
                                                              "'\u017F",    "don't",
                                                              "1",          "12345",
                                                              " ",          "  ",
                                                              "   ",        "\t",
                                                              "\n",         "\r\n",
                                                              " \n",        "\u00A0",
                                                              "\u3000",     ".",
                                                              "...",        "!?",
                                                              "//",         "#",
                                                              "(x)",        "_",
                                                              "\u00E9",     "e\u0301",
                                                              "\u0301",     "\u00DF",
                                                              "\u01C5",     "\u02B0",
                                                              "\u4E00",     "\u4E00A",
                                                              "\u0660",     "\U0001F600",
                                                              "\u200D",     "\uFFFD",
                                                              "\U0001D49C", "<|endoftext|>",
                                                              "0x1F",       "{\"k\":"};

  static void Require(bool holds, const char* what) {
    if (!holds) {
      throw std::logic_error(what);
    }
  }

  static std::vector<std::string> MakeTokens() {
    std::mt19937_64 random(11);
    return test::RandomTokens(random, "ab the'.\n1A\xE4\xB8\x80", 400, 16);
  }

  /// Parts one after the other, some of them many times.
  static std::string MakeText(FuzzInput& input) {
    std::string text;
    const std::size_t parts = input.Below(40);
    for (std::size_t i = 0; i < parts; ++i) {
      const std::string_view part = input.Pick(kParts);
      const unsigned often = input.Below(32);
      const std::size_t times = often == 31 ? 64 * input.Below(256) : (often > 26 ? often : 1);
      for (std::size_t j = 0; j < times && text.size() < 20'000; ++j) {
        text += part;
      }
    }
    return text;
  }

  static void CheckText(const token::Encoding& encoding, std::string_view text,
                        std::size_t tokens) {
    std::vector<token::TokenId> ids;
    encoding.Encode(text, ids);
    Require(encoding.DecodeBytes(ids) == text, "encoding loses something");
    Require(encoding.Count(text) == ids.size(), "counts differ");
    const std::size_t limited = encoding.CountUpTo(text, tokens);
    Require(limited == (ids.size() <= tokens ? ids.size() : tokens + 1), "limited count differs");
    const bool valid = utf8::IsValid(text);
    const std::string decoded = encoding.Decode(ids);
    Require(valid ? decoded == text : utf8::IsValid(decoded), "decoded text is wrong");

    const std::string_view prefix = encoding.Truncate(text, tokens);
    Require(text.starts_with(prefix), "truncated text is no prefix");
    Require(encoding.Count(prefix) <= tokens, "truncated text is too long");
    Require(!valid || utf8::IsValid(prefix), "truncation splits a character");
    Require(ids.size() > tokens || prefix == text, "truncation without need");
  }

  void CheckMerges(std::string_view bytes) const {
    const std::string_view piece = bytes.substr(0, token::kShortPiece);
    std::string narrow(piece);
    for (char& c : narrow) {
      c = "ab the"[static_cast<unsigned char>(c) % 6];
    }
    for (const std::string_view text : {piece, std::string_view(narrow)}) {
      if (text.empty()) {
        continue;
      }
      const std::vector<token::Token> expected = reference_(text);
      std::array<token::Token, token::kShortPiece> merged;
      const std::size_t count = MergeShort(vocabulary_, text, merged.data());
      Require(std::vector(merged.begin(), merged.begin() + static_cast<std::ptrdiff_t>(count)) ==
                  expected,
              "short merge differs");
      for (const std::size_t window : {1U, 50U, 80U, 1000U}) {
        std::vector<token::Token> all;
        token::LongMerge merge(vocabulary_, text, nullptr, window);
        for (const auto* next = &merge.Next(); !next->empty(); next = &merge.Next()) {
          all.insert(all.end(), next->begin(), next->end());
        }
        Require(all == expected, "long merge differs");
      }
    }
  }

  static void CheckIds(const token::Encoding& encoding, FuzzInput& input) {
    std::vector<token::TokenId> ids;
    const std::size_t count = input.Below(100);
    const unsigned range = input.Below(4);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t id = input.Below(256) | input.Below(256) << 8;
      id |= range > 1 ? input.Below(4) << 16 : 0;
      id |= range > 2 ? input.Below(256) << 24 : 0;
      ids.push_back(static_cast<token::TokenId>(range == 0 ? id % 600 : id));
    }
    try {
      Require(utf8::IsValid(encoding.Decode(ids)), "decoded text is not UTF-8");
    } catch (const Error& error) {
      Require(error.code() == ErrorCode::kInvalidParameter, "decoding fails in a strange way");
    }
  }

  void CheckDamage(FuzzInput& input) const {
    std::string damaged = packed_;
    const auto place = [&] {
      const std::size_t far = input.Below(256) << 16 | input.Below(256) << 8 | input.Below(256);
      return input.Flag() ? far % damaged.size() : far % sizeof(token::TableHeader);
    };
    for (unsigned changes = 1 + input.Below(4); changes > 0; --changes) {
      const std::size_t at = place();
      damaged[at] = static_cast<char>(damaged[at] + static_cast<char>(1 + input.Below(255)));
    }
    if (input.Flag()) {
      damaged.resize(place());
    }
    const test::TemporaryFile file(damaged);
    try {
      const token::TableFile table(file.path());
      Require(damaged == packed_, "a damaged table is opened");
    } catch (const Error& error) {
      Require(error.code() == ErrorCode::kMissingResource, "opening fails in a strange way");
    }
  }

  std::vector<std::string> others_;
  std::string packed_;
  test::TemporaryFile file_;
  token::TableFile table_;
  token::Vocabulary vocabulary_;
  test::ReferenceMerge reference_;
  std::vector<std::shared_ptr<const token::Encoding>> encodings_;
};

}  // namespace ai::fuzz
