// A text embedding model of the BERT family that runs inside the process which asks: no network, no
// second service, no thread. This is the open model with its tokenizer; an Encoder computes with
// it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/interrupt.hpp"
#include "core/model/packed_model.hpp"
#include "core/model/wordpiece.hpp"

namespace ai::model {

/// Some models want to be told what a text is for, by words before it.
enum class Purpose { kNone, kQuery, kPassage };

/// Immutable: any number of encoders may use one.
class Model {
 public:
  /// A packed file is mapped and shared with all other processes, in under a millisecond. A
  /// directory (see model_directory.hpp) is packed in memory of this process, which takes a moment
  /// and as much memory as the model; better to pack it once into a file (src/tool/pack_model.cpp).
  /// Throws Error: kMissingResource, kInvalidText or kNotSupported, naming the path.
  static std::shared_ptr<const Model> Open(const std::string& path);

  explicit Model(PackedModel packed);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::string_view name() const;
  /// What it was made from and under which license, for people to read.
  std::string_view source() const;
  std::string_view notice() const { return packed_.notice(); }
  std::size_t dimensions() const { return packed_.header().shape.hidden; }
  /// The longest text, with the two tokens at its ends; of a longer one only the start is used.
  std::size_t max_tokens() const { return packed_.header().shape.max_tokens; }
  std::string_view Prefix(Purpose purpose) const;

  /// The tokens as the model sees them: between [CLS] and [SEP], at most max_tokens().
  std::vector<TokenId> Tokenize(std::string_view text, InterruptCheck pending = nullptr) const;
  /// Their number without that limit.
  std::size_t CountTokens(std::string_view text, InterruptCheck pending = nullptr) const;

  const PackedModel& packed() const { return packed_; }
  const WordPiece& tokenizer() const { return tokenizer_; }

 private:
  PackedModel packed_;
  WordPiece tokenizer_;
};

}  // namespace ai::model
