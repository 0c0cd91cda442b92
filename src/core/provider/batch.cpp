// See batch.hpp.
#include "core/provider/batch.hpp"

#include "core/token/estimate.hpp"

namespace ai::provider {
namespace {

Prepared PrepareEstimated(std::string_view text, std::size_t max_tokens) {
  const std::string_view kept = max_tokens == 0 ? text : token::TruncateEstimated(text, max_tokens);
  return {kept, token::EstimateTokens(kept), kept.size() != text.size()};
}

/// Room for more under a limit, where 0 is no limit; sums cannot overflow, for each was checked.
bool HasRoom(std::size_t limit, std::size_t used, std::size_t more) {
  return limit == 0 || (used <= limit && more <= limit - used);
}

}  // namespace

Prepared Prepare(std::string_view text, const Limits& limits, const token::Encoding* encoding,
                 InterruptCheck pending) {
  const std::size_t max_tokens = limits.max_input_tokens;
  if (encoding == nullptr) {
    return PrepareEstimated(text, max_tokens);
  }
  if (max_tokens == 0) {
    return {text, encoding->Count(text, pending), false};
  }
  const std::size_t tokens = encoding->CountUpTo(text, max_tokens, pending);
  if (tokens <= max_tokens) {
    return {text, tokens, false};
  }
  const std::string_view kept = encoding->Truncate(text, max_tokens, pending);
  return {kept, encoding->Count(kept, pending), true};
}

bool Batch::Fits(const Prepared& prepared) const {
  return items_ == 0 ||
         (items_ < limits_.max_items && HasRoom(limits_.max_tokens, tokens_, prepared.tokens) &&
          HasRoom(limits_.max_bytes, bytes_, prepared.text.size()));
}

void Batch::Add(const Prepared& prepared) {
  ++items_;
  tokens_ += prepared.tokens;
  bytes_ += prepared.text.size();
}

bool Batch::full() const {
  return items_ > 0 && !Fits({.text = "x", .tokens = 1});
}

}  // namespace ai::provider
