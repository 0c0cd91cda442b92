// The tokenizer, rule by rule, with a small vocabulary; model_real_test.cpp has the real one.
#include <string>
#include <string_view>
#include <vector>

#include "core/model/characters.hpp"
#include "core/model/model.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/model_fixture.hpp"

using ai::model::Model;
using ai::model::TokenId;
using Words = std::vector<std::string>;
using std::string_view_literals::operator""sv;

namespace {

/// The tokens of a text as words, without the first and the last.
Words Cut(const Model& model, std::string_view text) {
  std::vector<TokenId> ids;
  CHECK_FALSE(model.tokenizer().Tokenize({}, text, 1000, ids));
  CHECK(model.CountTokens(text) == ids.size());
  REQUIRE(ids.size() >= 2);
  CHECK(ids.front() == 2);
  CHECK(ids.back() == 3);
  Words words;
  for (std::size_t i = 1; i + 1 < ids.size(); ++i) {
    words.emplace_back(model.packed().vocabulary().Text(ids[i]));
  }
  return words;
}

Words Cut(std::string_view text) {
  static const auto model = ai::test::TinyModel();
  return Cut(*model, text);
}

std::u32string FoldText(char32_t character, ai::model::Folding folding = {}) {
  const ai::model::Folded folded = ai::model::Fold(character, folding);
  return {folded.characters.data(), folded.count};
}

}  // namespace

TEST_CASE("words are cut into the longest pieces", "[model]") {
  CHECK(Cut("the cat sat on the mat") == Words{"the", "cat", "sat", "on", "the", "mat"});
  CHECK(Cut("unbelievable cats") == Words{"un", "##believ", "##able", "cat", "##s"});
  CHECK(Cut("internationalization") == Words{"internationalization"});
  CHECK(Cut("abba") == Words{"a", "##b", "##b", "##a"});
  CHECK(Cut("").empty());
  CHECK(Cut(" \t\r\n ").empty());
}

TEST_CASE("a word that cannot be cut is unknown as a whole", "[model]") {
  CHECK(Cut("cat dog cat") == Words{"cat", "[UNK]", "cat"});
  CHECK(Cut("catx") == Words{"[UNK]"});
  // What begins a word does not continue one.
  CHECK(Cut("catcat") == Words{"[UNK]"});
  CHECK(Cut("believ") == Words{"[UNK]"});
}

TEST_CASE("a word of more than 100 characters is unknown", "[model]") {
  CHECK(Cut(std::string(100, 'a')).size() == 100);
  CHECK(Cut(std::string(101, 'a')) == Words{"[UNK]"});
  CHECK(Cut(std::string(100'000, 'a') + " b") == Words{"[UNK]", "b"});
  // Characters count, not bytes, and after accents are gone.
  std::string accented;
  for (int i = 0; i < 100; ++i) {
    accented += "a\u0301";
  }
  CHECK(Cut(accented).size() == 100);
  CHECK(Cut(accented + "a") == Words{"[UNK]"});
}

TEST_CASE("case and accents are folded", "[model]") {
  CHECK(Cut("THE Cat") == Words{"the", "cat"});
  CHECK(Cut("caf\u00E9 CAF\u00C9 cafe\u0301") == Words{"cafe", "cafe", "cafe"});
  CHECK(Cut("\u03A3 Stra\u00DFe") == Words{"\u03C3", "stra", "##\u00DFe"});
  CHECK(Cut("\uD55C") == Words{"\u1112", "##\u1161", "##\u11AB"});  // Hangul falls into letters
  CHECK(Cut("\u0130") == Words{"i"});
}

TEST_CASE("a model decides about case, accents and ideographs", "[model]") {
  ai::model::ModelSource source = ai::test::TinySource();
  source.rules.folding = {false, false};
  source.rules.space_ideographs = false;
  const auto cased = ai::test::TinyModel(source);
  CHECK(Cut(*cased, "The the") == Words{"[UNK]", "the"});
  CHECK(Cut(*cased, "caf\u00E9 cafe") == Words{"[UNK]", "cafe"});
  CHECK(Cut(*cased, "\u4E2D\u4E2D") == Words{"[UNK]"});
  CHECK(FoldText(U'\u00C9', {true, false}) == U"\u00E9");
  CHECK(FoldText(U'\u00C9', {false, true}) == U"E");
  CHECK(FoldText(U'\u0130', {true, false}) == U"i\u0307");
}

TEST_CASE("punctuation and ideographs stand alone", "[model]") {
  CHECK(Cut("cat,mat.'s") == Words{"cat", ",", "mat", ".", "'", "[UNK]"});
  CHECK(Cut("a.b") == Words{"a", ".", "b"});
  CHECK(Cut("a\u4E2D\u4E2Db") == Words{"a", "\u4E2D", "\u4E2D", "b"});
  // A Greek question mark is a semicolon once it is decomposed.
  CHECK(Cut("a\u037Eb") == Words{"a", ";", "b"});
}

TEST_CASE("controls vanish and spaces of all kinds divide", "[model]") {
  CHECK(Cut("c\001a\u200Bt\177") == Words{"cat"});
  CHECK(Cut("c\000at"sv) == Words{"cat"});
  CHECK(Cut("c\uFFFDat") == Words{"cat"});
  CHECK(Cut("cat\302\240cat\u3000cat\u2028cat\tcat") == Words(5, "cat"));
  // Bytes that are no UTF-8 are dropped.
  CHECK(Cut("c\xFF\x80"
            "at") == Words{"cat"});
  // Characters that Unicode has not assigned are kept.
  CHECK(Cut("cat\u0378") == Words{"[UNK]"});
  CHECK(Cut("cat\uE000") == Words{"cat"});  // private use
}

TEST_CASE("special tokens in a text are themselves", "[model]") {
  CHECK(Cut("cat[SEP]cat") == Words{"cat", "[SEP]", "cat"});
  CHECK(Cut("[CLS] [MASK][UNK]") == Words{"[CLS]", "[MASK]", "[UNK]"});
  CHECK(Cut("[sep]") == Words{"[", "[UNK]", "]"});
  CHECK(Cut("[SEP") == Words{"[", "[UNK]"});
}

TEST_CASE("a text is cut off at the model's longest", "[model]") {
  const auto model = ai::test::TinyModel();
  std::string text;
  for (int i = 0; i < 14; ++i) {
    text += "cat ";
  }
  std::vector<TokenId> ids;
  CHECK_FALSE(model->tokenizer().Tokenize({}, text, 16, ids));
  CHECK(ids.size() == 16);
  ids.clear();
  CHECK(model->tokenizer().Tokenize({}, text + "mat", 16, ids));
  CHECK(ids.size() == 16);
  CHECK(ids.back() == 3);
  CHECK(model->Tokenize(text + "mat") == ids);
  CHECK(model->CountTokens(text + "mat") == 17);
  // In the middle of a word, too.
  ids.clear();
  CHECK(model->tokenizer().Tokenize({}, "unbelievable", 4, ids));
  CHECK(ids == std::vector<TokenId>{2, 10, 11, 3});
}

TEST_CASE("a prefix joins its text", "[model]") {
  const auto model = ai::test::TinyModel();
  std::vector<TokenId> joined;
  model->tokenizer().Tokenize("query: un", "believable", 16, joined);
  CHECK(joined == model->Tokenize("query: unbelievable"));
}

TEST_CASE("counting a long text can be interrupted", "[model]") {
  const auto model = ai::test::TinyModel();
  const std::string text(1'000'000, ' ');
  CHECK(model->CountTokens(text) == 2);
  CHECK_THROWS_MATCHES(model->CountTokens(text, [] { return true; }), ai::Error,
                       ai::test::IsError(ai::ErrorCode::kCancelled, "canceling on request"));
}

TEST_CASE("characters have the traits of the reference", "[model]") {
  using namespace ai::model;  // NOLINT: the names of the traits
  CHECK(TraitsOf(U'a') == 0);
  CHECK(TraitsOf(U'$') == kPunctuationTrait);
  CHECK(TraitsOf(U'\u00A7') == kPunctuationTrait);
  CHECK(TraitsOf(U'\u20AC') == 0);  // a symbol is no punctuation outside of ASCII
  CHECK(TraitsOf(U'\n') == kSpaceTrait);
  CHECK(TraitsOf(U'\u0085') == kRemovedTrait);
  CHECK(TraitsOf(U'\u3000') == kSpaceTrait);
  CHECK(TraitsOf(0xFFFD) == kRemovedTrait);
  CHECK(TraitsOf(0x20000) == kIdeographTrait);
  CHECK(TraitsOf(0x10FFFF) == 0);
  CHECK(TraitsOf(0x2E43) == 0);  // punctuation since Unicode 9 only
  CHECK(FoldText(0x1F600) == U"\U0001F600");
  CHECK(FoldText(0x301).empty());
  CHECK(FoldText(0x1E69) == U"s");
  CHECK(FoldText(0xF900) == U"\u8C48");
  CHECK(FoldText(0x9CB) == U"\u09C7\u09BE");
  CHECK(FoldText(0x10400) == U"\U00010428");
  CHECK(FoldText(0x212B) == U"a");
}
