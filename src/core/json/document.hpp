// A JSON text as a tree of values: for configurations, small replies and errors. Big replies are
// better read once, see reader.hpp and visitor.hpp; the same rules hold for what is accepted.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "core/json/limits.hpp"
#include "core/json/range.hpp"
#include "core/json/value.hpp"

namespace ai::json {

/// Owns what its values refer to, and never changes: copies share it, moves leave values valid.
class Document {
 public:
  /// Throws Error as Read does. The text is not needed afterwards.
  static Document Parse(std::string_view text, const Limits& limits = kDocumentLimits);

  Value root() const { return {*tape_, 0}; }

 private:
  explicit Document(std::shared_ptr<const Tape> tape) : tape_(std::move(tape)) {}

  std::shared_ptr<const Tape> tape_;
};

}  // namespace ai::json
