#include "pg/error.hpp"

#include "core/utf8.hpp"

namespace ai::pg {

Error Error::Take() {
  // An error while copying the error must be FATAL for this process, never a loop.
  PG_exception_stack = nullptr;
  MemoryContext caller = CurrentMemoryContext;
  MemoryContext context = AllocSetContextCreate(TopMemoryContext, "ai error", ALLOCSET_SMALL_SIZES);
  MemoryContextSwitchTo(context);
  ErrorData* data = CopyErrorData();
  if (data->message == nullptr) {
    data->message = pstrdup("missing error text");
  }
  FlushErrorState();
  MemoryContextSwitchTo(caller);
  return Error(std::make_shared<Record>(context, data));
}

Error::Record::~Record() {
  if (context != nullptr) {
    MemoryContextDelete(context);
  }
}

ErrorData* Error::Release() const noexcept {
  MemoryContextSetParent(record_->context, CurrentMemoryContext);
  record_->context = nullptr;
  return record_->data;
}

bool IsAboutRow(const Error& error) noexcept {
  switch (ERRCODE_TO_CATEGORY(error.sqlstate())) {
    case ERRCODE_CONNECTION_EXCEPTION:
    case ERRCODE_FEATURE_NOT_SUPPORTED:
    case ERRCODE_INVALID_TRANSACTION_STATE:
    case ERRCODE_INVALID_TRANSACTION_TERMINATION:
    case ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION:
    case ERRCODE_INVALID_CATALOG_NAME:
    case ERRCODE_INVALID_SCHEMA_NAME:
    case ERRCODE_TRANSACTION_ROLLBACK:
    case ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION:
    case ERRCODE_INSUFFICIENT_RESOURCES:
    case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
    case ERRCODE_OPERATOR_INTERVENTION:
    case ERRCODE_SYSTEM_ERROR:
    case ERRCODE_CONFIG_FILE_ERROR:
    case ERRCODE_FDW_ERROR:
    case ERRCODE_INTERNAL_ERROR:
      return false;
    default:
      return true;
  }
}

namespace {

/// By a statement such as RAISE of a procedural language.
bool IsRaisedByCode(const Error& error) noexcept {
  const std::string_view file = error.data().filename == nullptr ? "" : error.data().filename;
  return file == "pl_exec.c" || file == "plperl.c" || file == "pltcl.c" ||
         file.starts_with("plpy_");
}

}  // namespace

bool IsOfServer(const Error& error) noexcept {
  switch (ERRCODE_TO_CATEGORY(error.sqlstate())) {
    case ERRCODE_CONNECTION_EXCEPTION:
    case ERRCODE_TRANSACTION_ROLLBACK:
    case ERRCODE_INSUFFICIENT_RESOURCES:
    case ERRCODE_OPERATOR_INTERVENTION:
    case ERRCODE_SYSTEM_ERROR:
    case ERRCODE_INTERNAL_ERROR:
      return !IsRaisedByCode(error);
    default:
      return false;
  }
}

bool MeetsLock(const Error& error) noexcept {
  const char* function = error.data().funcname;
  return error.sqlstate() == ERRCODE_LOCK_NOT_AVAILABLE && function != nullptr &&
         std::strcmp(function, "ProcessInterrupts") == 0;
}

bool MissesName(const Error& error) noexcept {
  switch (error.sqlstate()) {
    case ERRCODE_UNDEFINED_TABLE:
    case ERRCODE_UNDEFINED_COLUMN:
    case ERRCODE_INVALID_SCHEMA_NAME:
    case ERRCODE_SYNTAX_ERROR:
      return true;
    default:
      return false;
  }
}

namespace {

/// Copies text into a buffer, clipped. A database in another encoding than UTF-8 gets '?' for what
/// is not ASCII: a conversion could fail, and an error report must not.
template <std::size_t size>
void CopyText(char (&buffer)[size], std::string_view text) noexcept {
  const std::string_view clipped = utf8::Clip(text, size - 1);
  const bool keep_all = GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII;
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    const bool ascii = static_cast<unsigned char>(clipped[i]) < 0x80;
    buffer[i] = keep_all || ascii ? clipped[i] : '?';
  }
  buffer[clipped.size()] = '\0';
}

}  // namespace

void ErrorReport::FillUnknown() noexcept {
  sqlstate = ERRCODE_INTERNAL_ERROR;
  cancelled = false;
  CopyText(message, "unknown C++ exception");
  detail[0] = '\0';
  hint[0] = '\0';
}

void ErrorReport::Fill(const ai::Error& error) noexcept {
  sqlstate = SqlState(error.code());
  cancelled = error.code() == ErrorCode::kCancelled;
  CopyText(message, error.what());
  CopyText(detail, error.detail());
  CopyText(hint, error.hint());
}

void ErrorReport::Fill(const std::bad_alloc&) noexcept {
  FillUnknown();
  sqlstate = ERRCODE_OUT_OF_MEMORY;
  CopyText(message, "out of memory");
}

void ErrorReport::Fill(const std::exception& error) noexcept {
  FillUnknown();
  CopyText(message, error.what());
}

int SqlState(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidParameter:
      return ERRCODE_INVALID_PARAMETER_VALUE;
    case ErrorCode::kInvalidText:
      return ERRCODE_INVALID_TEXT_REPRESENTATION;
    case ErrorCode::kLimitExceeded:
      return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case ErrorCode::kNotSupported:
      return ERRCODE_FEATURE_NOT_SUPPORTED;
    case ErrorCode::kUndefinedObject:
      return ERRCODE_UNDEFINED_OBJECT;
    case ErrorCode::kMissingResource:
      return ERRCODE_UNDEFINED_FILE;
    case ErrorCode::kProvider:
      return ERRCODE_EXTERNAL_ROUTINE_EXCEPTION;
    case ErrorCode::kCancelled:
      return ERRCODE_QUERY_CANCELED;
    case ErrorCode::kInternal:
      break;
  }
  return ERRCODE_INTERNAL_ERROR;
}

void Raise(const ErrorReport& report) {
  if (report.cancelled) {
    // The server's own message: user request, statement timeout, shutdown.
    CHECK_FOR_INTERRUPTS();
  }
  ereport(ERROR, errcode(report.sqlstate), errmsg("%s", report.message),
          report.detail[0] != '\0' ? errdetail("%s", report.detail) : 0,
          report.hint[0] != '\0' ? errhint("%s", report.hint) : 0);
  pg_unreachable();
}

namespace {

[[noreturn]] void EndProcess() {
  ereport(
      FATAL, errcode(ERRCODE_INTERNAL_ERROR),
      errmsg("a C++ exception escaped in process %d", MyProcPid),
      errdetail("The process ends; other sessions are not affected."),
      errhint("This is a defect of the extension \"ai\"; please report it with the statement."));
  pg_unreachable();
}

}  // namespace

void InstallTerminateHandler() noexcept {
  std::set_terminate(EndProcess);
}

}  // namespace ai::pg
