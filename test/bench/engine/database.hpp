// A connection to the server that is measured, over libpq. Header only.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ai::bench {

/// Every failure is an exception: a benchmark must not go on with half of its tables.
class Database {
 public:
  /// The server comes from the environment (PGHOST, PGUSER, PGDATABASE).
  Database() : connection_(PQconnectdb("")) { Expect(PQstatus(get()) == CONNECTION_OK); }

  PGconn* get() const { return connection_.get(); }

  /// Runs one or more statements; the first value of the last one's result, if it has any.
  std::string Run(const std::string& sql) {
    const Result result(PQexec(get(), sql.c_str()));
    const auto status = PQresultStatus(result.get());
    Expect(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    return PQntuples(result.get()) > 0 && PQnfields(result.get()) > 0
               ? PQgetvalue(result.get(), 0, 0)
               : "";
  }
  long Number(const std::string& sql) { return std::stol(Run(sql)); }

  /// COPY ... FROM STDIN with all of its data, and waits for its end.
  void Copy(const std::string& sql, std::string_view data) {
    const Result start(PQexec(get(), sql.c_str()));
    Expect(PQresultStatus(start.get()) == PGRES_COPY_IN);
    Expect(PQputCopyData(get(), data.data(), static_cast<int>(data.size())) == 1);
    Expect(PQputCopyEnd(get(), nullptr) == 1);
    const Result end(PQgetResult(get()));
    Expect(PQresultStatus(end.get()) == PGRES_COMMAND_OK);
    Expect(PQgetResult(get()) == nullptr);
  }

 private:
  struct Deleter {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Result = std::unique_ptr<PGresult, Deleter>;

  void Expect(bool met) const {
    if (!met) {
      throw std::runtime_error(PQerrorMessage(get()));
    }
  }

  std::unique_ptr<PGconn, Deleter> connection_;
};

}  // namespace ai::bench
