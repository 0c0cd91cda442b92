#include "core/policy/row_priority.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ai::policy {
namespace {

struct Word {
  std::string_view name;
  std::int16_t priority;
};

// The numbers of ai.job_priority; see sql/tables/embedding-jobs.sql.
constexpr Word kWords[] = {{"critical", 200}, {"urgent", 200}, {"high", 100}, {"low", -100}};

constexpr char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool Equal(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return Lower(a) == Lower(b); });
}

std::string_view Trim(std::string_view word) {
  const auto first = word.find_first_not_of(' ');
  return first == word.npos ? std::string_view()
                            : word.substr(first, word.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::int16_t ClampPriority(std::int64_t priority) noexcept {
  using Limits = std::numeric_limits<std::int16_t>;
  return static_cast<std::int16_t>(
      std::clamp<std::int64_t>(priority, Limits::min(), Limits::max()));
}

std::int16_t RowPriority(std::string_view word) noexcept {
  word = Trim(word);
  for (const Word& known : kWords) {
    if (Equal(word, known.name)) {
      return known.priority;
    }
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? ClampPriority(number)
                                                                  : std::int16_t{0};
}

}  // namespace ai::policy
