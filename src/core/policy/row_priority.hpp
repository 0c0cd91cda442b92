// The priority of a row, as a number that is added to the priority of its vectorizer.
#pragma once

#include <cstdint>
#include <string_view>

namespace ai::policy {

/// "critical" and "urgent", "high", "low", case-insensitive and trimmed; an integer stands for
/// itself, clamped to the range of priorities. Anything else is normal: 0.
std::int16_t RowPriority(std::string_view word) noexcept;

/// Clamps a number to the range of priorities.
std::int16_t ClampPriority(std::int64_t priority) noexcept;

}  // namespace ai::policy
