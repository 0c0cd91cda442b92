#include "worker/process/extension.hpp"

#include "pg/guard.hpp"
#include "pg/role.hpp"
#include "pg/transaction.hpp"

namespace ai::worker {

namespace {

constexpr const char* kName = "ai";

bool TryLock(Oid extension) {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId, extension, 0);
  return LockAcquire(&tag, AccessShareLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/// Reads the current catalog, regardless of the transaction's snapshot.
void Read(Extension& extension) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
              CStringGetDatum(kName));
  Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, ExtensionNameIndexId, true, nullptr, 1, &key);
  if (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple)) {
    auto* row = reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple));
    bool is_null = true;
    const Datum version =
        heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(catalog), &is_null);
    extension.oid = row->oid;
    extension.owner = row->extowner;
    if (!is_null) {
      strlcpy(extension.version, TextDatumGetCString(version), sizeof(extension.version));
    }
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

}  // namespace

bool Extension::FitsLibrary() const noexcept {
  return std::strcmp(version, LibraryVersion()) == 0;
}

const char* LibraryVersion() noexcept {
  return AI_VERSION;
}

Extension HoldExtension() {
  return pg::Call([] {
    Extension extension;
    const Oid oid = get_extension_oid(kName, true);
    if (!OidIsValid(oid)) {
      return extension;
    }
    if (!TryLock(oid)) {
      extension.presence = Presence::kBusy;
      return extension;
    }
    // It may have been dropped and re-created just before the lock was taken.
    Read(extension);
    if (extension.oid == oid) {
      extension.presence = Presence::kThere;
    } else {
      extension.presence = OidIsValid(extension.oid) ? Presence::kBusy : Presence::kGone;
    }
    return extension;
  });
}

Extension CheckExtension() {
  pg::Transaction transaction;
  const Extension extension = HoldExtension();
  transaction.Commit();
  return extension;
}

WorkTransaction::WorkTransaction() {
  if (HoldExtension().presence != Presence::kThere) {
    throw ExtensionUnavailable();
  }
}

Extension WithExtension(const std::function<void(pg::Spi&)>& work) {
  pg::Transaction transaction;
  const Extension extension = HoldExtension();
  if (extension.presence == Presence::kThere) {
    const pg::RoleScope role(extension.owner);
    pg::Spi spi;
    work(spi);
  }
  transaction.Commit();
  return extension;
}

}  // namespace ai::worker
