// Who comes next, so that everybody who has something to do gets a share of what is done: first
// between owners, then between the queues of one owner, so that many queues of one do not outweigh
// one queue of another.
//
// Stride scheduling: whoever is served pays for it in a time of its own, which goes the slower the
// greater its weight is; the one whose time is the earliest comes next. Who had nothing to do for a
// while saved nothing up: it comes back at the present time of the others, and only ahead of those
// who have been served more since.
//
// A priority is a weight, and bounded: it can make one faster than others, and can never stop them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace ai::policy {

/// Of a priority: twice as much for each 100, from half (-100, "low") to four times (200, "urgent")
/// of what is normal (0).
double WeightOf(std::int32_t priority);

/// A queue that has something to do.
struct Contender {
  std::uint32_t owner = 0;
  std::int32_t queue = 0;
  std::int32_t priority = 0;
  /// What counts between owners, if that is another one: a role may put its rows in any order, but
  /// not its rows before those of others.
  std::optional<std::int32_t> granted = std::nullopt;
};

class FairShare {
 public:
  /// The place of the next one among the contenders; nothing if there are none. It stays the next
  /// one until it is served: who cannot be just now loses nothing by that.
  std::optional<std::size_t> Next(std::span<const Contender> contenders) const;

  /// It was served, which is worth so much; at least 1, for a turn is one even if nothing came of
  /// it.
  void Charge(const Contender& served, double cost);

  /// How many owners it remembers; not many more than kMostOwners.
  std::size_t owners() const { return owners_.size(); }
  static constexpr std::size_t kMostOwners = 1000;

 private:
  /// When a member comes: by its time, and of those with the same the one that was served longest
  /// ago.
  struct Turn {
    double time = 0;
    std::uint64_t served = 0;

    auto operator<=>(const Turn&) const = default;
  };

  /// Those that share one thing, each with the time up to which it has had its part.
  class Level {
   public:
    Turn TurnOf(std::int64_t member) const;
    /// The member is served: the present is its time.
    void Charge(std::int64_t member, double amount);
    bool Has(std::int64_t member) const { return turns_.contains(member); }

   private:
    std::map<std::int64_t, Turn> turns_;
    double now_ = 0;
    std::uint64_t served_ = 0;  // how many were
  };

  Turn TurnOf(const Contender& contender) const;
  void ForgetIdle();

  Level between_owners_;
  std::map<std::uint32_t, Level> owners_;  // their queues
};

}  // namespace ai::policy
