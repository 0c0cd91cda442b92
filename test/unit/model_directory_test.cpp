// Directories as models are published in, written by the tests.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/encoder.hpp"
#include "core/model/half.hpp"
#include "core/model/model_directory.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/model_fixture.hpp"

using ai::Error;
using ai::ErrorCode;
using ai::model::Model;

namespace {

constexpr std::string_view kConfig =
    R"({"model_type": "bert", "hidden_act": "gelu", "num_hidden_layers": 2,
        "num_attention_heads": 2, "hidden_size": 32, "intermediate_size": 48,
        "max_position_embeddings": 20, "vocab_size": 40, "layer_norm_eps": 1e-12,
        "type_vocab_size": 2})";

std::string Number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * i));
  }
  return text;
}

std::string Shape(const std::string& name, std::size_t size) {
  if (!name.ends_with(".weight") || name.find("LayerNorm") != std::string::npos) {
    return std::to_string(size);
  }
  const std::size_t columns =
      name.ends_with(".output.dense.weight") && name.find("attention") == std::string::npos ? 48
                                                                                            : 32;
  return std::to_string(size / columns) + ", " + std::to_string(columns);
}

/// All tensors of a tiny model as a safetensors file of that type.
std::string TinyTensors(const std::string& type, const std::string& prefix = {}) {
  const ai::test::RandomTensors tensors(7);
  PackModel(ai::test::TinySource(), tensors);
  std::string header = R"({"__metadata__": {"format": "pt"}, "ids": {"dtype": "I64",
                           "shape": [0], "data_offsets": [0, 0]})";
  std::string data;
  for (const auto& [name, values] : tensors.all()) {
    const std::size_t start = data.size();
    for (const float value : values) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      data += type == "F32"   ? Number(bits, 4)
              : type == "F16" ? Number(ai::model::ToHalf(value), 2)
                              : Number(bits >> 16, 2);
    }
    header += ", \"" + prefix + name + "\": {\"dtype\": \"" + type + "\", \"shape\": [" +
              Shape(name, values.size()) + "], \"data_offsets\": [" + std::to_string(start) + ", " +
              std::to_string(data.size()) + "]}";
  }
  header += "}";
  return Number(header.size(), 8) + header + data;
}

std::string VocabularyText() {
  std::string lines;
  for (const std::string& token : ai::test::TinyTokens()) {
    lines += token + "\n";
  }
  return lines;
}

std::string TokenizerJson(const std::string& type = "WordPiece") {
  std::string vocabulary;
  std::size_t id = 0;
  for (const std::string& token : ai::test::TinyTokens()) {
    vocabulary += (id == 0 ? "" : ", ") + ("\"" + token + "\": ") + std::to_string(id);
    ++id;
  }
  return R"({"truncation": {"max_length": 128}, "added_tokens": [
             {"id": 2, "content": "[CLS]", "special": true}, {"id": 3, "content": "[SEP]"}],
             "normalizer": {"type": "BertNormalizer", "clean_text": true, "lowercase": true,
                            "handle_chinese_chars": true, "strip_accents": null},
             "pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": ")" +
         type + R"(", "unk_token": "[UNK]", "max_input_chars_per_word": 100, "vocab": {)" +
         vocabulary + "}}}";
}

/// A directory with a good model, until a test changes it.
class TinyDirectory {
 public:
  TinyDirectory() : path_(std::filesystem::temp_directory_path() / "ai-unit-model-XXXXXX") {
    std::string name = path_.string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    Write("config.json", kConfig);
    Write("tokenizer.json", TokenizerJson());
    Write("model.safetensors", TinyTensors("F16"));
  }
  ~TinyDirectory() { std::filesystem::remove_all(path_); }
  TinyDirectory(const TinyDirectory&) = delete;
  TinyDirectory& operator=(const TinyDirectory&) = delete;

  void Write(const std::string& file, std::string_view contents) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file, std::ios::binary | std::ios::trunc) << contents;
  }
  void Remove(const std::string& file) const { std::filesystem::remove(path_ / file); }
  std::string path() const { return path_.string(); }

  /// The code and the detail of the error that opening gives.
  std::pair<ErrorCode, std::string> Problem() const {
    try {
      Model::Open(path());
    } catch (const Error& error) {
      CHECK(error.what() == "model \"" + path() + "\" cannot be used");
      CHECK(error.hint().find("config.json, model.safetensors") != std::string::npos);
      return {error.code(), error.detail()};
    }
    return {ErrorCode::kInternal, "no error"};
  }

 private:
  std::filesystem::path path_;
};

std::vector<float> Vector(const std::shared_ptr<const Model>& model, std::string_view text) {
  std::vector<float> out(model->dimensions());
  ai::model::Encoder(model).Encode({&text, 1}, out);
  return out;
}

using Problem = std::pair<ErrorCode, std::string>;

}  // namespace

TEST_CASE("a directory is opened as the packed model would be", "[model]") {
  const TinyDirectory directory;
  const auto packed = ai::test::TinyModel();
  const std::vector<float> expected = Vector(packed, "the cat sat");
  const auto model = Model::Open(directory.path());
  CHECK(model->max_tokens() == 20);
  CHECK(directory.path().ends_with(model->name()));
  CHECK(Vector(model, "the cat sat") == expected);
  CHECK(Model::Open(directory.path() + "/")->name() == model->name());

  directory.Write("model.safetensors", TinyTensors("F32", "bert."));
  CHECK(Vector(Model::Open(directory.path()), "the cat sat") == expected);
  directory.Write("model.safetensors", TinyTensors("BF16"));
  CHECK(std::fabs(Vector(Model::Open(directory.path()), "the cat sat")[0] - expected[0]) < 0.1);
}

TEST_CASE("vocab.txt serves where there is no tokenizer.json", "[model]") {
  const TinyDirectory directory;
  directory.Remove("tokenizer.json");
  CHECK(directory.Problem() ==
        Problem{ErrorCode::kMissingResource,
                "File \"vocab.txt\" cannot be read: No such file or directory."});
  directory.Write("vocab.txt", VocabularyText());
  const auto packed = ai::test::TinyModel();
  CHECK(Model::Open(directory.path())->Tokenize("The [MASK] cat") ==
        packed->Tokenize("The [MASK] cat"));
  directory.Write("tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(Model::Open(directory.path())->Tokenize("The") == packed->Tokenize("xxx"));
  directory.Write("vocab.txt", "[UNK]\n[CLS]\n");
  CHECK(directory.Problem() ==
        Problem{ErrorCode::kInvalidText,
                "File \"vocab.txt\": the vocabulary has no token \"[SEP]\"."});
  directory.Write("vocab.txt", VocabularyText() + "more\n");
  CHECK(directory.Problem() == Problem{ErrorCode::kInvalidText,
                                       "File \"vocab.txt\": token \"more\" has the number 40, "
                                       "but there are only 40 embeddings."});
}

TEST_CASE("pooling, longest text and prefixes come from their files", "[model]") {
  const TinyDirectory directory;
  const std::vector<float> mean = Vector(Model::Open(directory.path()), "the cat");
  directory.Write("1_Pooling/config.json",
                  R"({"word_embedding_dimension": 32, "pooling_mode_cls_token": true,
                      "pooling_mode_mean_tokens": false})");
  directory.Write("sentence_bert_config.json", R"({"max_seq_length": 12})");
  directory.Write("config_sentence_transformers.json",
                  R"({"prompts": {"query": "query: ", "document": "the "}})");
  const auto model = Model::Open(directory.path());
  CHECK(model->max_tokens() == 12);
  CHECK(model->Prefix(ai::model::Purpose::kQuery) == "query: ");
  CHECK(model->Prefix(ai::model::Purpose::kPassage) == "the ");
  CHECK(Vector(model, "the cat") != mean);
  directory.Write("sentence_bert_config.json", R"({"max_seq_length": 512})");
  CHECK(Model::Open(directory.path())->max_tokens() == 20);
  directory.Write("sentence_bert_config.json", R"({"max_seq_length": 1})");
  CHECK(directory.Problem() ==
        Problem{ErrorCode::kInvalidText,
                "File \"sentence_bert_config.json\": \"max_seq_length\" is out of range."});
  directory.Remove("sentence_bert_config.json");
  directory.Write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true})");
  CHECK(directory.Problem() ==
        Problem{ErrorCode::kNotSupported,
                "File \"1_Pooling/config.json\": pooling_mode_max_tokens is not supported."});
}

TEST_CASE("pooling, longest text and prefixes may be in config.json", "[model]") {
  const TinyDirectory directory;
  const std::vector<float> mean = Vector(Model::Open(directory.path()), "the cat");
  const auto with = [&](const std::string& members) {
    directory.Write("config.json", "{" + members + ", " + std::string(kConfig).substr(1));
  };
  with(R"("pooling_mode": "cls", "max_seq_length": 12, "prompts": {"query": "query: "})");
  const auto model = Model::Open(directory.path());
  CHECK(model->max_tokens() == 12);
  CHECK(model->Prefix(ai::model::Purpose::kQuery) == "query: ");
  CHECK(Vector(model, "the cat") != mean);
  directory.Write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true})");
  CHECK(Vector(Model::Open(directory.path()), "the cat") == mean);
  directory.Write("1_Pooling/config.json", R"({"pooling_mode": "mean"})");
  CHECK(Vector(Model::Open(directory.path()), "the cat") == mean);
  with(R"("pooling_mode": "max")");
  CHECK(directory.Problem() ==
        Problem{ErrorCode::kNotSupported,
                "File \"config.json\": pooling_mode \"max\" is not supported."});
}

TEST_CASE("a directory that is no BERT-style model is refused", "[model]") {
  const TinyDirectory directory;
  const auto with_config = [&](const std::string& from, const std::string& to) {
    std::string config(kConfig);
    config.replace(config.find(from), from.size(), to);
    directory.Write("config.json", config);
    return directory.Problem();
  };
  CHECK(with_config("\"bert\"", "\"roberta\"") ==
        Problem{ErrorCode::kNotSupported,
                "File \"config.json\": model_type \"roberta\" is not supported."});
  CHECK(with_config("\"gelu\"", "\"relu\"") ==
        Problem{ErrorCode::kNotSupported,
                "File \"config.json\": hidden_act \"relu\" is not supported."});
  CHECK(with_config("\"hidden_size\": 32", "\"hidden_size\": -1") ==
        Problem{ErrorCode::kInvalidText, "File \"config.json\": \"hidden_size\" is out of range."});
  CHECK(with_config("\"num_attention_heads\": 2", "\"num_attention_heads\": 4").second ==
        "File \"config.json\": a model where the attention heads are not a multiple of 16 wide is "
        "not supported.");
  CHECK(with_config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3").second ==
        "File \"model.safetensors\": there is no tensor "
        "\"encoder.layer.2.attention.self.query.weight\" of 16 or 32-bit floats.");
  CHECK(with_config("\"max_position_embeddings\": 20", "\"max_position_embeddings\": 21") ==
        Problem{ErrorCode::kInvalidText,
                "File \"model.safetensors\": tensor \"embeddings.position_embeddings.weight\" is "
                "20 x 32, expected 21 x 32."});
  directory.Write("config.json", "{");
  CHECK(directory.Problem().first == ErrorCode::kInvalidText);
  directory.Remove("config.json");
  CHECK(directory.Problem() ==
        Problem{ErrorCode::kMissingResource,
                "File \"config.json\" cannot be read: No such file or directory."});
}

TEST_CASE("a model that goes on after the pooling is refused", "[model]") {
  const TinyDirectory directory;
  const std::string modules = R"([{"type": "sentence_transformers.models.Transformer"},
                                  {"type": "sentence_transformers.models.Pooling"})";
  directory.Write("modules.json", modules + R"(, {"type": "a.Normalize"}])");
  CHECK_NOTHROW(Model::Open(directory.path()));
  directory.Write("modules.json", modules + R"(, {"type": "a.Dense"}])");
  CHECK(directory.Problem() ==
        Problem{ErrorCode::kNotSupported,
                "File \"modules.json\": a module of type \"a.Dense\" is not supported."});
}

TEST_CASE("a tokenizer of another kind is refused", "[model]") {
  const TinyDirectory directory;
  directory.Write("tokenizer.json", TokenizerJson("Unigram"));
  CHECK(directory.Problem() == Problem{ErrorCode::kNotSupported,
                                       "File \"tokenizer.json\": a tokenizer of type "
                                       "\"Unigram\" is not supported."});
  std::string tokenizer = TokenizerJson();
  tokenizer.replace(tokenizer.find("BertNormalizer"), 14, "NFKC");
  directory.Write("tokenizer.json", tokenizer);
  CHECK(directory.Problem().second ==
        "File \"tokenizer.json\": a normalizer of type \"NFKC\" is not supported.");
  tokenizer = TokenizerJson();
  tokenizer.replace(tokenizer.find("BertPreTokenizer"), 16, "Whitespace");
  directory.Write("tokenizer.json", tokenizer);
  CHECK(directory.Problem().second ==
        "File \"tokenizer.json\": a pre-tokenizer of type \"Whitespace\" is not supported.");
  directory.Write("tokenizer.json", "[]");
  CHECK(directory.Problem().first != ErrorCode::kInternal);
}

TEST_CASE("damaged weights of a directory are refused", "[model]") {
  const TinyDirectory directory;
  const std::string good = TinyTensors("F16");
  directory.Write("model.safetensors", "");
  CHECK(directory.Problem() == Problem{ErrorCode::kInvalidText,
                                       "File \"model.safetensors\": this is no safetensors file, "
                                       "or the end of it is missing."});
  for (std::size_t size = 0; size < good.size(); size += 211) {
    directory.Write("model.safetensors", std::string_view(good).substr(0, size));
    CAPTURE(size);
    REQUIRE(directory.Problem().first == ErrorCode::kInvalidText);
  }
  const auto with_header = [&](const std::string& header) {
    directory.Write("model.safetensors", Number(header.size(), 8) + header + "0123456789");
    return directory.Problem().second;
  };
  CHECK(with_header(R"({"a": {"dtype": "F32", "shape": [4611686018427387904, 4],
                        "data_offsets": [0, 0]}})") ==
        "File \"model.safetensors\": tensor \"a\" is larger than the file.");
  CHECK(with_header(R"({"a": {"dtype": "F16", "shape": [2], "data_offsets": [8, 12]}})") ==
        "File \"model.safetensors\": tensor \"a\" does not lie in the file, or the end of it is "
        "missing.");
  CHECK(with_header(R"({"a": {"dtype": "F16", "shape": [-2], "data_offsets": [0, 4]}})") ==
        "File \"model.safetensors\": \"a.shape[0]\" is negative.");
  CHECK(with_header(R"({"a": {"dtype": "F16", "shape": [2], "data_offsets": [4]}})")
            .ends_with("missing."));
}
