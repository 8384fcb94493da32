// SQLite, as far as sweeps need it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace slackline::sweep {

/// A statement that was prepared: bound, carried out, and bound anew. Columns and parameters count
/// from 0.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql, std::string path);

  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, double value);  // what is not finite is kept as text: "inf"
  Statement& bind(int parameter, std::optional<double> value);  // nothing is NULL
  Statement& bind(int parameter, std::int64_t value);
  /// Carries it out, and is ready for the next; `row` is called for each row of the answer.
  void run(const std::function<void()>& row = {});

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  std::optional<double> real(int column) const;

 private:
  void check(int code) const;
  struct Finish {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finish> statement_;
  std::string path_;
};

/// One file. All functions throw EnvironmentError, naming it, where it cannot be written or read,
/// and InputError where it is none of ours.
class Database {
 public:
  /// Made if it is not there, unless it is only to be read.
  explicit Database(const std::string& path, bool only_read = false);

  void run(std::string_view sql);
  bool has(std::string_view table);
  Statement prepare(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

}  // namespace slackline::sweep
