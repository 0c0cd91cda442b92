// Memory contexts as C++ scopes.
#pragma once

#include "pg/guard.hpp"
#include "pg/postgres.hpp"

namespace ai::pg {

/// Makes a context current for a scope.
class MemoryContextScope final {
 public:
  explicit MemoryContextScope(MemoryContext context) noexcept
      : previous_(MemoryContextSwitchTo(context)) {}
  ~MemoryContextScope() { MemoryContextSwitchTo(previous_); }
  MemoryContextScope(const MemoryContextScope&) = delete;
  MemoryContextScope& operator=(const MemoryContextScope&) = delete;

 private:
  MemoryContext previous_;
};

/// The memory of one turn of a worker's loop. What a turn allocates is freed at its end, so that a
/// loop that runs for months does not grow.
class TurnMemory final {
 public:
  explicit TurnMemory(const char* name)
      : context_(Call([name] {
          return AllocSetContextCreateInternal(TopMemoryContext, name, ALLOCSET_DEFAULT_SIZES);
        })) {}
  ~TurnMemory() { MemoryContextDelete(context_); }
  TurnMemory(const TurnMemory&) = delete;
  TurnMemory& operator=(const TurnMemory&) = delete;

  /// Makes the memory current; resets it at the end of the scope.
  class Turn final {
   public:
    explicit Turn(TurnMemory& memory) noexcept : context_(memory.context_), scope_(context_) {}
    ~Turn() { MemoryContextReset(context_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    MemoryContext context_;
    MemoryContextScope scope_;
  };

 private:
  MemoryContext context_;
};

}  // namespace ai::pg
