// INVARIANT: MustYield is called by a signal handler: it reads atomics and the clock, and no more.
#include "worker/shared/owner_share.hpp"

#include <algorithm>

#include "pg/owner_scope.hpp"
#include "pg/settings.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

/// An owner whose code takes longer is considered slow.
constexpr milliseconds kSlow{500};
/// When code of an owner not known to be slow is cancelled.
constexpr milliseconds kPatience{1000};
constexpr std::chrono::seconds kMemory{60};

DatabaseSlot* database = nullptr;
bool several_owners = false;

// The owner's code that is running now.
Oid owner_at_work = InvalidOid;
SteadyTime at_work_since;
bool may_take_long = false;

SteadyTime Now() noexcept {
  return std::chrono::steady_clock::now();
}

bool IsRemembered(const SlowOwner& known) noexcept {
  return known.owner != InvalidOid && known.until.load() > Now();
}

void RememberSlow(Oid owner) noexcept {
  SlowOwner* entry = std::begin(database->slow_owners);
  for (SlowOwner& known : database->slow_owners) {
    if (known.owner == owner) {
      entry = &known;
      break;
    }
    if (known.until.load() < entry->until.load()) {
      entry = &known;
    }
  }
  entry->owner = owner;
  entry->until = Now() + kMemory;
}

void Begin(Oid owner) noexcept {
  owner_at_work = owner;
  at_work_since = Now();
  may_take_long = !several_owners || IsSlowOwner(owner);
}

void End() noexcept {
  if (Now() - at_work_since > kSlow) {
    RememberSlow(owner_at_work);
  }
}

bool MustYield() noexcept {
  return !may_take_long && Now() - at_work_since > kPatience;
}

}  // namespace

void ShareWithOtherOwners(DatabaseSlot& its_database) {
  database = &its_database;
  pg::SetOwnerWatch({.begin = Begin, .end = End, .must_yield = MustYield});
}

void SetSeveralOwners(bool several) noexcept {
  several_owners = several;
}

bool IsSlowOwner(Oid owner) noexcept {
  return several_owners &&
         std::any_of(
             std::begin(database->slow_owners), std::end(database->slow_owners),
             [&](const SlowOwner& known) { return known.owner == owner && IsRemembered(known); });
}

bool HasSlowOwners() noexcept {
  return several_owners && std::any_of(std::begin(database->slow_owners),
                                       std::end(database->slow_owners), IsRemembered);
}

}  // namespace ai::worker
