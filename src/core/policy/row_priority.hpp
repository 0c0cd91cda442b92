// How urgent a row says it is, as a number that is added to the priority of its vectorizer.
#pragma once

#include <cstdint>
#include <string_view>

namespace ai::policy {

/// "critical" and "urgent", "high", "low", in any case and with blanks around it; a whole number is
/// itself, as far as priorities go. All else is normal: 0.
std::int16_t RowPriority(std::string_view word) noexcept;

/// The nearest number that can be a priority.
std::int16_t ClampPriority(std::int64_t priority) noexcept;

}  // namespace ai::policy
