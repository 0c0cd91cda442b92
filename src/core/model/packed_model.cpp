#include "core/model/packed_model.hpp"

#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/token/table_format.hpp"

namespace ai::model {
namespace {

constexpr std::uint32_t kMaxSlotBits = 24;

[[noreturn]] void Refuse(const std::string& origin, const char* problem,
                         const std::string& detail) {
  throw Error(
      ErrorCode::kMissingResource, "model \"" + origin + "\" " + problem, detail,
      "Run \"make model\" in the source directory of the extension and \"make install\", or "
      "set ai.model_path to a file made by the same version of it or to the directory of a "
      "BERT-style model.");
}

ModelHeader ReadHeader(const std::string& origin, std::string_view bytes) {
  ModelHeader header = {};
  if (bytes.size() >= sizeof(kModelMagic) &&
      std::memcmp(bytes.data(), kModelMagic, sizeof(kModelMagic)) != 0) {
    Refuse(origin, "is something else",
           "A packed model begins with \"" + std::string(kModelMagic, sizeof(kModelMagic)) + "\".");
  }
  if (bytes.size() < sizeof(header)) {
    Refuse(origin, "is damaged",
           "The file has " + std::to_string(bytes.size()) + " bytes, fewer than its header needs.");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.byte_order != token::kByteOrderMark) {
    Refuse(origin, "is for another kind of machine", "Its numbers are in the other byte order.");
  }
  if (header.version != kModelVersion) {
    Refuse(origin, "has an unknown format",
           "The file is of version " + std::to_string(header.version) + ", expected version " +
               std::to_string(kModelVersion) + ".");
  }
  if (bytes.size() != header.file_size) {
    Refuse(origin, "is damaged",
           "The file has " + std::to_string(bytes.size()) + " bytes, its header says " +
               std::to_string(header.file_size) + ".");
  }
  const std::size_t checked = offsetof(ModelHeader, header_checksum);
  if (token::Checksum(bytes.substr(0, checked)) != header.header_checksum) {
    Refuse(origin, "is damaged", "Its header does not match its checksum.");
  }
  return header;
}

/// What Layout and the accessors rely on. The checksum does not vouch for that: anybody can make
/// one.
const char* ProblemOfHeader(const ModelHeader& header) {
  if (const char* const problem = ProblemOf(header.shape)) {
    return problem;
  }
  if (header.word_bits < 1 || header.word_bits > kMaxSlotBits || header.continuation_bits < 1 ||
      header.continuation_bits > kMaxSlotBits || header.special_count > kMaxSpecials) {
    return "the vocabulary has impossible sizes";
  }
  const std::uint32_t tokens = header.shape.tokens;
  bool known =
      header.unknown_token < tokens && header.start_token < tokens && header.end_token < tokens;
  for (std::uint32_t i = 0; i < header.special_count; ++i) {
    known = known && header.specials[i] < tokens;
  }
  return known ? nullptr : "a special token is not in the vocabulary";
}

bool SlotsAreSane(std::span<const token::Slot> slots, std::span<const std::uint32_t> offsets,
                  std::size_t prefix) {
  std::size_t empty = 0;
  for (const token::Slot& slot : slots) {
    if (slot.length == 0) {
      ++empty;
    } else if (slot.id >= offsets.size() - 1 ||
               slot.length + prefix != offsets[slot.id + 1] - offsets[slot.id]) {
      return false;
    }
  }
  return empty > 0;
}

bool OffsetsAscend(std::span<const std::uint32_t> offsets, std::uint32_t end) {
  std::uint32_t before = 0;
  for (const std::uint32_t offset : offsets) {
    if (offset < before) {
      return false;
    }
    before = offset;
  }
  return offsets.front() == 0 && before == end;
}

}  // namespace

/// Either a file or bytes of our own.
struct PackedModel::Storage {
  explicit Storage(const std::string& path) : file(std::in_place, path) {}
  explicit Storage(std::string&& bytes) : owned(std::move(bytes)) {}

  std::string_view bytes() const { return file ? file->bytes() : std::string_view(owned); }

  std::optional<MappedFile> file;
  std::string owned;
};

PackedModel PackedModel::Map(const std::string& path) {
  try {
    return {std::make_shared<const Storage>(path), path};
  } catch (const std::system_error& error) {
    const bool missing = error.code() == std::errc::no_such_file_or_directory;
    Refuse(path, missing ? "is not installed" : "cannot be read",
           "The operating system says: " + error.code().message() + ".");
  }
}

PackedModel PackedModel::Own(std::string bytes, const std::string& origin) {
  return {std::make_shared<const Storage>(std::move(bytes)), origin};
}

PackedModel::PackedModel(std::shared_ptr<const Storage> storage, const std::string& origin)
    : storage_(std::move(storage)),
      bytes_(storage_->bytes()),
      header_(ReadHeader(origin, bytes_)),
      layout_() {
  if (const char* const problem = ProblemOfHeader(header_)) {
    Refuse(origin, "is damaged", "In its header, " + std::string(problem) + ".");
  }
  layout_ = LayOut(header_);
  if (layout_.end != header_.file_size) {
    Refuse(origin, "is damaged", "Its size does not fit the sizes in its header.");
  }
  CheckVocabulary(origin);
}

void PackedModel::CheckVocabulary(const std::string& origin) const {
  const std::string_view vocabulary_bytes =
      bytes_.substr(sizeof(ModelHeader), layout_.token_embeddings - sizeof(ModelHeader));
  const std::span<const std::uint32_t> offsets(At<std::uint32_t>(layout_.offsets),
                                               std::size_t{header_.shape.tokens} + 1);
  const std::span<const token::Slot> words(At<token::Slot>(layout_.words),
                                           std::size_t{1} << header_.word_bits);
  const std::span<const token::Slot> continuations(At<token::Slot>(layout_.continuations),
                                                   std::size_t{1} << header_.continuation_bits);
  bool sane = token::Checksum(vocabulary_bytes) == header_.vocabulary_checksum &&
              OffsetsAscend(offsets, header_.token_bytes) && SlotsAreSane(words, offsets, 0) &&
              SlotsAreSane(continuations, offsets, kContinuation.size());
  for (std::uint32_t i = 0; sane && i < header_.special_count; ++i) {
    sane = offsets[header_.specials[i]] < offsets[header_.specials[i] + 1];
  }
  if (!sane) {
    Refuse(origin, "is damaged", "Its vocabulary does not match its checksum.");
  }
}

template <typename T>
const T* PackedModel::At(std::uint64_t offset) const {
  return reinterpret_cast<const T*>(bytes_.data() + offset);
}

std::string_view PackedModel::notice() const {
  return bytes_.substr(layout_.notice, header_.notice_bytes);
}

Vocabulary PackedModel::vocabulary() const {
  return Vocabulary(
      {{At<token::Slot>(layout_.words), std::size_t{1} << header_.word_bits},
       {At<token::Slot>(layout_.continuations), std::size_t{1} << header_.continuation_bits},
       {At<std::uint32_t>(layout_.offsets), std::size_t{header_.shape.tokens} + 1},
       At<char>(layout_.bytes)});
}

TokenizerRules PackedModel::rules() const {
  return {{header_.lower_case != 0, header_.strip_accents != 0},
          header_.space_ideographs != 0,
          header_.unknown_token,
          header_.start_token,
          header_.end_token,
          {header_.specials, header_.specials + header_.special_count}};
}

const std::uint16_t* PackedModel::TokenEmbedding(TokenId id) const {
  return At<std::uint16_t>(layout_.token_embeddings) + std::size_t{id} * header_.shape.hidden;
}

const float* PackedModel::PositionEmbedding(std::size_t position) const {
  return At<float>(layout_.position_embeddings) + position * header_.shape.hidden;
}

Norm PackedModel::first_norm() const {
  const float* const weight = At<float>(layout_.first_norm);
  return {weight, weight + header_.shape.hidden};
}

LayerWeights PackedModel::Layer(std::size_t layer) const {
  const LayerLayout& at = layout_.layer;
  const std::uint64_t start = layout_.layers + layer * at.end;
  const auto matrix = [&](std::uint64_t panels, std::uint64_t bias) {
    return Matrix{At<std::uint16_t>(start + panels), At<float>(start + bias)};
  };
  const auto norm = [&](std::uint64_t offset) {
    const float* const weight = At<float>(start + offset);
    return Norm{weight, weight + header_.shape.hidden};
  };
  return {matrix(at.attention_in, at.attention_in_bias),
          matrix(at.attention_out, at.attention_out_bias),
          norm(at.attention_norm),
          matrix(at.up, at.up_bias),
          matrix(at.down, at.down_bias),
          norm(at.output_norm)};
}

bool PackedModel::WeightsAreIntact() const {
  return token::Checksum(bytes_.substr(layout_.token_embeddings)) == header_.weights_checksum;
}

}  // namespace ai::model
