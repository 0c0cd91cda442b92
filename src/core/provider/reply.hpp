// Takes the vectors out of a reply, in one pass, straight into their buffer. Whatever is not as it
// should be is named: too few vectors or too many, indexes that miss or repeat, dimensions, values
// that are no finite numbers, JSON that is none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/provider/embeddings.hpp"

namespace ai::provider {

/// Where things are in the reply of a provider, as paths of json/visitor.hpp.
struct ReplyShape {
  std::string_view vector;      // one vector
  std::string_view item = {};   // the object around it; empty if vectors stand for themselves
  std::string_view index = {};  // which text it belongs to; empty if vectors come in order
  std::string_view tokens = {};
  bool base64 = false;  // a vector may be a string
};

struct ReplyExpectation {
  std::size_t count;
  std::size_t dimensions;  // 0: any, but all vectors have the same
};

/// What is wrong with the reply, to be read after "reply ...": "has 2 embeddings instead of 3".
/// Nothing if all is well; then embeddings has all vectors in order, else it is empty. The body is
/// read in place: its content is unspecified afterwards.
std::optional<std::string> ReadReply(std::string& body, const ReplyShape& shape,
                                     const ReplyExpectation& expected, Embeddings& embeddings);

}  // namespace ai::provider
