// The name of rapidjson's value, for headers that must not include rapidjson. Private to
// src/core/json.
#pragma once

namespace ai::json {

class Allocator;

namespace rapidjson {

template <typename>
struct UTF8;
template <typename>
class MemoryPoolAllocator;
template <typename, typename>
class GenericValue;

}  // namespace rapidjson

using Node =
    rapidjson::GenericValue<rapidjson::UTF8<char>, rapidjson::MemoryPoolAllocator<Allocator>>;

}  // namespace ai::json
