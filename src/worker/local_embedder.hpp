// Embeds the texts of one request after the other with the model in this process, a slice of about
// ten milliseconds at a time: between two slices the worker answers its latch, beats, and serves
// the requests to providers.
#pragma once

#include "core/model/encoder.hpp"
#include "core/provider/embeddings.hpp"
#include "worker/lane.hpp"

namespace ai::worker {

class LocalEmbedder {
 public:
  bool busy() const { return lane_ != nullptr; }
  Lane* lane() const { return lane_; }

  /// Begins with these chunks. INVARIANT: not busy.
  void Start(Lane& lane, std::vector<Item> items);

  /// One slice. True when the vectors are there: then Take.
  bool Step();

  struct Done {
    Lane* lane;
    std::vector<Item> items;
    std::shared_ptr<provider::Embeddings> embeddings;
    std::int64_t truncated;
  };
  Done Take();

  /// Gives up what is under way.
  void Forget() { lane_ = nullptr; }

 private:
  Lane* lane_ = nullptr;
  std::vector<Item> items_;
  std::vector<std::string_view> texts_;
  std::shared_ptr<provider::Embeddings> embeddings_;
  std::optional<model::Encoder> encoder_;
};

}  // namespace ai::worker
