#include "pg/datum.hpp"

#include <algorithm>

#include "core/utf8.hpp"
#include "pg/guard.hpp"
#include "pg/spi.hpp"

namespace ai::pg {

namespace {

/// pgvector's on-disk layout of `vector`, unchanged since its first release.
struct VectorLayout {
  std::int32_t varlena_header;
  std::int16_t dimensions;
  std::int16_t unused;
  float elements[FLEXIBLE_ARRAY_MEMBER];
};
constexpr std::size_t kMaxDimensions = 16000;

std::string_view ViewOf(const char* text) {
  return {text, std::strlen(text)};
}

std::string_view ToUtf8(const char* text, int length) {
  if (GetDatabaseEncoding() == PG_UTF8) {
    return {text, static_cast<std::size_t>(length)};
  }
  const char* converted = Call([&] { return pg_server_to_any(text, length, PG_UTF8); });
  if (converted == text) {
    return {text, static_cast<std::size_t>(length)};
  }
  return ViewOf(converted);
}

struct ArrayElements {
  Datum* values;
  bool* nulls;
  int count;
  int dimensions;
};

ArrayElements Deconstruct(Datum array, Oid element_type) {
  return Call([&] {
    ArrayElements elements{};
    std::int16_t width = 0;
    bool by_value = false;
    char alignment = '\0';
    get_typlenbyvalalign(element_type, &width, &by_value, &alignment);
    ArrayType* detoasted = DatumGetArrayTypeP(array);
    elements.dimensions = ARR_NDIM(detoasted);
    deconstruct_array(detoasted, element_type, width, by_value, alignment, &elements.values,
                      &elements.nulls, &elements.count);
    return elements;
  });
}

}  // namespace

std::string_view Utf8View(Datum text) {
  const struct varlena* value = Call([&] { return PG_DETOAST_DATUM_PACKED(text); });
  return ToUtf8(VARDATA_ANY(value), static_cast<int>(VARSIZE_ANY_EXHDR(value)));
}

Datum TextDatum(std::string_view utf8) {
  if (utf8.find('\0') != std::string_view::npos) {
    throw ai::Error(ErrorCode::kInvalidText, "text must not contain a null character");
  }
  return Call([&] {
    const int length = static_cast<int>(utf8.size());
    const char* text = utf8.data();
    if (GetDatabaseEncoding() == PG_UTF8) {
      return PointerGetDatum(cstring_to_text_with_len(text, length));
    }
    const char* converted = pg_any_to_server(text, length, PG_UTF8);
    return PointerGetDatum(converted == text ? cstring_to_text_with_len(text, length)
                                             : cstring_to_text(converted));
  });
}

Datum MessageDatum(std::string_view whole) {
  constexpr std::size_t kMax = 2000;
  const std::string_view message = utf8::Clip(whole, kMax);
  const int encoding = GetDatabaseEncoding();
  const bool keep_all = (encoding == PG_UTF8 || encoding == PG_SQL_ASCII) && utf8::IsValid(message);
  std::string text(message);
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return c == '\0' || (!keep_all && (c & 0x80) != 0); },
      '?');
  return TextDatum(text);
}

std::vector<std::optional<std::string_view>> TextArray(Datum array) {
  const ArrayElements elements = Deconstruct(array, TEXTOID);
  std::vector<std::optional<std::string_view>> result;
  result.reserve(elements.count);
  for (int i = 0; i < elements.count; ++i) {
    if (elements.nulls[i]) {
      result.emplace_back(std::nullopt);
    } else {
      result.emplace_back(Utf8View(elements.values[i]));
    }
  }
  return result;
}

std::vector<std::int32_t> Int4Array(Datum array, const char* argument) {
  const ArrayElements elements = Deconstruct(array, INT4OID);
  if (elements.dimensions > 1) {
    throw ai::Error(ErrorCode::kInvalidParameter,
                    std::string(argument) + " must have one dimension, not " +
                        std::to_string(elements.dimensions),
                    {}, "Call the function once for the tokens of each text.");
  }
  std::vector<std::int32_t> result;
  result.reserve(elements.count);
  for (int i = 0; i < elements.count; ++i) {
    if (elements.nulls[i]) {
      throw ai::Error(ErrorCode::kInvalidParameter,
                      std::string(argument) + " must not contain null");
    }
    result.push_back(DatumGetInt32(elements.values[i]));
  }
  return result;
}

Datum Int4ArrayDatum(std::span<const std::int32_t> elements) {
  return Call([&] {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (elements.size() + 1)));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      values[i] = Int32GetDatum(elements[i]);
    }
    return PointerGetDatum(construct_array(values, static_cast<int>(elements.size()), INT4OID,
                                           sizeof(std::int32_t), true, TYPALIGN_INT));
  });
}

std::string JsonText(Datum jsonb) {
  const char* text = Call([&] {
    Jsonb* value = DatumGetJsonbP(jsonb);
    return JsonbToCString(nullptr, &value->root, VARSIZE(value));
  });
  return std::string(ToUtf8(text, static_cast<int>(std::strlen(text))));
}

std::span<const float> VectorView(Datum vector) {
  const auto* value =
      reinterpret_cast<const VectorLayout*>(Call([&] { return PG_DETOAST_DATUM(vector); }));
  return {value->elements, static_cast<std::size_t>(value->dimensions)};
}

Datum VectorDatum(std::span<const float> elements) {
  if (elements.empty() || elements.size() > kMaxDimensions) {
    throw ai::Error(ErrorCode::kLimitExceeded,
                    "a vector has 1 to " + std::to_string(kMaxDimensions) + " dimensions, not " +
                        std::to_string(elements.size()));
  }
  const std::size_t size = offsetof(VectorLayout, elements) + elements.size_bytes();
  auto* value = Call([&] { return static_cast<VectorLayout*>(palloc0(size)); });
  SET_VARSIZE(value, size);
  value->dimensions = static_cast<std::int16_t>(elements.size());
  std::memcpy(value->elements, elements.data(), elements.size_bytes());
  return PointerGetDatum(value);
}

Datum ArrayDatum(Oid type, std::span<const Datum> elements) {
  return Call([&] {
    int16 length = 0;
    bool by_value = false;
    char alignment = 0;
    get_typlenbyvalalign(type, &length, &by_value, &alignment);
    return PointerGetDatum(construct_array(const_cast<Datum*>(elements.data()),
                                           static_cast<int>(elements.size()), type, length,
                                           by_value, alignment));
  });
}

Datum ByteaDatum(std::span<const std::uint8_t> bytes) {
  return Call([&] {
    auto* value = static_cast<bytea*>(palloc(VARHDRSZ + bytes.size()));
    SET_VARSIZE(value, VARHDRSZ + bytes.size());
    memcpy(VARDATA(value), bytes.data(), bytes.size());
    return PointerGetDatum(value);
  });
}

std::span<const std::uint8_t> ByteaView(Datum value) {
  const auto* bytes = Call([&] { return DatumGetByteaPP(value); });
  return {reinterpret_cast<const std::uint8_t*>(VARDATA_ANY(bytes)), VARSIZE_ANY_EXHDR(bytes)};
}

std::vector<ItemPointerData> TidArray(Datum array) {
  const ArrayElements elements = Deconstruct(array, TIDOID);
  std::vector<ItemPointerData> result;
  result.reserve(static_cast<std::size_t>(elements.count));
  for (int i = 0; i < elements.count; ++i) {
    result.push_back(TidAt(elements.values[i]));
  }
  return result;
}

Datum IntervalDatum(std::chrono::milliseconds duration) {
  return Call([&] {
    auto* interval = static_cast<Interval*>(palloc0(sizeof(Interval)));
    interval->time = duration.count() * 1000;
    return IntervalPGetDatum(interval);
  });
}

Datum NullableArrayDatum(Oid type, std::span<const std::optional<Datum>> elements) {
  return Call([&] {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (elements.size() + 1)));
    auto* nulls = static_cast<bool*>(palloc(elements.size() + 1));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      values[i] = elements[i].value_or(Datum{0});
      nulls[i] = !elements[i].has_value();
    }
    int16 length = 0;
    bool by_value = false;
    char alignment = 0;
    get_typlenbyvalalign(type, &length, &by_value, &alignment);
    int dimensions[] = {static_cast<int>(elements.size())};
    int lower_bounds[] = {1};
    return PointerGetDatum(construct_md_array(values, nulls, elements.empty() ? 0 : 1, dimensions,
                                              lower_bounds, type, length, by_value, alignment));
  });
}

Datum JsonbDatum(const std::string& json) {
  const Datum value = TextDatum(json);
  return Call(
      [&] { return DirectFunctionCall1(jsonb_in, CStringGetDatum(TextDatumGetCString(value))); });
}

Oid VectorType() {
  Spi spi;
  const Rows rows = spi.Execute(
      "SELECT t.oid FROM pg_catalog.pg_type t"
      " JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=)"
      "  'pg_catalog.pg_type'::pg_catalog.regclass"
      "  AND d.objid OPERATOR(pg_catalog.=) t.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'"
      " JOIN pg_catalog.pg_extension e ON d.refobjid OPERATOR(pg_catalog.=) e.oid"
      "  AND e.extname OPERATOR(pg_catalog.=) 'vector'"
      " WHERE t.typname OPERATOR(pg_catalog.=) 'vector'");
  if (rows.count() == 0) {
    throw ai::Error(ErrorCode::kUndefinedObject, "type \"vector\" does not exist", {},
                    "Run CREATE EXTENSION vector.");
  }
  return DatumGetObjectId(rows.At(0, 0).value());
}

}  // namespace ai::pg
