// Where the triggers on a vectorizer's source table put their keys, and whether they may.
//
// Their arguments are the queue's schema and name, then the names of the source's key columns; and,
// if rows have a priority of their own, an empty one, which no column is called, and its column.
// Names, not numbers: partitions number their columns as they like. Anybody may create such a
// trigger, since PostgreSQL clones it to new partitions with the privileges of their creator; so it
// is checked that its table may write to the queue.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// Where a trigger's keys go and where they come from.
struct QueueRoute {
  Oid queue;
  int key_count;
  AttrNumber source_columns[INDEX_MAX_KEYS];  // of the relation that fires the trigger
  AttrNumber priority_column;                 // the same; 0: rows have no priority of their own
  Oid priority_type;                          // of that column, without domain
};

/// Registers the cache invalidation. Called once, when the library is loaded.
void InstallRouteCache();

/// The route of the trigger that fires, or an error. Locks the queue for writing until the end of
/// the subtransaction.
QueueRoute FindRoute(const TriggerData& event);

}  // namespace ai::pg
