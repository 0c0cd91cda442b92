// Runs user code: triggers, constraints, policies, index expressions. It runs as the owner of the
// table, as a security-restricted operation, in its own GUC nest level that is always rolled back.
// In a background process it also has a time limit that it cannot change, and leaves nothing in the
// session: what PostgreSQL allows in a security-restricted operation nevertheless is refused or
// released here.
#pragma once

#include <chrono>

#include "pg/guard.hpp"
#include "pg/postgres.hpp"

namespace ai::pg {

/// The owner's code was cancelled. What it did is rolled back with the transaction.
class OwnerCancelled final : public std::exception {
 public:
  enum class Reason {
    kTime,   // it ran longer than ai.store_timeout
    kShare,  // it held up the work of other owners
  };
  explicit OwnerCancelled(Reason reason) noexcept : reason_(reason) {}
  Reason reason() const noexcept { return reason_; }
  const char* what() const noexcept override;

 private:
  Reason reason_;
};

/// Hooks of a background process for the begin and end of an owner's code, and whether it must
/// yield, which is called by a signal handler.
struct OwnerWatch {
  bool has_limit = true;  // of ai.store_timeout
  void (*begin)(Oid owner) noexcept = nullptr;
  void (*end)() noexcept = nullptr;
  bool (*must_yield)() noexcept = nullptr;
};

/// Call once in a background process after connecting: enables the time limit.
void LimitOwnersTime();
void SetOwnerWatch(const OwnerWatch& watch);

/// Whether an owner's code is running now, with that owner's privileges.
bool RunsOwnersCode() noexcept;

/// Use RunAsOwner.
class OwnerScope final {
 public:
  explicit OwnerScope(Oid owner);
  ~OwnerScope();
  OwnerScope(const OwnerScope&) = delete;
  OwnerScope& operator=(const OwnerScope&) = delete;

  /// The code succeeded. Throws if it left something that would outlive the transaction.
  void End();
  /// The code failed: throws OwnerCancelled if the reason is that it was cancelled here.
  void Explain();

 private:
  void Leave() noexcept;

  Oid caller_ = InvalidOid;
  int context_ = 0;
  int nest_level_ = 0;
  bool open_ = true;
};

/// Runs body with an owner's privileges. If it throws, the transaction must be rolled back.
template <typename Body>
void RunAsOwner(Oid owner, const Body& body) {
  OwnerScope scope(owner);
  try {
    body();
  } catch (const Error&) {
    scope.Explain();
    throw;
  }
  scope.End();
}

}  // namespace ai::pg
