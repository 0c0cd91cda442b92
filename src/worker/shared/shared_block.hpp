// An object in the server's shared memory, created at server start, with a lock.
#pragma once

#include <type_traits>

#include "pg/postgres.hpp"

namespace ai::worker {

/// One T for the whole server. A T with a trailing array returns its size from T::Bytes(), and its
/// constructor initializes all of it.
template <typename T>
class SharedBlock final {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  /// Requests the memory. Called when the library is preloaded.
  static void Install(const char* title) {
    name = title;
    next_request = shmem_request_hook;
    shmem_request_hook = Request;
    next_startup = shmem_startup_hook;
    shmem_startup_hook = Startup;
  }

  /// Null where the library was not preloaded.
  static T* Get() noexcept { return block; }

  /// INVARIANT: held briefly, and nothing that can ereport is called while it is held.
  class Lock final {
   public:
    Lock() noexcept { LWLockAcquire(lock, LW_EXCLUSIVE); }
    ~Lock() { LWLockRelease(lock); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
  };

 private:
  static Size Bytes() {
    if constexpr (requires { T::Bytes(); }) {
      return T::Bytes();
    } else {
      return sizeof(T);
    }
  }

  static void Request() {
    if (next_request != nullptr) {
      next_request();
    }
    RequestAddinShmemSpace(MAXALIGN(Bytes()));
    RequestNamedLWLockTranche(name, 1);
  }

  /// After a crash the server re-creates its shared memory and calls this again.
  static void Startup() {
    if (next_startup != nullptr) {
      next_startup();
    }
    bool found = false;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    void* memory = ShmemInitStruct(name, Bytes(), &found);
    block = found ? static_cast<T*>(memory) : new (memory) T;
    lock = &GetNamedLWLockTranche(name)->lock;
    LWLockRelease(AddinShmemInitLock);
  }

  static inline const char* name = nullptr;
  static inline shmem_request_hook_type next_request = nullptr;
  static inline shmem_startup_hook_type next_startup = nullptr;
  static inline T* block = nullptr;
  static inline LWLock* lock = nullptr;
};

}  // namespace ai::worker
