// Values on their way between PostgreSQL and the core. The core speaks UTF-8 and plain C++ types;
// the database may be in any encoding, and a value may be toasted.
//
// The views point into the value itself or into the current memory context, and are valid as long
// as that is.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// A text value as UTF-8. Throws pg::Error if a SQL_ASCII database holds something else.
std::string_view Utf8View(Datum text);

/// A text value from UTF-8, in the database's encoding. Throws ai::Error if there is a zero byte.
Datum TextDatum(std::string_view utf8);

/// A text value from external text, such as a provider's message, clipped. Never throws because of
/// its characters; those that the database's encoding may lack become question marks.
Datum MessageDatum(std::string_view whole);

/// The elements of a text[], as UTF-8; nullopt is SQL's null.
std::vector<std::optional<std::string_view>> TextArray(Datum array);

/// The elements of an int4[] of one dimension. Throws ai::Error naming the argument if it has more,
/// or if an element is null.
std::vector<std::int32_t> Int4Array(Datum array, const char* argument);

/// An int4[] of elements.
Datum Int4ArrayDatum(std::span<const std::int32_t> elements);

/// A jsonb value as JSON text in UTF-8, for the core's parser.
std::string JsonText(Datum jsonb);

/// A pgvector `vector`: its elements, and a value made of elements (1 to 16,000 of them).
std::span<const float> VectorView(Datum vector);
Datum VectorDatum(std::span<const float> elements);

/// An array of elements of a type, none of them null.
Datum ArrayDatum(Oid type, std::span<const Datum> elements);

/// The same, where nothing is SQL's null.
Datum NullableArrayDatum(Oid type, std::span<const std::optional<Datum>> elements);

/// A bytea value.
Datum ByteaDatum(std::span<const std::uint8_t> bytes);
std::span<const std::uint8_t> ByteaView(Datum bytea);

/// A tid datum, valid as long as what it points to; and the tid of a datum.
inline Datum TidDatum(const ItemPointerData* tid) {
  return PointerGetDatum(tid);
}
inline ItemPointerData TidAt(Datum tid) {
  return *reinterpret_cast<const ItemPointerData*>(DatumGetPointer(tid));
}

/// The elements of a tid[].
std::vector<ItemPointerData> TidArray(Datum array);

/// An interval of so many milliseconds.
Datum IntervalDatum(std::chrono::milliseconds duration);

/// A jsonb value from JSON text in UTF-8.
Datum JsonbDatum(const std::string& json);

/// The type `vector`, in whichever schema its extension lives. Throws ai::Error if there is none.
Oid VectorType();

}  // namespace ai::pg
