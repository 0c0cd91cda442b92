// Each kind of value, once to the core and back.
#include "pg/datum.hpp"
#include "pg/guard.hpp"

AI_FUNCTION(border_text) {
  const std::string copy(ai::pg::Utf8View(PG_GETARG_DATUM(0)));
  return ai::pg::TextDatum(copy);
}

AI_FUNCTION(border_utf8_bytes) {
  PG_RETURN_INT32(static_cast<int>(ai::pg::Utf8View(PG_GETARG_DATUM(0)).size()));
}

AI_FUNCTION(border_text_array) {
  std::string joined;
  for (const auto& element : ai::pg::TextArray(PG_GETARG_DATUM(0))) {
    joined += '<';
    joined += element.value_or("null");
    joined += '>';
  }
  return ai::pg::TextDatum(joined);
}

AI_FUNCTION(border_int_array) {
  std::int64_t sum = 0;
  for (const std::int32_t element : ai::pg::Int4Array(PG_GETARG_DATUM(0), "numbers")) {
    sum += element;
  }
  PG_RETURN_INT64(sum);
}

AI_FUNCTION(border_json) {
  return ai::pg::TextDatum(ai::pg::JsonText(PG_GETARG_DATUM(0)));
}

AI_FUNCTION(border_vector) {
  const auto elements = ai::pg::VectorView(PG_GETARG_DATUM(0));
  const std::vector<float> copy(elements.rbegin(), elements.rend());
  return ai::pg::VectorDatum(copy);
}

AI_FUNCTION(border_vector_of) {
  const std::vector<float> elements(PG_GETARG_INT32(0), 0.5F);
  return ai::pg::VectorDatum(elements);
}

AI_FUNCTION(border_vector_type) {
  PG_RETURN_OID(ai::pg::VectorType());
}
