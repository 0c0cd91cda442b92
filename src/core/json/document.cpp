// See document.hpp. A document is built by a handler of the reader, so whatever the reader refuses
// is refused here too.
#include "core/json/document.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json/reader.hpp"
#include "core/json/tape.hpp"

namespace ai::json {
namespace {

class Builder final : public Handler {
 public:
  explicit Builder(Tape& tape) : tape_(tape) {}

  void OnNull() override { AddValue(Kind::kNull); }
  void OnBool(bool value) override { AddValue(Kind::kBool).integer = value ? 1 : 0; }
  void OnInteger(std::int64_t value) override { AddValue(Kind::kInteger).integer = value; }
  void OnDouble(double value) override { AddValue(Kind::kDouble).real = value; }
  void OnString(std::string_view value) override { SetText(AddValue(Kind::kString), value); }
  void OnKey(std::string_view key) override { SetText(AddNode(Kind::kString), key); }
  void OnObjectBegin() override { Open(Kind::kObject); }
  void OnObjectEnd() override { Close(); }
  void OnArrayBegin() override { Open(Kind::kArray); }
  void OnArrayEnd() override { Close(); }

 private:
  Node& AddNode(Kind kind) {
    const std::size_t index = tape_.nodes.size();
    if (index >= std::numeric_limits<std::uint32_t>::max() - 1) {
      throw Error(ErrorCode::kLimitExceeded, "JSON document has too many values");
    }
    Node& node = tape_.nodes.emplace_back();
    node.integer = 0;
    node.size = 0;
    node.next = static_cast<std::uint32_t>(index + 1);
    node.kind = kind;
    return node;
  }

  /// Adds a value, in contrast to a key: the container counts it.
  Node& AddValue(Kind kind) {
    if (!open_.empty()) {
      ++tape_.nodes[open_.back()].size;
    }
    return AddNode(kind);
  }

  void SetText(Node& node, std::string_view text) {
    node.offset = tape_.text.size();
    node.size = static_cast<std::uint32_t>(text.size());
    tape_.text.append(text);
  }

  void Open(Kind kind) {
    const auto index = static_cast<std::uint32_t>(tape_.nodes.size());
    AddValue(kind);
    open_.push_back(index);
  }

  void Close() {
    tape_.nodes[open_.back()].next = static_cast<std::uint32_t>(tape_.nodes.size());
    open_.pop_back();
  }

  Tape& tape_;
  std::vector<std::uint32_t> open_;  // the containers that have not ended yet
};

}  // namespace

Document Document::Parse(std::string_view text, const Limits& limits) {
  auto tape = std::make_shared<Tape>();
  Builder builder(*tape);
  Read(text, builder, limits);
  return Document(std::move(tape));
}

}  // namespace ai::json
