// Whether the extension is installed in this process's database, and may be used now.
//
// DROP EXTENSION locks the extension first, then its tables. A transaction that locks the extension
// before it touches the tables neither blocks a DROP for long nor deadlocks with it.
#pragma once

#include "pg/spi.hpp"
#include "pg/transaction.hpp"

namespace ai::worker {

enum class Presence : std::uint8_t {
  kThere,
  kGone,
  kBusy,  // it is being dropped: do not touch its tables, and check again later
};

struct Extension {
  Presence presence = Presence::kGone;
  Oid oid = InvalidOid;
  Oid owner = InvalidOid;
  char version[64] = "";

  /// Whether the SQL objects have the library's version.
  bool FitsLibrary() const noexcept;
};

const char* LibraryVersion() noexcept;

/// Call at the start of a transaction: never waits, and locks the extension until the end of it.
Extension HoldExtension();

/// The same in a transaction of its own: only a check.
Extension CheckExtension();

/// Runs statements on our own tables in a short transaction, as the extension's owner. Does nothing
/// if the extension is unavailable.
Extension WithExtension(const std::function<void(pg::Spi&)>& work);

/// The extension is being dropped or has been: none of its tables may be touched.
struct ExtensionUnavailable final : std::exception {
  const char* what() const noexcept override { return "the extension is being dropped"; }
};

/// A transaction that touches our tables. Throws ExtensionUnavailable rather than wait for a DROP.
class WorkTransaction final {
 public:
  WorkTransaction();
  void Commit() { transaction_.Commit(); }

 private:
  pg::Transaction transaction_;
};

}  // namespace ai::worker
