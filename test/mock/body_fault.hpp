// body_fault.hpp: what can be wrong with the body of a reply whose status is 200.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mock/reply.hpp"

namespace ai::mock {

enum class BodyFault {
  kNone,
  // The body as a whole (body_fault.cpp).
  kGarbage,
  kHtml,
  kEmpty,
  kTruncated,
  kNull,
  kWrongShape,
  kTrailingGarbage,
  kDeepNesting,
  kInvalidUtf8,
  kErrorWithStatus200,
  // The list of items (items.cpp).
  kMissingItem,
  kExtraItem,
  kEmptyList,
  kWrongOrder,
  kDuplicateIndex,
  kBadIndex,
  kNoIndex,
  kNoEmbeddings,
  kNoUsage,
  // The vectors (items.cpp).
  kWrongDimensions,
  kUnevenDimensions,
  kNullItem,
  kNullValue,
  kStringValue,
  kNan,
  kInfinity,
  kZeroVector,
  kBadBase64,
};

std::optional<BodyFault> FindBodyFault(std::string_view name);

/// The names a rule may use, separated by commas.
std::string BodyFaultNames();

/// Does to the body what concerns it as a whole; leaves it alone for the other faults.
void SpoilBody(BodyFault fault, Reply& reply);

}  // namespace ai::mock
