// The splitter that does not split: the whole text is one chunk, an empty text none.
#pragma once

#include "core/text/splitter.hpp"

namespace ai::text {

class WholeText final : public Splitter {
 public:
  void Split(std::string_view document, ChunkSink& sink, InterruptCheck) const override {
    if (!document.empty()) {
      sink.Add(document);
    }
  }
};

}  // namespace ai::text
