// Tables whose columns line up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slackline::cli {

enum class Align { kLeft, kRight };

class Table {
 public:
  /// One alignment per column.
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// A row, or the head; cells that are left out are empty. Each is put on one line, as
  /// sched::shown() has it.
  void add(std::vector<std::string> cells);

  /// The rows as lines, each after `indent`, with two blanks between columns and none at the end.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// How many columns of a terminal a UTF-8 text takes, if each of its characters takes one.
std::size_t display_width(std::string_view text);

}  // namespace slackline::cli
