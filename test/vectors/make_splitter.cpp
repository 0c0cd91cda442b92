// See make_splitter.hpp.
#include "vectors/make_splitter.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text/character_text_splitter.hpp"
#include "core/text/recursive_character_text_splitter.hpp"
#include "core/text/semchunk_splitter.hpp"
#include "core/text/sentence_chunker.hpp"
#include "vectors/counters.hpp"

namespace ai::vectors {
namespace {

/// Every parameter of a case is explicit. One that we do not read would make it a case of something
/// else than it says.
void RequireExactly(json::Value params, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!params.Find(name)) {
      throw UnreadableCase("no parameter \"" + std::string(name) + "\"");
    }
  }
  for (const json::Member member : params.members()) {
    if (std::find(names.begin(), names.end(), member.key) == names.end()) {
      throw UnreadableCase("unknown parameter \"" + std::string(member.key) + "\"");
    }
  }
}

std::vector<std::string> Strings(json::Value array) {
  std::vector<std::string> out;
  for (const json::Value item : array.items()) {
    out.emplace_back(item.AsString());
  }
  return out;
}

/// LangChain takes a boolean or a word, and any word but "end" means the start.
text::KeepSeparator KeepFrom(json::Value value) {
  if (value.kind() == json::Kind::kBool) {
    return value.AsBool() ? text::KeepSeparator::kStart : text::KeepSeparator::kNone;
  }
  if (value.AsString().empty()) {
    return text::KeepSeparator::kNone;
  }
  return value.AsString() == "end" ? text::KeepSeparator::kEnd : text::KeepSeparator::kStart;
}

template <typename Options>
Options LangChainOptions(json::Value params) {
  Options options;
  options.chunk_size = params.GetInteger("chunk_size");
  options.chunk_overlap = params.GetInteger("chunk_overlap");
  options.strip_whitespace = params.GetBool("strip_whitespace");
  options.is_separator_regex = params.GetBool("is_separator_regex");
  options.keep_separator = KeepFrom(params.At("keep_separator"));
  options.length = MakeCounter(params.GetString("length_function"));
  return options;
}

std::unique_ptr<text::Splitter> MakeCharacter(json::Value params) {
  RequireExactly(params, {"separator", "keep_separator", "chunk_size", "chunk_overlap",
                          "is_separator_regex", "strip_whitespace", "length_function"});
  auto options = LangChainOptions<text::CharacterTextSplitterOptions>(params);
  options.separator = params.GetString("separator");
  return std::make_unique<text::CharacterTextSplitter>(std::move(options));
}

std::unique_ptr<text::Splitter> MakeRecursive(json::Value params) {
  RequireExactly(params, {"separators", "keep_separator", "chunk_size", "chunk_overlap",
                          "is_separator_regex", "strip_whitespace", "length_function"});
  auto options = LangChainOptions<text::RecursiveCharacterTextSplitterOptions>(params);
  if (!params.At("separators").IsNull()) {
    options.separators = Strings(params.At("separators"));
  }
  return std::make_unique<text::RecursiveCharacterTextSplitter>(std::move(options));
}

std::unique_ptr<text::Splitter> MakeSemchunk(json::Value params) {
  RequireExactly(params, {"chunk_size", "overlap", "token_counter"});
  text::SemchunkSplitterOptions options;
  options.chunk_size = params.GetInteger("chunk_size");
  options.length = MakeCounter(params.GetString("token_counter"));
  return std::make_unique<text::SemchunkSplitter>(std::move(options));
}

text::IncludeDelimiter IncludeFrom(json::Value value) {
  if (value.IsNull() || value.AsString() == "prev") {
    return text::IncludeDelimiter::kPrevious;
  }
  if (value.AsString() == "next") {
    return text::IncludeDelimiter::kNext;
  }
  throw Error(ErrorCode::kInvalidParameter, "include_delim must be prev or next");
}

std::vector<std::string> DelimitersFrom(json::Value value) {
  if (value.IsNull()) {
    throw Error(ErrorCode::kInvalidParameter, "delim must not be null");
  }
  if (value.kind() == json::Kind::kString) {
    return {std::string(value.AsString())};
  }
  return Strings(value);
}

std::unique_ptr<text::Splitter> MakeSentence(json::Value params) {
  RequireExactly(params, {"chunk_size", "chunk_overlap", "min_sentences_per_chunk",
                          "min_characters_per_sentence", "delim", "include_delim", "tokenizer"});
  text::SentenceChunkerOptions options;
  options.chunk_size = params.GetInteger("chunk_size");
  options.chunk_overlap = params.GetInteger("chunk_overlap");
  options.min_sentences_per_chunk = params.GetInteger("min_sentences_per_chunk");
  options.min_characters_per_sentence = params.GetInteger("min_characters_per_sentence");
  options.length = MakeCounter(params.GetString("tokenizer"));
  options.include_delimiter = IncludeFrom(params.At("include_delim"));
  options.delimiters = DelimitersFrom(params.At("delim"));
  return std::make_unique<text::SentenceChunker>(std::move(options));
}

}  // namespace

std::unique_ptr<text::Splitter> MakeSplitter(std::string_view reference, json::Value params) {
  if (reference == "langchain.CharacterTextSplitter") {
    return MakeCharacter(params);
  }
  if (reference == "langchain.RecursiveCharacterTextSplitter") {
    return MakeRecursive(params);
  }
  if (reference == "chonkie.SentenceChunker") {
    return MakeSentence(params);
  }
  if (reference == "semchunk.chunk") {
    return MakeSemchunk(params);
  }
  throw UnreadableCase("unknown splitter \"" + std::string(reference) + "\"");
}

}  // namespace ai::vectors
