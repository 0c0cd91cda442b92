// A JSON text as a tree of values: for configurations, small replies and errors. Big replies are
// better read once, see reader.hpp and visitor.hpp; the same rules hold for what is accepted.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "core/json/limits.hpp"
#include "core/json/value.hpp"

namespace ai::json {

struct Tree;

/// Owns what its values refer to, and never changes: copies share it, moves leave values valid.
class Document {
 public:
  /// Throws Error as Read does. The text is not needed afterwards. Whatever limits says, nesting
  /// beyond kMaxDepth is refused: reading a tree recurses.
  static Document Parse(std::string_view text, const Limits& limits = kDocumentLimits);

  Value root() const;

 private:
  explicit Document(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}

  std::shared_ptr<const Tree> tree_;
};

}  // namespace ai::json
