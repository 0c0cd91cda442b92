#include "core/token/long_merge.hpp"

#include <algorithm>
#include <functional>

namespace ai::token {
namespace {

/// An entry of the heap: the smallest is the lowest rank, and the leftmost of those.
std::uint64_t Offer(TokenId rank, std::uint32_t start) {
  return (static_cast<std::uint64_t>(rank) << 32) | start;
}

}  // namespace

LongMerge::LongMerge(const Vocabulary& vocabulary, std::string_view piece, InterruptCheck pending,
                     std::size_t window)
    : vocabulary_(vocabulary), rest_(piece), pending_(pending), window_(window) {}

const std::vector<Token>& LongMerge::Next() {
  given_.clear();
  while (given_.empty() && !rest_.empty()) {
    const std::string_view window = rest_.substr(0, window_);
    Merge(window);
    window_tokens_.clear();
    for (std::uint32_t i = 0; i < window.size(); i = nodes_[i].end) {
      window_tokens_.push_back(TokenAt(window, i));
    }
    if (window.size() == rest_.size()) {
      given_.swap(window_tokens_);
      rest_ = {};
      break;
    }
    // How far what follows reaches into the window is a matter of a few tokens. Should it be more,
    // a longer look back and then a larger window is the way out.
    std::size_t overlap = 4 * vocabulary_.longest_token();
    while (overlap < window.size() && !GiveUpTo(window.size() - overlap)) {
      overlap *= 2;
    }
    if (given_.empty()) {
      window_ *= 2;
    }
  }
  return given_;
}

/// Gives the tokens of the window up to the first that starts at limit or later, if they are final.
bool LongMerge::GiveUpTo(std::size_t limit) {
  std::size_t count = 0;
  std::size_t begin = 0;
  for (; begin < limit; ++count) {
    begin += window_tokens_[count].length;
  }
  if (!IsFinal(begin, window_tokens_[count])) {
    return false;
  }
  given_.assign(window_tokens_.begin(),
                window_tokens_.begin() + static_cast<std::ptrdiff_t>(count));
  rest_.remove_prefix(begin);
  return true;
}

/// Whether the merge from begin on starts with the token, for each of the last possible boundaries.
bool LongMerge::IsFinal(std::size_t begin, Token token) {
  for (std::size_t back = 0; back < vocabulary_.longest_token(); ++back) {
    const std::string_view bytes = rest_.substr(begin, window_ - begin - back);
    Merge(bytes);
    if (TokenAt(bytes, 0) != token) {
      return false;
    }
  }
  return true;
}

/// Leaves the tokens of bytes in nodes_, as a list from the first.
void LongMerge::Merge(std::string_view bytes) {
  CheckInterrupt(pending_);
  SplitIntoBytes(bytes);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto start = static_cast<std::uint32_t>(heap_.back());
    const auto rank = static_cast<TokenId>(heap_.back() >> 32);
    heap_.pop_back();
    Node& left = nodes_[start];
    if (left.pair != rank) {
      continue;  // one of the two has merged with another since
    }
    Node& right = nodes_[left.end];
    right.pair = kNoToken;
    left.id = rank;
    left.end = right.end;
    if (left.end < bytes.size()) {
      nodes_[left.end].previous = start;
    }
    OfferPair(bytes, start);
    if (start > 0) {
      OfferPair(bytes, left.previous);
    }
  }
}

/// Every byte a token of its own, and all pairs up for merging.
void LongMerge::SplitIntoBytes(std::string_view bytes) {
  nodes_.resize(bytes.size());
  heap_.clear();
  for (std::uint32_t i = 0; i < bytes.size(); ++i) {
    const TokenId pair =
        i + 1 < bytes.size() ? vocabulary_.FindPair(bytes[i], bytes[i + 1]) : kNoToken;
    nodes_[i] = {i + 1, i - 1, kNoToken, pair};
    if (pair != kNoToken) {
      heap_.push_back(Offer(pair, i));
    }
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

/// Puts the token at start and the one after it up for merging, if they would make a token.
void LongMerge::OfferPair(std::string_view bytes, std::uint32_t start) {
  Node& node = nodes_[start];
  node.pair = kNoToken;
  if (node.end == bytes.size()) {
    return;
  }
  node.pair = vocabulary_.Find(bytes.substr(start, nodes_[node.end].end - start));
  if (node.pair != kNoToken) {
    heap_.push_back(Offer(node.pair, start));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
}

Token LongMerge::TokenAt(std::string_view bytes, std::uint32_t start) const {
  const Node& node = nodes_[start];
  const std::uint32_t length = node.end - start;
  const TokenId id = node.id != kNoToken ? node.id : vocabulary_.Find(bytes.substr(start, length));
  return {id, length};
}

}  // namespace ai::token
