// Turns texts into vectors of length 1. Texts go through the layers in groups of a few hundred
// tokens, one after the other without padding, so that memory stays small and the work can be cut
// into slices: a process that has other duties calls Step between them.
//
//   group: embed ─▶ [ project ─▶ attend ─▶ feed ] for each layer ─▶ pool ─▶ next group
//
// project and feed go block by block of rows, attend text by text; each is a unit of work, after
// which a step may end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/interrupt.hpp"
#include "core/model/kernels.hpp"
#include "core/model/model.hpp"

namespace ai::model {

/// Keeps its working memory from one call to the next: with a small model less than 1 MB for a
/// query and some 3 MB for batches of any size. Not for use by two threads at once.
class Encoder {
 public:
  explicit Encoder(std::shared_ptr<const Model> model, const Kernels& kernels = BestKernels());

  /// The vectors of all texts one after the other; out has room for dimensions() floats each.
  /// Throws Error(kCancelled) when interrupted, kMissingResource if the weights are damaged.
  void Encode(std::span<const std::string_view> texts, std::span<float> out,
              InterruptCheck pending = nullptr, Purpose purpose = Purpose::kNone);

  /// The same in slices: Start, then Step until it returns true. INVARIANT: the texts and out live
  /// until then. A batch in which a step threw is lost; Start begins another.
  void Start(std::span<const std::string_view> texts, std::span<float> out,
             Purpose purpose = Purpose::kNone);
  /// Computes for about ten milliseconds. Returns whether all is done.
  bool Step(InterruptCheck pending = nullptr);

  /// Leaves out the texts of the batch that it has not begun with. Returns how many come before.
  std::size_t DropUnstarted();

  /// Which texts of the batch so far were longer than the model takes, and cut.
  std::span<const std::size_t> truncated() const { return truncated_; }
  /// How many tokens the batch has so far, those at the ends of texts included.
  std::size_t tokens() const { return tokens_; }

  const Model& model() const { return *model_; }

 private:
  enum class Stage : std::uint8_t { kGather, kProject, kAttend, kFeed, kPool, kDone };
  struct Piece {
    std::size_t text;
    std::size_t first_row;
    std::size_t rows;
  };

  /// Some columns of consecutive rows.
  struct View {
    float* start;
    std::size_t stride;
    std::size_t columns;
  };

  double RunUnit(InterruptCheck pending);
  double Gather(InterruptCheck pending);
  bool TakeNext(InterruptCheck pending);
  void Embed();
  double Project();
  double AttendPiece();
  double Feed();
  double Pool();
  void PoolPiece(const Piece& piece, float* out) const;
  void Advance(std::size_t end, Stage next);
  std::size_t NextBlock() const;
  void Multiply(std::size_t rows, const View& in, const Matrix& matrix, const View& out,
                Activation activation, Target target);
  void Normalize(std::size_t row, std::size_t rows, const Norm& norm);
  void Grow();

  std::shared_ptr<const Model> model_;
  const Kernels& kernels_;
  Shape shape_;

  std::span<const std::string_view> texts_;
  std::span<float> out_;
  Purpose purpose_ = Purpose::kNone;
  std::size_t next_text_ = 0;
  std::vector<std::size_t> truncated_;
  std::size_t tokens_ = 0;

  Stage stage_ = Stage::kDone;
  std::size_t layer_ = 0;
  std::size_t at_ = 0;  // the row or the piece where the stage goes on
  std::vector<Piece> pieces_;
  std::vector<TokenId> ids_;      // of the group, a row for each
  std::vector<TokenId> waiting_;  // of a text that did not fit any more

  std::vector<float> hidden_;  // rows x hidden
  std::vector<float>
      attention_;          // rows x queries, keys and values; queries become what is attended
  std::vector<float> up_;  // rows of a block x intermediate
  std::vector<float> scratch_;
};

}  // namespace ai::model
