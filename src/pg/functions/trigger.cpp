// The trigger functions on a vectorizer's source table, and what their conditions call.
#include "core/policy/row_priority.hpp"
#include "pg/guard.hpp"
#include "pg/queue/queue_batch.hpp"

namespace {

using ai::pg::QueueRoute;

/// Found once per statement and trigger.
const QueueRoute& RouteOf(FunctionCallInfo fcinfo, const TriggerData& event) {
  auto* route = static_cast<QueueRoute*>(fcinfo->flinfo->fn_extra);
  if (route == nullptr) {
    route =
        static_cast<QueueRoute*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(QueueRoute)));
    *route = ai::pg::FindRoute(event);
    fcinfo->flinfo->fn_extra = route;
  }
  return *route;
}

bool SameKey(const QueueRoute& route, TupleTableSlot* left, TupleTableSlot* right) {
  for (int i = 0; i < route.key_count; ++i) {
    const AttrNumber column = route.source_columns[i];
    bool left_null = false;
    bool right_null = false;
    const Datum left_value = slot_getattr(left, column, &left_null);
    const Datum right_value = slot_getattr(right, column, &right_null);
    const Form_pg_attribute attribute = TupleDescAttr(left->tts_tupleDescriptor, column - 1);
    if (left_null != right_null ||
        (!left_null &&
         !datum_image_eq(left_value, right_value, attribute->attbyval, attribute->attlen))) {
      return false;
    }
  }
  return true;
}

const TriggerData& RequireTrigger(FunctionCallInfo fcinfo) {
  if (!CALLED_AS_TRIGGER(fcinfo)) {
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("function may only be called by triggers of vectorizers"));
  }
  return *reinterpret_cast<const TriggerData*>(fcinfo->context);
}

/// The two toast pointers are the same: so is the value, without fetching it. An update leaves the
/// pointer of a column that it does not touch as it is.
bool SameToastPointer(Datum left, Datum right) {
  const auto* a = reinterpret_cast<const varlena*>(DatumGetPointer(left));
  const auto* b = reinterpret_cast<const varlena*>(DatumGetPointer(right));
  return VARATT_IS_EXTERNAL_ONDISK(a) && VARATT_IS_EXTERNAL_ONDISK(b) &&
         std::memcmp(a, b, VARSIZE_EXTERNAL(a)) == 0;
}

struct TypeLayout {
  std::int16_t length;
  bool by_value;
};

const TypeLayout& LayoutOf(FunctionCallInfo fcinfo) {
  auto* layout = static_cast<TypeLayout*>(fcinfo->flinfo->fn_extra);
  if (layout == nullptr) {
    layout =
        static_cast<TypeLayout*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(TypeLayout)));
    get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, 0), &layout->length, &layout->by_value);
    fcinfo->flinfo->fn_extra = layout;
  }
  return *layout;
}

}  // namespace

// After a row was inserted, deleted, or updated in a column that matters.
AI_FUNCTION(ai_vectorizer_enqueue) {
  const TriggerData& event = RequireTrigger(fcinfo);
  const QueueRoute& route = RouteOf(fcinfo, event);
  if (TRIGGER_FIRED_BY_UPDATE(event.tg_event)) {
    ai::pg::CollectKey(route, event.tg_newslot);
    if (!SameKey(route, event.tg_trigslot, event.tg_newslot)) {
      ai::pg::CollectKey(route, event.tg_trigslot);
    }
  } else {
    ai::pg::CollectKey(route, event.tg_trigslot);
  }
  return PointerGetDatum(nullptr);
}

// What a row's priority, as text, adds to that of its vectorizer; for queue entries that no trigger
// makes.
AI_FUNCTION(ai_row_priority) {
  const text* word = PG_GETARG_TEXT_PP(0);
  PG_RETURN_INT32(ai::policy::RowPriority({VARDATA_ANY(word), VARSIZE_ANY_EXHDR(word)}));
}

// After a statement: writes the collected keys to the queue.
AI_FUNCTION(ai_vectorizer_flush) {
  RequireTrigger(fcinfo);
  ai::pg::FlushQueueBatches();
  return PointerGetDatum(nullptr);
}

// For functions that read a queue inside the transaction that fills it.
AI_FUNCTION(ai_vectorizer_flush_pending) {
  ai::pg::FlushQueueBatches();
  PG_RETURN_VOID();
}

// Whether two values differ in any byte. Equality operators are of no use here: some types have
// none, and a collation may call different texts equal.
AI_FUNCTION(ai_changed) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) {
    PG_RETURN_BOOL(PG_ARGISNULL(0) != PG_ARGISNULL(1));
  }
  const Datum left = PG_GETARG_DATUM(0);
  const Datum right = PG_GETARG_DATUM(1);
  const TypeLayout& layout = LayoutOf(fcinfo);
  if (layout.length == -1 && SameToastPointer(left, right)) {
    PG_RETURN_BOOL(false);
  }
  PG_RETURN_BOOL(!datum_image_eq(left, right, layout.by_value, layout.length));
}
