// Byte-pair merging as its definition says it, slowly: what the fast ways are compared with.
#pragma once

#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/token/token_id.hpp"

namespace ai::test {

class ReferenceMerge {
 public:
  explicit ReferenceMerge(const std::vector<std::string>& tokens) {
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      ranks_.emplace(tokens[id], static_cast<token::TokenId>(id));
    }
  }

  std::vector<token::Token> operator()(std::string_view piece) const {
    std::vector<std::string> parts;
    for (const char c : piece) {
      parts.emplace_back(1, c);
    }
    for (;;) {
      std::size_t best = 0;
      auto best_rank = ranks_.end();
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto rank = ranks_.find(parts[i] + parts[i + 1]);
        if (rank != ranks_.end() &&
            (best_rank == ranks_.end() || rank->second < best_rank->second)) {
          best = i;
          best_rank = rank;
        }
      }
      if (best_rank == ranks_.end()) {
        break;
      }
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    std::vector<token::Token> tokens;
    for (const std::string& part : parts) {
      tokens.push_back({ranks_.at(part), static_cast<std::uint32_t>(part.size())});
    }
    return tokens;
  }

 private:
  std::map<std::string, token::TokenId> ranks_;
};

/// Tokens made by joining random ones, so that merges get in each other's way as much as they can.
inline std::vector<std::string> RandomTokens(std::mt19937_64& random, std::string_view alphabet,
                                             std::size_t count, std::size_t longest) {
  std::vector<std::string> parts;
  for (const char c : alphabet) {
    parts.emplace_back(1, c);
  }
  std::vector<std::string> tokens;
  std::map<std::string, bool> known;
  for (std::size_t tries = 0; tokens.size() < count && tries < 100 * count; ++tries) {
    const std::string joined = parts[random() % parts.size()] + parts[random() % parts.size()];
    if (joined.size() <= longest && known.emplace(joined, true).second) {
      tokens.push_back(joined);
      parts.push_back(joined);
    }
  }
  return tokens;
}

}  // namespace ai::test
