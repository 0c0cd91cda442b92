// The one door to rapidjson. Private to src/core/json: no other directory includes it, no header
// that others include includes it.
//
// As it comes, rapidjson aborts the process on a failed assertion and runs into a null pointer when
// memory is short; and another extension in the same server may bring a rapidjson of its own. Hence
// an assertion that throws, an allocator that throws, and a namespace of our own. Only the parser
// is used: its conversion of numbers (1.1.0) shifts by negative amounts and overflows integers.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "core/error.hpp"

namespace ai::json {

[[noreturn]] inline void ThrowAssertion(const char* condition) {
  throw Error(ErrorCode::kInternal, std::string("JSON parser assertion failed: ") + condition);
}

}  // namespace ai::json

#ifdef RAPIDJSON_RAPIDJSON_H_
#error "rapidjson was included before its settings"
#endif

#define RAPIDJSON_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::ai::json::ThrowAssertion(#condition))
#define RAPIDJSON_HAS_STDSTRING 1
#define RAPIDJSON_NAMESPACE ai::json::rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace ai::json::rapidjson {
#define RAPIDJSON_NAMESPACE_END }

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

namespace ai::json {

/// The names of its members are those that rapidjson asks for.
class ThrowingAllocator {
 public:
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t size) { return size == 0 ? nullptr : Checked(std::malloc(size)); }

  void* Realloc(void* old, std::size_t /*old_size*/, std::size_t new_size) {
    if (new_size == 0) {
      std::free(old);
      return nullptr;
    }
    return Checked(std::realloc(old, new_size));
  }

  static void Free(void* memory) { std::free(memory); }

 private:
  static void* Checked(void* memory) {
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    return memory;
  }
};

using RapidReader =
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

}  // namespace ai::json
