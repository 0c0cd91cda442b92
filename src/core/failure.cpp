// See failure.hpp.
#include "core/failure.hpp"

#include <array>

namespace ai {
namespace {

struct Entry {
  FailureClass failure_class;
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array kEntries = {
    Entry{FailureClass::kDeferred, "deferred",
          "The provider asked to retry later; no attempt is charged and the rows stay queued."},
    Entry{FailureClass::kTransient, "transient",
          "The network or the provider had a temporary problem; the rows are retried with "
          "exponential back-off."},
    Entry{FailureClass::kSuspect, "suspect",
          "The provider refused the input; the batch is bisected to find the row at fault."},
    Entry{
        FailureClass::kConfiguration, "configuration",
        "The provider does not accept this key, model or account; the rows stay queued until that "
        "is changed."},
    Entry{FailureClass::kInvalidReply, "invalid_reply",
          "The provider's reply does not match the request; nothing is stored and the rows are "
          "retried."},
    Entry{FailureClass::kReclaimed, "reclaimed",
          "The worker crashed while it held the rows; they were released with one attempt "
          "charged."},
    Entry{FailureClass::kExhausted, "exhausted",
          "No attempts are left; the row was moved to the failed table."},
};

const Entry& Find(FailureClass failure_class) {
  for (const Entry& entry : kEntries) {
    if (entry.failure_class == failure_class) {
      return entry;
    }
  }
  // Unknown errors are transient, and so is a class that an older or newer process wrote.
  return kEntries[1];
}

}  // namespace

std::string_view Name(FailureClass failure_class) {
  return Find(failure_class).name;
}

std::string_view Describe(FailureClass failure_class) {
  return Find(failure_class).sentence;
}

std::optional<FailureClass> ParseFailureClass(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) {
      return entry.failure_class;
    }
  }
  return std::nullopt;
}

}  // namespace ai
