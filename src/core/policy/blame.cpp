// See blame.hpp.
#include "core/policy/blame.hpp"

namespace ai::policy {
namespace {

/// So often rows are tried together.
constexpr int kTogether = 2;
/// So often a row is tried before it is charged.
constexpr int kBeforeCharge = 3;
/// The same if nothing says that it is the row's fault. Between two failures of a row the breaker
/// counts at least one, so by then one with the usual limit is open.
constexpr int kPatience = 8;

}  // namespace

Sequel WhatFollows(const FailedRequest& request) {
  if (request.verdict.broken) {
    return Sequel::kRelease;
  }
  const bool blamed = request.verdict.follows_rows;
  if (request.failure_class == FailureClass::kInvalidReply) {
    // It did answer, and will say the same again.
    return request.rows > 1 ? Sequel::kSplit : Sequel::kCharge;
  }
  if (request.rows > 1 && (blamed || request.failures >= kTogether)) {
    return Sequel::kSplit;
  }
  return request.failures >= (blamed ? kBeforeCharge : kPatience) ? Sequel::kCharge
                                                                  : Sequel::kRetry;
}

}  // namespace ai::policy
