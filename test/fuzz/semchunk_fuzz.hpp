// Fuzz entry: bytes become options and a document, and the semantic splitter is compared with its
// model; under a length function that no model fits, what it guarantees is checked.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/text/length.hpp"
#include "fuzz/fuzz_compare.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/semchunk_model.hpp"

namespace ai::fuzz {

/// More fickle than any tokenizer: some texts become much shorter by one more letter.
class FickleLength final : public text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override {
    std::size_t saved = 0;
    for (std::size_t at = text.find("xyz"); at != std::string_view::npos;
         at = text.find("xyz", at + 3)) {
      saved += 8;
    }
    const std::size_t length = 2 * utf8::CountCodePoints(text);
    return text.empty() ? 0 : std::max<std::size_t>(1, length - std::min(length, saved));
  }
};

inline std::string WithoutBlanks(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded decoded = utf8::DecodeAt(text, at);
    if (!utf8::IsWhitespace(decoded.code_point)) {
      out += text.substr(at, decoded.length);
    }
    at += decoded.length;
  }
  return out;
}

/// What must hold whatever the length function does: no chunk is too long, and no text gets lost.
inline void CheckFickle(const std::string& document, text::SemchunkSplitterOptions options) {
  options.length = std::make_shared<FickleLength>();
  options.strip_whitespace = false;
  text::ChunkList list(document);
  text::SemchunkSplitter(options).Split(document, list, nullptr);
  std::string all;
  for (const std::string_view chunk : list.chunks()) {
    all += WithoutBlanks(chunk);
    if (options.length->Measure(chunk) > static_cast<std::size_t>(options.chunk_size) &&
        utf8::CountCodePoints(chunk) > 1) {
      throw std::runtime_error("\"" + std::string(chunk) + "\" of \"" + document +
                               "\" is too long");
    }
  }
  if (options.chunk_overlap == 0 && all != WithoutBlanks(document)) {
    throw std::runtime_error("only \"" + all + "\" is left of \"" + document + "\"");
  }
}

inline void FuzzSemchunk(std::string_view bytes) {
  FuzzInput input(bytes);
  text::SemchunkSplitterOptions options;
  TakeSizes(input, options);
  const std::string document = input.Text();
  Compare(text::SemchunkSplitter(options), document, SemchunkModel(document, options).Run());
  CheckFickle(document, options);
}

}  // namespace ai::fuzz
