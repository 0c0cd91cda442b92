// counters.cpp: conditions on the counters.
#include "mock/counters.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ai::mock {

namespace {

constexpr std::array<std::pair<std::string_view, uint64_t Counters::*>, 11> kNames{{
    {"requests", &Counters::requests},
    {"bad_requests", &Counters::bad_requests},
    {"items", &Counters::items},
    {"replies", &Counters::replies},
    {"dropped", &Counters::dropped},
    {"aborted", &Counters::aborted},
    {"connections", &Counters::connections},
    {"open", &Counters::open},
    {"tls_failures", &Counters::tls_failures},
    {"in_flight", &Counters::in_flight},
    {"hanging", &Counters::hanging},
}};

constexpr std::string_view kAtMost = "_at_most";

}  // namespace

bool Condition::Holds(const Counters& counters) const {
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
    const uint64_t now = counters.*term.counter;
    return term.at_most ? now <= term.value : now >= term.value;
  });
}

std::optional<Condition::Term> FindTerm(std::string_view name, uint64_t value) {
  const bool at_most = name.ends_with(kAtMost);
  if (at_most) {
    name.remove_suffix(kAtMost.size());
  }
  for (const auto& [known, counter] : kNames) {
    if (known == name) {
      return Condition::Term{counter, at_most, value};
    }
  }
  return std::nullopt;
}

}  // namespace ai::mock
