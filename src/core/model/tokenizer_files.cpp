#include "core/model/tokenizer_files.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.hpp"
#include "core/json/document.hpp"

namespace ai::model {
namespace {

constexpr std::int64_t kLongestWord = 100;
constexpr std::array<std::string_view, 5> kUsualSpecials = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                            "[MASK]"};

[[noreturn]] void Unsupported(const std::string& what) {
  throw Error(ErrorCode::kNotSupported, what + " is not supported", {},
              "Use a model with the tokenizer of BERT (WordPiece).");
}

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidText, message);
}

TokenId FindToken(const std::vector<std::string>& tokens, std::string_view text) {
  const auto found = std::find(tokens.begin(), tokens.end(), text);
  if (found == tokens.end()) {
    Refuse("the vocabulary has no token \"" + std::string(text) + "\"");
  }
  return static_cast<TokenId>(found - tokens.begin());
}

void SetToken(std::vector<std::string>& tokens, std::int64_t id, std::string_view text) {
  if (id < 0 || static_cast<std::size_t>(id) >= tokens.size()) {
    Refuse("token \"" + std::string(text) + "\" has the number " + std::to_string(id) +
           ", but there are only " + std::to_string(tokens.size()) + " embeddings");
  }
  tokens[static_cast<std::size_t>(id)] = text;
}

void CheckType(const std::optional<json::Value>& part, std::string_view expected,
               const char* what) {
  const std::string_view type =
      part && !part->IsNull() ? part->GetString("type", "") : std::string_view("none");
  if (type != expected) {
    Unsupported("a " + std::string(what) + " of type \"" + std::string(type) + "\"");
  }
}

void ReadNormalizer(json::Value root, TokenizerRules& rules) {
  const std::optional<json::Value> normalizer = root.Find("normalizer");
  CheckType(normalizer, "BertNormalizer", "normalizer");
  if (!normalizer->GetBool("clean_text", true)) {
    Unsupported("a normalizer that does not clean texts");
  }
  rules.folding.lower_case = normalizer->GetBool("lowercase", true);
  rules.folding.strip_accents = normalizer->GetBool("strip_accents", rules.folding.lower_case);
  rules.space_ideographs = normalizer->GetBool("handle_chinese_chars", true);
}

void ReadPieces(json::Value root, TokenizerSource& source) {
  const json::Value model = root.At("model");
  CheckType(model, "WordPiece", "tokenizer");
  if (model.GetString("continuing_subword_prefix", kContinuation) != kContinuation ||
      model.GetInteger("max_input_chars_per_word", kLongestWord) != kLongestWord) {
    Unsupported("a tokenizer with its own marks or lengths of words");
  }
  for (const json::Member member : model.At("vocab").members()) {
    SetToken(source.tokens, member.value.AsInteger(), member.key);
  }
  source.rules.unknown = FindToken(source.tokens, model.GetString("unk_token", "[UNK]"));
}

void ReadSpecials(json::Value root, TokenizerSource& source) {
  const std::optional<json::Value> added = root.Find("added_tokens");
  if (!added || added->IsNull()) {
    return;
  }
  for (const json::Value token : added->items()) {
    const std::int64_t id = token.GetInteger("id");
    const std::string_view text = token.GetString("content");
    SetToken(source.tokens, id, text);
    if (!text.empty()) {
      source.rules.specials.push_back(static_cast<TokenId>(id));
    }
  }
}

void FindEnds(TokenizerSource& source) {
  source.rules.start = FindToken(source.tokens, "[CLS]");
  source.rules.end = FindToken(source.tokens, "[SEP]");
}

}  // namespace

TokenizerSource ParseTokenizer(std::string_view json, std::size_t size) {
  const json::Document document = json::Document::Parse(json);
  const json::Value root = document.root();
  TokenizerSource source;
  source.tokens.resize(size);
  ReadPieces(root, source);
  ReadNormalizer(root, source.rules);
  CheckType(root.Find("pre_tokenizer"), "BertPreTokenizer", "pre-tokenizer");
  ReadSpecials(root, source);
  FindEnds(source);
  return source;
}

TokenizerSource ParseVocabulary(std::string_view lines, std::string_view config, std::size_t size) {
  TokenizerSource source;
  source.tokens.resize(size);
  for (std::int64_t id = 0; !lines.empty(); ++id) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    line.remove_suffix(line.ends_with('\r') ? 1 : 0);
    SetToken(source.tokens, id, line);
  }
  const json::Document document = json::Document::Parse(config.empty() ? "{}" : config);
  const json::Value root = document.root();
  source.rules.folding.lower_case = root.GetBool("do_lower_case", true);
  source.rules.folding.strip_accents =
      root.GetBool("strip_accents", source.rules.folding.lower_case);
  source.rules.space_ideographs = root.GetBool("tokenize_chinese_chars", true);
  for (const std::string_view special : kUsualSpecials) {
    if (std::find(source.tokens.begin(), source.tokens.end(), special) != source.tokens.end()) {
      source.rules.specials.push_back(FindToken(source.tokens, special));
    }
  }
  source.rules.unknown = FindToken(source.tokens, "[UNK]");
  FindEnds(source);
  return source;
}

}  // namespace ai::model
