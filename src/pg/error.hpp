// The two kinds of error at the border and how each is carried over it: PostgreSQL's as the
// exception pg::Error, ours as the fields of a report.
#pragma once

#include "core/error.hpp"
#include "pg/postgres.hpp"

namespace ai::pg {

/// A PostgreSQL error travelling through C++ frames. It owns the complete ErrorData in a memory
/// context of its own, so that it survives the abort of the transaction it came from.
class Error final : public std::exception {
 public:
  /// Takes the current error out of PostgreSQL's error state. Call only after a longjmp.
  static Error Take();

  const char* what() const noexcept override { return record_->data->message; }
  int sqlstate() const noexcept { return record_->data->sqlerrcode; }
  const ErrorData& data() const noexcept { return *record_->data; }

  /// Hands the ErrorData to the current memory context, for ReThrowError() once this is destroyed.
  ErrorData* Release() const noexcept;

 private:
  struct Record {
    Record(MemoryContext owner, ErrorData* error) noexcept : context(owner), data(error) {}
    ~Record();
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    MemoryContext context;
    ErrorData* data;
  };
  explicit Error(std::shared_ptr<Record> record) noexcept : record_(std::move(record)) {}
  std::shared_ptr<Record> record_;
};

/// Whether an error in storing a single row concerns its values: a constraint, a length, a custom
/// SQLSTATE class raised by a trigger. Any other may be the table's or the server's: other rows
/// will show which.
bool IsAboutRow(const Error& error) noexcept;

/// Whether an error concerns memory, disk, connections or other transactions, and was raised by the
/// server itself, not by user code with such an SQLSTATE.
bool IsOfServer(const Error& error) noexcept;

/// Whether lock_timeout expired: raised by the server itself, not by user code with the same
/// SQLSTATE.
bool MeetsLock(const Error& error) noexcept;

/// Whether a table or column does not exist, or is not what the statement expects.
bool MissesName(const Error& error) noexcept;

/// What is left of a C++ exception when it has been destroyed: plain memory, so that a longjmp may
/// leave the frame that holds it. Longer texts are clipped at a character boundary.
///
/// Not initialised until filled: every call from SQL passes one of these, and needs it only to
/// fail.
struct ErrorReport {
  int sqlstate;
  bool cancelled;
  char message[2048];
  char detail[2048];
  char hint[1024];

  void FillUnknown() noexcept;
  void Fill(const ai::Error& error) noexcept;
  void Fill(const std::bad_alloc& error) noexcept;
  void Fill(const std::exception& error) noexcept;
};

/// The SQLSTATE for each of the core's error codes.
int SqlState(ErrorCode code) noexcept;

/// Ends in ereport(ERROR) with the report's fields.
/// INVARIANT: no C++ object with a destructor lives in the frames that this leaves.
[[noreturn]] void Raise(const ErrorReport& report);

/// From now on an exception that escapes every guard ends its own process with a FATAL report;
/// the default handler would abort() and take every session down.
void InstallTerminateHandler() noexcept;

}  // namespace ai::pg
