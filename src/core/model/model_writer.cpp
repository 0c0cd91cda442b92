#include "core/model/model_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/model/half.hpp"
#include "core/model/kernels.hpp"
#include "core/token/slot_key.hpp"
#include "core/token/table_format.hpp"

namespace ai::model {
namespace {

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidParameter, "cannot pack the model: " + message);
}

template <std::size_t kSize>
void SetField(char (&field)[kSize], const std::string& value) {
  if (value.size() > kSize) {
    Refuse("\"" + value + "\" is longer than " + std::to_string(kSize) + " bytes");
  }
  value.copy(field, kSize);
}

std::uint16_t CheckedHalf(float value, const std::string& name) {
  if (!(std::fabs(value) < 65520.0F)) {
    throw Error(ErrorCode::kNotSupported, "cannot pack the model: \"" + name +
                                              "\" has a weight that is too great for 16 bits");
  }
  return ToHalf(value);
}

/// Half of the slots stay empty at least, so that a search for what is not there is short.
std::uint32_t SlotBits(std::size_t count) {
  std::uint32_t bits = 1;
  while ((std::size_t{1} << bits) < 2 * count) {
    ++bits;
  }
  return bits;
}

bool IsContinuation(const std::string& token) {
  return token.size() > kContinuation.size() && token.starts_with(kContinuation);
}

class Packer {
 public:
  Packer(const ModelSource& source, const TensorSource& tensors)
      : source_(source), tensors_(tensors), header_(), layout_() {}

  std::string Pack() {
    FillHeader();
    layout_ = LayOut(header_);
    header_.file_size = layout_.end;
    file_.assign(layout_.end, '\0');
    source_.notice.copy(file_.data() + layout_.notice, source_.notice.size());
    WriteTokens();
    WriteSlots(layout_.words, header_.word_bits, false);
    WriteSlots(layout_.continuations, header_.continuation_bits, true);
    WriteEmbeddings();
    for (std::size_t layer = 0; layer < header_.shape.layers; ++layer) {
      WriteLayer(layer);
    }
    Seal();
    return std::move(file_);
  }

 private:
  void FillHeader() {
    std::memcpy(header_.magic, kModelMagic, sizeof(kModelMagic));
    header_.byte_order = token::kByteOrderMark;
    header_.version = kModelVersion;
    SetField(header_.name, source_.name);
    SetField(header_.source, source_.source);
    SetField(header_.query_prefix, source_.query_prefix);
    SetField(header_.passage_prefix, source_.passage_prefix);
    header_.shape = source_.shape;
    if (const char* const problem = ProblemOf(header_.shape)) {
      throw Error(ErrorCode::kNotSupported, "cannot pack the model: " + std::string(problem));
    }
    header_.epsilon = source_.epsilon;
    FillRules();
    FillSizes();
  }

  void FillRules() {
    const TokenizerRules& rules = source_.rules;
    header_.lower_case = rules.folding.lower_case ? 1 : 0;
    header_.strip_accents = rules.folding.strip_accents ? 1 : 0;
    header_.space_ideographs = rules.space_ideographs ? 1 : 0;
    header_.unknown_token = rules.unknown;
    header_.start_token = rules.start;
    header_.end_token = rules.end;
    if (rules.specials.size() > kMaxSpecials) {
      Refuse("it has more than " + std::to_string(kMaxSpecials) + " special tokens");
    }
    header_.special_count = static_cast<std::uint32_t>(rules.specials.size());
    std::copy(rules.specials.begin(), rules.specials.end(), header_.specials);
  }

  void FillSizes() {
    if (source_.tokens.size() != header_.shape.tokens) {
      Refuse("it has " + std::to_string(source_.tokens.size()) + " tokens, not " +
             std::to_string(header_.shape.tokens));
    }
    std::size_t bytes = 0;
    std::size_t continuations = 0;
    for (const std::string& token : source_.tokens) {
      bytes += token.size();
      continuations += IsContinuation(token) ? 1 : 0;
    }
    constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
    if (bytes > kMaxBytes || source_.notice.size() > kMaxBytes) {
      Refuse("its texts are too long");
    }
    header_.token_bytes = static_cast<std::uint32_t>(bytes);
    header_.notice_bytes = static_cast<std::uint32_t>(source_.notice.size());
    header_.word_bits = SlotBits(source_.tokens.size() - continuations);
    header_.continuation_bits = SlotBits(continuations);
  }

  template <typename T>
  T* At(std::uint64_t offset) {
    return reinterpret_cast<T*>(file_.data() + offset);
  }

  void WriteTokens() {
    std::uint32_t* offsets = At<std::uint32_t>(layout_.offsets);
    std::uint32_t at = 0;
    for (const std::string& token : source_.tokens) {
      *offsets++ = at;
      token.copy(file_.data() + layout_.bytes + at, token.size());
      at += static_cast<std::uint32_t>(token.size());
    }
    *offsets = at;
  }

  void WriteSlots(std::uint64_t offset, std::uint32_t bits, bool continuations) {
    token::Slot* const slots = At<token::Slot>(offset);
    const std::size_t mask = (std::size_t{1} << bits) - 1;
    for (std::uint32_t id = 0; id < source_.tokens.size(); ++id) {
      std::string_view text = source_.tokens[id];
      if (text.empty() || IsContinuation(source_.tokens[id]) != continuations) {
        continue;
      }
      text.remove_prefix(continuations ? kContinuation.size() : 0);
      const std::uint64_t key = token::SlotKey(text);
      std::size_t at = token::HashBits(key, bits);
      while (slots[at].length != 0) {
        if (source_.tokens[slots[at].id] == source_.tokens[id]) {
          Refuse("tokens " + std::to_string(slots[at].id) + " and " + std::to_string(id) +
                 " are the same");
        }
        at = (at + 1) & mask;
      }
      slots[at] = {key, id, static_cast<std::uint32_t>(text.size())};
    }
  }

  const std::vector<float>& Read(const std::string& name, std::size_t rows, std::size_t columns) {
    tensor_.resize(rows * columns);
    tensors_.Read(name, rows, columns, tensor_);
    return tensor_;
  }

  void WriteVector(const std::string& name, std::size_t count, std::uint64_t offset) {
    const std::vector<float>& values = Read(name, 1, count);
    std::memcpy(At<float>(offset), values.data(), count * sizeof(float));
  }

  void WriteNorm(const std::string& name, std::uint64_t offset) {
    const std::size_t hidden = header_.shape.hidden;
    WriteVector(name + ".weight", hidden, offset);
    WriteVector(name + ".bias", hidden, offset + hidden * sizeof(float));
  }

  void WriteMatrix(const std::string& name, std::size_t outputs, std::size_t inputs,
                   std::uint64_t panels, std::uint64_t bias) {
    const std::vector<float>& weights = Read(name + ".weight", outputs, inputs);
    std::uint16_t* out = At<std::uint16_t>(panels);
    for (std::size_t first = 0; first < outputs; first += kPanelWidth) {
      for (std::size_t input = 0; input < inputs; ++input) {
        for (std::size_t i = 0; i < kPanelWidth; ++i) {
          *out++ = CheckedHalf(weights[(first + i) * inputs + input], name);
        }
      }
    }
    WriteVector(name + ".bias", outputs, bias);
  }

  /// Everything is of the first type of token, so its embedding is added to each position's.
  void WriteEmbeddings() {
    const Shape& shape = header_.shape;
    const std::string name = "embeddings.word_embeddings.weight";
    std::uint16_t* out = At<std::uint16_t>(layout_.token_embeddings);
    for (const float value : Read(name, shape.tokens, shape.hidden)) {
      *out++ = CheckedHalf(value, name);
    }
    const std::vector<float> types =
        Read("embeddings.token_type_embeddings.weight", source_.token_types, shape.hidden);
    float* position = At<float>(layout_.position_embeddings);
    std::size_t column = 0;
    for (const float value :
         Read("embeddings.position_embeddings.weight", shape.positions, shape.hidden)) {
      *position++ = value + types[column];
      column = (column + 1) % shape.hidden;
    }
    WriteNorm("embeddings.LayerNorm", layout_.first_norm);
  }

  void WriteLayer(std::size_t layer) {
    const LayerLayout& at = layout_.layer;
    const std::uint64_t start = layout_.layers + layer * at.end;
    const std::size_t hidden = header_.shape.hidden;
    const std::size_t intermediate = header_.shape.intermediate;
    const std::string name = "encoder.layer." + std::to_string(layer) + ".";
    std::uint64_t part = 0;
    for (const char* const which : {"query", "key", "value"}) {
      WriteMatrix(name + "attention.self." + which, hidden, hidden,
                  start + at.attention_in + part * hidden * hidden * sizeof(std::uint16_t),
                  start + at.attention_in_bias + part * hidden * sizeof(float));
      ++part;
    }
    WriteMatrix(name + "attention.output.dense", hidden, hidden, start + at.attention_out,
                start + at.attention_out_bias);
    WriteNorm(name + "attention.output.LayerNorm", start + at.attention_norm);
    WriteMatrix(name + "intermediate.dense", intermediate, hidden, start + at.up,
                start + at.up_bias);
    WriteMatrix(name + "output.dense", hidden, intermediate, start + at.down, start + at.down_bias);
    WriteNorm(name + "output.LayerNorm", start + at.output_norm);
  }

  void Seal() {
    const std::string_view file(file_);
    header_.vocabulary_checksum = token::Checksum(
        file.substr(sizeof(ModelHeader), layout_.token_embeddings - sizeof(ModelHeader)));
    header_.weights_checksum = token::Checksum(file.substr(layout_.token_embeddings));
    std::memcpy(file_.data(), &header_, sizeof(header_));
    header_.header_checksum =
        token::Checksum(file.substr(0, offsetof(ModelHeader, header_checksum)));
    std::memcpy(file_.data(), &header_, sizeof(header_));
  }

  const ModelSource& source_;
  const TensorSource& tensors_;
  ModelHeader header_;
  Layout layout_;
  std::string file_;
  std::vector<float> tensor_;
};

}  // namespace

std::string PackModel(const ModelSource& source, const TensorSource& tensors) {
  return Packer(source, tensors).Pack();
}

}  // namespace ai::model
