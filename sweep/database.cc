#include "sweep/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <utility>

#include "base/error.h"

namespace slackline::sweep {
namespace {

// Another process may be writing.
constexpr int kPatience_ms = 60'000;

[[noreturn]] void fail(sqlite3* database, int code, const std::string& path) {
  const char* const why = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
    throw InputError(
        fmt::format("{}: {}; expected a database that `slackline sweep` made", path, why));
  }
  throw EnvironmentError(
      fmt::format("{}: {}; expected a folder that can be written, with room", path, why));
}

}  // namespace

void Statement::Finish::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement::Statement(sqlite3* database, std::string_view sql, std::string path)
    : path_(std::move(path)) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) fail(database, code, path_);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(sqlite3_db_handle(statement_.get()), code, path_);
}

Statement& Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_.get(), parameter + 1, text.data(), text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}
Statement& Statement::bind(int parameter, double value) {
  if (!std::isfinite(value)) return bind(parameter, std::string_view("inf"));
  check(sqlite3_bind_double(statement_.get(), parameter + 1, value));
  return *this;
}
Statement& Statement::bind(int parameter, std::optional<double> value) {
  if (value) return bind(parameter, *value);
  check(sqlite3_bind_null(statement_.get(), parameter + 1));
  return *this;
}
Statement& Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), parameter + 1, value));
  return *this;
}

void Statement::run(const std::function<void()>& row) {
  int code;
  while ((code = sqlite3_step(statement_.get())) == SQLITE_ROW) {
    if (row) row();
  }
  sqlite3_reset(statement_.get());
  if (code != SQLITE_DONE) fail(sqlite3_db_handle(statement_.get()), code, path_);
}

std::string Statement::text(int column) const {
  const auto* const text = sqlite3_column_text(statement_.get(), column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
std::optional<double> Statement::real(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT) return HUGE_VAL;
  return sqlite3_column_double(statement_.get(), column);
}

Database::Database(const std::string& path, bool only_read) : path_(path) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &database,
                                   only_read ? SQLITE_OPEN_READWRITE  // a journal may be left
                                             : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                   nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) fail(database, code, path);
  sqlite3_busy_timeout(database, kPatience_ms);
}

bool Database::has(std::string_view table) {
  bool found = false;
  Statement named = prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  named.bind(0, table).run([&] { found = true; });
  return found;
}

void Database::run(std::string_view sql) { prepare(sql).run(); }

Statement Database::prepare(std::string_view sql) { return {database_.get(), sql, path_}; }

}  // namespace slackline::sweep
