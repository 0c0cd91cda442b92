#include "core/token/estimate.hpp"

#include "core/utf8.hpp"

namespace ai::token {

std::string_view TruncateEstimated(std::string_view text, std::size_t max_tokens) {
  if (EstimateTokens(text) <= max_tokens) {
    return text;
  }
  return utf8::Clip(text, max_tokens * kEstimatedBytesPerToken);
}

}  // namespace ai::token
