// See vector_case.hpp.
#include "vectors/vector_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/error.hpp"
#include "core/text/splitter.hpp"
#include "core/utf8.hpp"
#include "vectors/make_splitter.hpp"

namespace ai::vectors {
namespace {

constexpr std::size_t kMaxShown = 120;  // bytes of a chunk in a message

bool HasTag(json::Value line, std::string_view tag) {
  const std::optional<json::Value> tags = line.Find("tags");
  if (!tags) {
    return false;
  }
  for (const json::Value item : tags->items()) {
    if (item.AsString() == tag) {
      return true;
    }
  }
  return false;
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char byte : text.substr(0, kMaxShown)) {
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (byte == '\t') {
      out += "\\t";
    } else {
      out += byte;
    }
  }
  return out + (text.size() > kMaxShown ? "\"..." : "\"");
}

std::string Compare(json::Value expected, const std::vector<std::string_view>& chunks) {
  std::size_t index = 0;
  for (const json::Value item : expected.items()) {
    const std::string_view want = item.AsString();
    const std::string got = index < chunks.size() ? Quote(chunks[index]) : "none";
    if (index >= chunks.size() || chunks[index] != want) {
      return "chunk " + std::to_string(index) + ": expected " + Quote(want) + ", got " + got;
    }
    ++index;
  }
  if (index < chunks.size()) {
    return "chunk " + std::to_string(index) + ": expected none, got " + Quote(chunks[index]);
  }
  return {};
}

/// Where the reference says that the chunks are, in code points. We give no offsets, but where the
/// reference has them our chunks have to be views of the document.
std::string CompareOffsets(json::Value offsets, std::string_view document,
                           const std::vector<std::string_view>& chunks) {
  std::size_t index = 0;
  for (const json::Value pair : offsets.items()) {
    std::vector<std::int64_t> want;
    for (const json::Value end : pair.items()) {
      want.push_back(end.AsInteger());
    }
    const std::string name = "offsets of chunk " + std::to_string(index) + ": ";
    if (index >= chunks.size()) {
      return name + "there is no such chunk";
    }
    const std::string_view chunk = chunks[index++];
    const std::less<const char*> is_before;
    if (is_before(chunk.data(), document.data()) ||
        is_before(document.data() + document.size(), chunk.data() + chunk.size())) {
      return name + "it is no view of the document";
    }
    const std::size_t before = static_cast<std::size_t>(chunk.data() - document.data());
    const auto begin = static_cast<std::int64_t>(utf8::CountCodePoints(document.substr(0, before)));
    const std::int64_t end = begin + static_cast<std::int64_t>(utf8::CountCodePoints(chunk));
    if (want != std::vector{begin, end}) {
      return name + "got " + std::to_string(begin) + " to " + std::to_string(end);
    }
  }
  return index == chunks.size() ? std::string() : "a chunk has no offsets";
}

/// The parameter that a message of the reference is about; of two the one named first is at fault.
std::string_view Culprit(std::string_view message) {
  constexpr std::string_view kNames[][2] = {{"chunk overlap", "chunk_overlap"},
                                            {"chunk_overlap", "chunk_overlap"},
                                            {"chunk_size", "chunk_size"},
                                            {"min_sentences", "min_sentences_per_chunk"},
                                            {"min_characters", "min_characters_per_sentence"},
                                            {"include_delim", "include_delim"},
                                            {"delim", "delim"}};
  for (const auto& [in_reference, in_ours] : kNames) {
    if (message.find(in_reference) != std::string_view::npos) {
      return in_ours;
    }
  }
  return {};
}

/// Where a pattern is wrong depends on what is put around it, so only what is wrong is compared.
std::string_view WithoutPosition(std::string_view message) {
  return message.substr(0, message.find(" at position "));
}

/// A bad parameter must be refused by its name, a bad pattern in Python's words. Whatever else the
/// reference may throw, it is no answer that we should give.
bool SameMeaning(json::Value reference, const Error& ours) {
  const std::string_view message = reference.GetString("message");
  if (reference.GetString("type") == "ValueError") {
    const std::string_view culprit = Culprit(message);
    return ours.code() == ErrorCode::kInvalidParameter && !culprit.empty() &&
           std::string_view(ours.what()).find(culprit) != std::string_view::npos;
  }
  return reference.GetString("type") == "re.error" && ours.code() == ErrorCode::kInvalidText &&
         std::string_view(ours.what()).find(WithoutPosition(message)) != std::string_view::npos;
}

/// The overlap that the reference makes of its parameter: a share of the chunk size if below 1.
double EffectiveOverlap(json::Value params) {
  const json::Value overlap = params.At("overlap");
  if (overlap.IsNull()) {
    return 0;
  }
  const double asked = overlap.AsDouble();
  const double size = params.GetDouble("chunk_size");
  return asked < 1 ? std::floor(size * asked) : std::min(asked, size - 1);
}

}  // namespace

bool IsSplitterCase(json::Value line) {
  return line.kind() == json::Kind::kObject && line.Find("splitter");
}

std::optional<std::string> SkipReason(json::Value line) {
  if (HasTag(line, "py_quirk")) {
    return "py_quirk: depends on Python's capture groups, flags or escapes";
  }
  if (HasTag(line, "min_chars_bytes_vs_codepoints")) {
    return "min_chars_bytes_vs_codepoints: the reference counts bytes here, we count code points";
  }
  if (line.GetString("splitter") == "semchunk.chunk") {
    if (line.GetString("spec8", "differs") == "differs") {
      return "spec8 = differs: not valid for the fixed hierarchy";
    }
    if (EffectiveOverlap(line.At("params")) != 0) {
      return "overlap: not valid for the fixed hierarchy, whose overlap is whole pieces";
    }
  }
  return std::nullopt;
}

std::optional<std::string> Check(json::Value line) {
  const std::string_view document = line.GetString("text");
  const std::optional<json::Value> error = line.Find("error");
  const bool must_fail = error && !error->IsNull();
  text::ChunkList list(document);
  try {
    MakeSplitter(line.GetString("splitter"), line.At("params"))->Split(document, list, nullptr);
  } catch (const Error& thrown) {
    if (!must_fail) {
      return std::string("unexpected error: ") + thrown.what();
    }
    if (!SameMeaning(*error, thrown)) {
      return "expected the error " + Quote(error->GetString("message")) + ", got " +
             Quote(thrown.what());
    }
    return std::nullopt;
  }
  if (must_fail) {
    return "expected the error " + Quote(error->GetString("message")) + ", got " +
           std::to_string(list.chunks().size()) + " chunks";
  }
  std::string difference = Compare(line.At("chunks"), list.chunks());
  const std::optional<json::Value> offsets = line.Find("offsets");
  if (difference.empty() && offsets) {
    difference = CompareOffsets(*offsets, document, list.chunks());
  }
  return difference.empty() ? std::nullopt : std::optional(difference);
}

}  // namespace ai::vectors
