#include "core/model/model_directory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/file/mapped_file.hpp"
#include "core/json/document.hpp"
#include "core/model/model_writer.hpp"
#include "core/model/safetensors.hpp"
#include "core/model/tokenizer_files.hpp"

namespace ai::model {
namespace {

constexpr const char* kHint =
    "A model directory has config.json, model.safetensors (16 or 32-bit floats) and tokenizer.json "
    "or vocab.txt, of a model of the BERT family.";

class Directory {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  /// The last part of the path.
  std::string Name() const {
    const std::size_t end = path_.find_last_not_of('/');
    const std::string trimmed = path_.substr(0, end == std::string::npos ? 0 : end + 1);
    return trimmed.substr(trimmed.rfind('/') + 1);
  }

  /// Runs body, which is about one file, and says in every error which one.
  template <typename Body>
  auto About(const std::string& file, const Body& body) const {
    try {
      return body(path_ + "/" + file);
    } catch (const std::system_error& error) {
      throw Error(ErrorCode::kMissingResource, "model \"" + path_ + "\" cannot be used",
                  "File \"" + file + "\" cannot be read: " + error.code().message() + ".", kHint);
    } catch (const Error& error) {
      throw Error(error.code(), "model \"" + path_ + "\" cannot be used",
                  "File \"" + file + "\": " + error.what() + ".", kHint);
    }
  }

  /// The contents of a small file; nothing if it is not there.
  std::optional<std::string> Find(const std::string& file) const {
    return About(file, [](const std::string& path) -> std::optional<std::string> {
      try {
        const MappedFile mapped(path);
        return std::string(mapped.bytes());
      } catch (const std::system_error& error) {
        if (error.code() == std::errc::no_such_file_or_directory) {
          return std::nullopt;
        }
        throw;
      }
    });
  }

 private:
  std::string path_;
};

[[noreturn]] void Unsupported(const std::string& what) {
  throw Error(ErrorCode::kNotSupported, what + " is not supported");
}

std::uint32_t GetSize(json::Value config, std::string_view key) {
  const std::int64_t size = config.GetInteger(key);
  if (size < 1 || size > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::kInvalidText, "\"" + std::string(key) + "\" is out of range");
  }
  return static_cast<std::uint32_t>(size);
}

void Expect(json::Value config, std::string_view key, std::string_view expected) {
  const std::string_view found = config.GetString(key, expected);
  if (found != expected) {
    Unsupported(std::string(key) + " \"" + std::string(found) + "\"");
  }
}

void ReadConfig(const std::string& text, ModelSource& source) {
  const json::Document document = json::Document::Parse(text);
  const json::Value config = document.root();
  Expect(config, "model_type", "bert");
  Expect(config, "hidden_act", "gelu");
  Expect(config, "position_embedding_type", "absolute");
  Shape& shape = source.shape;
  shape.layers = GetSize(config, "num_hidden_layers");
  shape.heads = GetSize(config, "num_attention_heads");
  shape.hidden = GetSize(config, "hidden_size");
  shape.intermediate = GetSize(config, "intermediate_size");
  shape.positions = GetSize(config, "max_position_embeddings");
  shape.tokens = GetSize(config, "vocab_size");
  shape.max_tokens = shape.positions;
  source.token_types = config.Find("type_vocab_size") ? GetSize(config, "type_vocab_size") : 2;
  source.epsilon = static_cast<float>(config.GetDouble("layer_norm_eps", 1e-12));
  if (const char* const problem = ProblemOf(shape)) {
    Unsupported("a model where " + std::string(problem));
  }
}

/// The mode has a name, or a member for each mode says whether it is the one.
void ReadPooling(const std::string& text, ModelSource& source) {
  const json::Document document = json::Document::Parse(text);
  const std::string_view mode = document.root().GetString("pooling_mode", "");
  if (mode == "cls") {
    source.shape.pooling = Pooling::kFirst;
  } else if (mode == "mean") {
    source.shape.pooling = Pooling::kMean;
  } else if (!mode.empty()) {
    Unsupported("pooling_mode \"" + std::string(mode) + "\"");
  }
  for (const json::Member member : document.root().members()) {
    if (!member.key.starts_with("pooling_mode_") || !member.value.AsBool()) {
      continue;
    }
    if (member.key == "pooling_mode_cls_token") {
      source.shape.pooling = Pooling::kFirst;
    } else if (member.key == "pooling_mode_mean_tokens") {
      source.shape.pooling = Pooling::kMean;
    } else {
      Unsupported(std::string(member.key));
    }
  }
}

void ReadLongest(const std::string& text, ModelSource& source) {
  const json::Document document = json::Document::Parse(text);
  const std::int64_t longest = document.root().GetInteger("max_seq_length", source.shape.positions);
  if (longest < 2) {
    throw Error(ErrorCode::kInvalidText, "\"max_seq_length\" is out of range");
  }
  source.shape.max_tokens =
      static_cast<std::uint32_t>(std::min<std::int64_t>(longest, source.shape.positions));
}

void ReadPrefixes(const std::string& text, ModelSource& source) {
  const json::Document document = json::Document::Parse(text);
  const std::optional<json::Value> prompts = document.root().Find("prompts");
  if (prompts && !prompts->IsNull()) {
    source.query_prefix = prompts->GetString("query", "");
    source.passage_prefix = prompts->GetString("passage", prompts->GetString("document", ""));
  }
}

/// A model that goes on after the pooling, such as with a dense layer, would give other vectors.
void CheckModules(const std::string& text, ModelSource& /*source*/) {
  const json::Document document = json::Document::Parse(text);
  for (const json::Value module : document.root().items()) {
    const std::string_view type = module.GetString("type");
    const std::string_view name = type.substr(type.rfind('.') + 1);
    if (name != "Transformer" && name != "Pooling" && name != "Normalize") {
      Unsupported("a module of type \"" + std::string(type) + "\"");
    }
  }
}

void ReadTokenizer(const Directory& directory, ModelSource& source) {
  TokenizerSource tokenizer;
  if (const auto json = directory.Find("tokenizer.json")) {
    tokenizer = directory.About("tokenizer.json", [&](const std::string& /*path*/) {
      return ParseTokenizer(*json, source.shape.tokens);
    });
  } else {
    tokenizer = directory.About("vocab.txt", [&](const std::string& path) {
      const MappedFile lines(path);
      return ParseVocabulary(lines.bytes(), directory.Find("tokenizer_config.json").value_or(""),
                             source.shape.tokens);
    });
  }
  source.tokens = std::move(tokenizer.tokens);
  source.rules = std::move(tokenizer.rules);
}

/// Reads a file that need not be there.
template <typename Reader>
void ReadOptional(const Directory& directory, const std::string& file, const Reader& reader,
                  ModelSource& source) {
  if (const auto text = directory.Find(file)) {
    directory.About(file, [&](const std::string& /*path*/) { reader(*text, source); });
  }
}

}  // namespace

std::string PackDirectory(const std::string& directory_path, const DirectoryPacking& packing) {
  const Directory directory(directory_path);
  ModelSource source;
  source.name = packing.name.empty() ? directory.Name().substr(0, 64) : packing.name;
  source.source = packing.source;
  source.notice = packing.notice;
  directory.About("config.json", [&](const std::string& path) {
    const MappedFile config(path);
    const std::string text(config.bytes());
    ReadConfig(text, source);
    ReadPooling(text, source);
    ReadLongest(text, source);
    ReadPrefixes(text, source);
  });
  ReadOptional(directory, "modules.json", CheckModules, source);
  ReadOptional(directory, "1_Pooling/config.json", ReadPooling, source);
  ReadOptional(directory, "sentence_bert_config.json", ReadLongest, source);
  ReadOptional(directory, "config_sentence_transformers.json", ReadPrefixes, source);
  ReadTokenizer(directory, source);
  return directory.About("model.safetensors", [&](const std::string& path) {
    return PackModel(source, Safetensors(path));
  });
}

}  // namespace ai::model
