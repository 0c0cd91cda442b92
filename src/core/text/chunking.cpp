#include "core/text/chunking.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text/character_text_splitter.hpp"
#include "core/text/recursive_character_text_splitter.hpp"
#include "core/text/semchunk_splitter.hpp"
#include "core/text/sentence_chunker.hpp"
#include "core/text/whole_text.hpp"

namespace ai::text {

namespace {

/// Values of an option that is a word.
template <typename Choice>
struct Word {
  std::string_view text;
  Choice choice;
};

constexpr std::array kKeepSeparatorWords = {
    Word<KeepSeparator>{"none", KeepSeparator::kNone},
    Word<KeepSeparator>{"start", KeepSeparator::kStart},
    Word<KeepSeparator>{"end", KeepSeparator::kEnd},
};

constexpr std::array kIncludeDelimiterWords = {
    Word<IncludeDelimiter>{"previous", IncludeDelimiter::kPrevious},
    Word<IncludeDelimiter>{"next", IncludeDelimiter::kNext},
};

template <typename Choices, typename Choice>
Choice Choose(json::Value config, std::string_view key, const Choices& words, Choice fallback) {
  const std::string_view given = config.GetString(key, "");
  if (given.empty()) {
    return fallback;
  }
  std::string known;
  for (const auto& word : words) {
    if (word.text == given) {
      return word.choice;
    }
    known += (known.empty() ? "\"" : ", \"") + std::string(word.text) + "\"";
  }
  throw Error(ErrorCode::kInvalidParameter,
              std::string(key) + " must not be \"" + std::string(given) + "\"", {},
              "Use one of " + known + ".");
}

std::vector<std::string> Strings(json::Value array) {
  std::vector<std::string> strings;
  for (const json::Value item : array.items()) {
    strings.emplace_back(item.AsString());
  }
  return strings;
}

std::optional<std::vector<std::string>> FindStrings(json::Value config, std::string_view key) {
  const std::optional<json::Value> array = config.Find(key);
  if (!array || array->IsNull()) {
    return std::nullopt;
  }
  return Strings(*array);
}

template <typename Options>
Options CommonOptions(json::Value config, const LengthLookup& find_length) {
  Options options;
  options.chunk_size = config.GetInteger("chunk_size", options.chunk_size);
  options.chunk_overlap = config.GetInteger("chunk_overlap", options.chunk_overlap);
  options.strip_whitespace = config.GetBool("strip_whitespace", options.strip_whitespace);
  const std::string_view length = config.GetString("length", "characters");
  if (length != "characters") {
    options.length = find_length(length);
  }
  return options;
}

template <typename Options>
Options SeparatorOptions(json::Value config, const LengthLookup& find_length) {
  auto options = CommonOptions<Options>(config, find_length);
  options.is_separator_regex = config.GetBool("is_separator_regex", options.is_separator_regex);
  options.keep_separator =
      Choose(config, "keep_separator", kKeepSeparatorWords, options.keep_separator);
  return options;
}

std::unique_ptr<Splitter> MakeNone(json::Value, const LengthLookup&) {
  return std::make_unique<WholeText>();
}

std::unique_ptr<Splitter> MakeCharacter(json::Value config, const LengthLookup& find_length) {
  auto options = SeparatorOptions<CharacterTextSplitterOptions>(config, find_length);
  options.separator = config.GetString("separator", options.separator);
  return std::make_unique<CharacterTextSplitter>(std::move(options));
}

std::unique_ptr<Splitter> MakeRecursive(json::Value config, const LengthLookup& find_length) {
  auto options = SeparatorOptions<RecursiveCharacterTextSplitterOptions>(config, find_length);
  options.separators = FindStrings(config, "separators").value_or(options.separators);
  return std::make_unique<RecursiveCharacterTextSplitter>(std::move(options));
}

std::unique_ptr<Splitter> MakeSentence(json::Value config, const LengthLookup& find_length) {
  auto options = CommonOptions<SentenceChunkerOptions>(config, find_length);
  options.min_sentences_per_chunk =
      config.GetInteger("min_sentences_per_chunk", options.min_sentences_per_chunk);
  options.min_characters_per_sentence =
      config.GetInteger("min_characters_per_sentence", options.min_characters_per_sentence);
  options.delimiters = FindStrings(config, "delimiters").value_or(options.delimiters);
  options.cjk_terminators = config.GetBool("cjk_terminators", options.cjk_terminators);
  options.include_delimiter =
      Choose(config, "include_delimiter", kIncludeDelimiterWords, options.include_delimiter);
  return std::make_unique<SentenceChunker>(std::move(options));
}

std::unique_ptr<Splitter> MakeSemantic(json::Value config, const LengthLookup& find_length) {
  return std::make_unique<SemchunkSplitter>(
      CommonOptions<SemchunkSplitterOptions>(config, find_length));
}

struct Implementation {
  std::string_view name;
  std::unique_ptr<Splitter> (*make)(json::Value, const LengthLookup&);
};

constexpr std::array kImplementations = {
    Implementation{"none", MakeNone},
    Implementation{"character_text_splitter", MakeCharacter},
    Implementation{"recursive_character_text_splitter", MakeRecursive},
    Implementation{"sentence", MakeSentence},
    Implementation{"semantic", MakeSemantic},
};

}  // namespace

std::unique_ptr<Splitter> MakeSplitter(json::Value config, const LengthLookup& find_length) {
  if (config.GetString("config_type") != "chunking") {
    throw Error(ErrorCode::kInvalidParameter, "invalid config_type for chunking config", {},
                "Use one of the functions ai.chunking_...() to make it.");
  }
  const std::string_view name = config.GetString("implementation");
  for (const Implementation& implementation : kImplementations) {
    if (implementation.name == name) {
      return implementation.make(config, find_length);
    }
  }
  throw Error(ErrorCode::kInvalidParameter,
              "invalid chunking implementation \"" + std::string(name) + "\"", {},
              "Use one of the functions ai.chunking_...() to make the config.");
}

}  // namespace ai::text
