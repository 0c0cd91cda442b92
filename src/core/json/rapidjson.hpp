// rapidjson with our settings. Private to src/core/json, and the only file that includes it.
//
// - It gets a namespace of its own: another extension in the same server may have been compiled
//   with other settings.
// - It never aborts: a failed assertion is an Error, running out of memory is std::bad_alloc.
// - SSE2 finds the end of a string sixteen bytes at a time, and may read up to kPadding bytes past
//   the NUL that terminates a text.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "core/error.hpp"

namespace ai::json {

inline constexpr std::size_t kPadding = 16;

[[noreturn]] inline void ThrowAssertion(const char* condition) {
  throw Error(ErrorCode::kInternal, std::string("rapidjson: assertion failed: ") + condition);
}

}  // namespace ai::json

#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#define RAPIDJSON_NAMESPACE ai::json::rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace ai::json::rapidjson {
#define RAPIDJSON_NAMESPACE_END }
#define RAPIDJSON_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ai::json::ThrowAssertion(#condition))

#include <rapidjson/document.h>
#include <rapidjson/reader.h>
#include <rapidjson/writer.h>

namespace ai::json {

/// Throws when out of memory; rapidjson's own returns null, which rapidjson does not check.
class Allocator {
 public:
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t size) { return Realloc(nullptr, 0, size); }
  void* Realloc(void* memory, std::size_t /*old_size*/, std::size_t size) {
    void* const grown = std::realloc(memory, size);
    if (grown == nullptr) {
      throw std::bad_alloc();
    }
    return grown;
  }
  static void Free(void* memory) { std::free(memory); }
};

}  // namespace ai::json
