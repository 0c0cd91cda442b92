// Fair scheduling of queues with work: first among owners, then among the queues of one owner, so
// that many queues of one owner do not outweigh a single queue of another.
//
// Stride scheduling: each member has a virtual time that advances when it is served, the more
// slowly the greater its weight; the one with the earliest time comes next. A member that was idle
// accumulates no credit: it re-enters at the current virtual time of the others.
//
// A priority is a bounded weight: it can speed up one queue, but never starve the others.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace ai::policy {

/// The weight doubles for each 100, from a half (-100, "low") to four times (200, "urgent") the
/// normal one (0).
double WeightOf(std::int32_t priority);

/// A queue that has work.
struct Contender {
  std::uint32_t owner = 0;
  std::int32_t queue = 0;
  std::int32_t priority = 0;
  /// The priority that counts among owners, if different: a role may order its own rows, but not
  /// put them before those of others.
  std::optional<std::int32_t> granted = std::nullopt;
};

class FairShare {
 public:
  /// The index of the next contender; nothing if there are none. It stays next until it is served:
  /// one that cannot be served now loses nothing.
  std::optional<std::size_t> Next(std::span<const Contender> contenders) const;

  /// It was served at so much cost; at least 1, since a turn counts even if nothing came of it.
  void Charge(const Contender& served, double cost);

  /// The number of owners tracked; not many more than kMaxOwners.
  std::size_t owners() const { return owners_.size(); }
  static constexpr std::size_t kMaxOwners = 1000;

 private:
  /// The order of members: by virtual time, then least recently served.
  struct Turn {
    double time = 0;
    std::uint64_t served = 0;

    auto operator<=>(const Turn&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  /// The members of one level, each with its virtual time.
  class Level {
   public:
    Turn TurnOf(std::int64_t member) const;
    /// The member is served: the current virtual time becomes its own.
    void Charge(std::int64_t member, double amount);
    bool Has(std::int64_t member) const { return turns_.contains(member); }

   private:
    std::map<std::int64_t, Turn> turns_;
    double now_ = 0;
    std::uint64_t served_ = 0;  // number of turns
  };

  Turn TurnOf(const Contender& contender) const;
  void ForgetIdle();

  Level between_owners_;
  std::map<std::uint32_t, Level> owners_;  // their queues
};

}  // namespace ai::policy
