// Whether the extension is installed in this process's database, and whether it is ours to use now.
//
// DROP EXTENSION locks the extension first and its tables then. Who holds the extension in a
// transaction before touching the tables can neither be in its way for long nor deadlock with it.
#pragma once

#include "pg/spi.hpp"
#include "pg/transaction.hpp"

namespace ai::worker {

enum class Presence : std::uint8_t {
  kThere,
  kGone,
  kBusy,  // somebody is dropping it: keep away from its tables, and look again
};

struct Extension {
  Presence presence = Presence::kGone;
  Oid oid = InvalidOid;
  Oid owner = InvalidOid;
  char version[64] = "";

  /// Whether library and SQL objects are of one version.
  bool FitsLibrary() const noexcept;
};

const char* LibraryVersion() noexcept;

/// Call at the start of a transaction: never waits, and keeps the extension there until its end.
Extension HoldExtension();

/// The same in a transaction of its own: a look.
Extension CheckExtension();

/// Runs statements on our own tables in a short transaction, with the rights of the extension's
/// owner. If the extension is not there for us, nothing is run.
Extension WithExtension(const std::function<void(pg::Spi&)>& work);

/// The extension is being dropped, or gone: nothing of ours may be touched now.
struct ExtensionAway final : std::exception {
  const char* what() const noexcept override { return "the extension is being dropped"; }
};

/// A transaction that touches our tables. Throws ExtensionAway instead of waiting for a DROP.
class WorkTransaction final {
 public:
  WorkTransaction();
  void Commit() { transaction_.Commit(); }

 private:
  pg::Transaction transaction_;
};

}  // namespace ai::worker
