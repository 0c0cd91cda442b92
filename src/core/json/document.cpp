// See document.hpp. A document is built by a handler of the reader, so whatever the reader refuses
// is refused here too.
#include "core/json/document.hpp"

#include <algorithm>

#include "core/json/reader.hpp"
#include "core/json/tree.hpp"

namespace ai::json {
namespace {

using rapidjson::SizeType;

class Builder final : public Handler {
 public:
  explicit Builder(decltype(Tree::root)& root) : root_(root) {}

  void OnNull() override { root_.Null(); }
  void OnBool(bool value) override { root_.Bool(value); }
  void OnInteger(std::int64_t value) override { root_.Int64(value); }
  void OnDouble(double value) override { root_.Double(value); }
  void OnString(std::string_view value) override { root_.String(value.data(), Size(value), false); }
  void OnKey(std::string_view key) override { root_.Key(key.data(), Size(key), false); }
  void OnObjectBegin() override { root_.StartObject(); }
  void OnObjectEnd(std::uint32_t members) override { root_.EndObject(members); }
  void OnArrayBegin() override { root_.StartArray(); }
  void OnArrayEnd(std::uint32_t elements) override { root_.EndArray(elements); }

 private:
  static SizeType Size(std::string_view text) { return static_cast<SizeType>(text.size()); }

  decltype(Tree::root)& root_;
};

}  // namespace

Document Document::Parse(std::string_view text, const Limits& limits) {
  CheckSize(text.size(), limits);  // before copying it
  auto tree = std::make_shared<Tree>();
  tree->text = text;
  auto read = [&](decltype(Tree::root)& root) {
    Builder builder(root);
    Read(tree->text, builder, {limits.max_bytes, std::min(limits.max_depth, kMaxDepth)});
    return true;
  };
  tree->root.Populate(read);
  return Document(std::move(tree));
}

Value Document::root() const {
  return {tree_->root, tree_->root};
}

}  // namespace ai::json
