// counters.hpp: what is counted, and conditions on it that somebody may wait for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ai::mock {

struct Counters {
  uint64_t requests = 0;      // read to their end
  uint64_t bad_requests = 0;  // that were no HTTP, or too large
  uint64_t items = 0;         // texts in them
  uint64_t tokens = 0;
  uint64_t replies = 0;  // sent to their end
  uint64_t dropped = 0;  // connections closed or reset by a rule instead
  uint64_t aborted = 0;  // requests whose client left before the reply was sent
  uint64_t connections = 0;
  uint64_t open = 0;  // connections now
  uint64_t most_open = 0;
  uint64_t tls_failures = 0;
  uint64_t in_flight = 0;  // requests now, from the last byte read to the last byte sent
  uint64_t most_in_flight = 0;
  uint64_t hanging = 0;  // requests now held by a rule until released
  uint64_t distinct_texts = 0;
  uint64_t repeated_texts = 0;  // texts seen more than once
  uint64_t repeats = 0;         // how often a text came that had been seen before
};

/// Something that becomes true of the counters: "requests=5", or "open_at_most=0".
struct Condition {
  struct Term {
    uint64_t Counters::*counter;
    bool at_most;
    uint64_t value;
  };
  std::vector<Term> terms;

  bool Holds(const Counters& counters) const;
};

/// Reads a term by name; nothing when there is no such counter.
std::optional<Condition::Term> FindTerm(std::string_view name, uint64_t value);

}  // namespace ai::mock
