// What must hold for the WordPiece tokenizer on any text: the same tokens as a plain restatement of
// its rules, counts that agree, limits that are kept, texts that do not influence each other.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/characters.hpp"
#include "core/model/model.hpp"
#include "core/utf8.hpp"
#include "fuzz/fuzz_input.hpp"
#include "unit/model_file.hpp"
#include "unit/model_fixture.hpp"

namespace ai::fuzz {

class WordPieceFuzz {
 public:
  WordPieceFuzz() {
    models_.push_back(test::TinyModel());
    if (auto installed = test::OpenInstalledModel()) {
      models_.push_back(std::move(installed));
    }
    for (const auto& model : models_) {
      std::map<std::string, model::TokenId> tokens;
      const model::Vocabulary vocabulary = model->packed().vocabulary();
      for (model::TokenId id = 0; id < vocabulary.size(); ++id) {
        tokens.emplace(vocabulary.Text(id), id);
      }
      tokens_.push_back(std::move(tokens));
    }
  }

  void Run(std::string_view bytes) const {
    FuzzInput input(bytes);
    const std::size_t which = input.Below(256) % models_.size();
    const std::size_t limit = 2 + input.Below(64);
    if (input.Below(4) == 0) {
      Check(which, bytes, limit);
    } else {
      Check(which, MakeText(input), limit);
    }
  }

 private:
  using Ids = std::vector<model::TokenId>;

  static constexpr std::array<std::string_view, 40> kParts = {
      "a",      "b",      "ab",     "the",    "cat",    "un",     "believ", "able",
      "s",      "Cat",    " ",      "  ",     "\t",     "\n",     ".",      ",",
      "'",      "[SEP]",  "[CLS]",  "[",      "]",      "[SE",    "\u00E9", "\u0301",
      "\u4E2D", "\uD55C", "\u00DF", "\u0130", "\u03A3", "\u200B", "\u00A0", "\u3000",
      "\uFFFD", "\u0378", "\u037E", "##",     "12",     "$",      "\u2014", "\U0001F600"};

  static void Require(bool holds, const char* what) {
    if (!holds) {
      throw std::logic_error(what);
    }
  }

  static std::string MakeText(FuzzInput& input) {
    std::string text;
    const std::size_t parts = input.Below(60);
    for (std::size_t i = 0; i < parts; ++i) {
      const unsigned what = input.Below(64);
      if (what == 63) {
        utf8::Append(text, static_cast<char32_t>(input.Below(17) << 16 | input.Below(256) << 8 |
                                                 input.Below(256)));
        continue;
      }
      const std::string_view part = input.Pick(kParts);
      for (unsigned times = what == 62 ? input.Below(120) : 1; times > 0; --times) {
        text += part;
      }
    }
    return text;
  }

  /// The words of a text without special tokens, with all that is done to characters.
  static std::vector<std::u32string> Words(std::string_view text) {
    std::vector<std::u32string> words(1);
    const auto alone = [&](char32_t character) {
      words.push_back({character});
      words.emplace_back();
    };
    for (std::size_t at = 0; at < text.size();) {
      const utf8::Decoded decoded = utf8::DecodeSlowly(text, at);
      at += decoded.length;
      const std::uint8_t traits = model::TraitsOf(decoded.code_point);
      if ((traits & model::kRemovedTrait) != 0) {
        continue;
      }
      if ((traits & model::kSpaceTrait) != 0) {
        words.emplace_back();
        continue;
      }
      const model::Folded folded = model::Fold(decoded.code_point, {});
      for (std::size_t i = 0; i < folded.count; ++i) {
        const char32_t character = folded.characters[i];
        if ((traits & model::kIdeographTrait) != 0 ||
            (model::TraitsOf(character) & model::kPunctuationTrait) != 0) {
          alone(character);
        } else {
          words.back() += character;
        }
      }
    }
    return words;
  }

  static std::string Encoded(std::u32string_view characters) {
    std::string text;
    for (const char32_t character : characters) {
      utf8::Append(text, character);
    }
    return text;
  }

  void CutWord(std::size_t which, std::u32string_view word, Ids& ids) const {
    const std::map<std::string, model::TokenId>& tokens = tokens_[which];
    const Ids before = ids;
    std::u32string_view rest = word;
    while (!rest.empty() && word.size() <= 100) {
      std::size_t length = rest.size();
      auto found = tokens.end();
      for (; length > 0 && found == tokens.end(); --length) {
        found =
            tokens.find((rest.size() == word.size() ? "" : "##") + Encoded(rest.substr(0, length)));
      }
      if (found == tokens.end()) {
        break;
      }
      ids.push_back(found->second);
      rest.remove_prefix(length + 1);
    }
    if (!rest.empty()) {
      ids = before;
      ids.push_back(models_[which]->tokenizer().rules().unknown);
    }
  }

  Ids Expected(std::size_t which, std::string_view text) const {
    const model::Vocabulary vocabulary = models_[which]->packed().vocabulary();
    const model::TokenizerRules& rules = models_[which]->tokenizer().rules();
    Ids ids = {rules.start};
    const auto take = [&](std::string_view part) {
      for (const std::u32string& word : Words(part)) {
        CutWord(which, word, ids);
      }
    };
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t length = 0;
      for (const model::TokenId special : rules.specials) {
        if (text.substr(at).starts_with(vocabulary.Text(special))) {
          take(text.substr(start, at - start));
          ids.push_back(special);
          length = vocabulary.Text(special).size();
          start = at + length;
        }
      }
      at += length == 0 ? 1 : length;
    }
    take(text.substr(start));
    ids.push_back(rules.end);
    return ids;
  }

  void Check(std::size_t which, std::string_view text, std::size_t limit) const {
    const model::WordPiece& tokenizer = models_[which]->tokenizer();
    Ids ids;
    Require(!tokenizer.Tokenize({}, text, 1'000'000, ids), "a limit where there is none");
    Require(ids == Expected(which, text), "tokens differ from the plain rules");
    Require(tokenizer.Count(text) == ids.size(), "counts differ");
    Ids cut;
    const bool was_cut = tokenizer.Tokenize({}, text, limit, cut);
    Require(was_cut == (ids.size() > limit), "cut without need, or not cut");
    Ids start = ids;
    if (was_cut) {
      start.resize(limit - 1);
      start.push_back(tokenizer.rules().end);
    }
    Require(cut == start, "the cut text is not the start of the whole");
    Ids twice;
    tokenizer.Tokenize(std::string(text) + " ", text, 1'000'000, twice);
    Require(twice.size() == 2 * ids.size() - 2, "one text changes the other");
  }

  std::vector<std::shared_ptr<const model::Model>> models_;
  std::vector<std::map<std::string, model::TokenId>> tokens_;
};

}  // namespace ai::fuzz
