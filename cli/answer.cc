#include "cli/answer.h"

#include <fmt/format.h>

#include "base/units.h"
#include "cli/human.h"

namespace slackline::cli {

void Reader::declare(Arguments& arguments, std::string_view help_of_all) {
  arguments.flag("--all", all, help_of_all);
  arguments.flag("--json", json, "print one JSON document");
}

void Value::set(JsonOutput& json, std::string_view key) const {
  std::visit(
      [&](const auto& value) {
        if constexpr (std::is_same_v<decltype(value), const std::monostate&>) {
          json.set_null(key);
        } else {
          json.set(key, value);
        }
      },
      value_);
}

Value Value::shown_as(std::string text) const {
  Value value = *this;
  value.shown_ = std::move(text);
  value.is_shown_as_ = true;
  return value;
}

std::string Value::text() const {
  if (is_shown_as_) return shown_;
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) {
    return unit_ == Unit::kBytes ? human_bytes(*number) : fmt::to_string(*number);
  }
  const auto* number = std::get_if<double>(&value_);
  if (number == nullptr) return "";
  switch (unit_) {
    case Unit::kSeconds:
      return sched::human_seconds(*number);
    case Unit::kDifference:
      return human_difference(*number);
    case Unit::kRate:
      return sched::human_bytes_per_second(*number);
    case Unit::kShare:
      return human_share(*number, 1);
    case Unit::kBytes:
    case Unit::kNone:
      break;
  }
  return fmt::to_string(*number);
}

Rows rows_of(std::size_t count) {
  Rows rows(count);
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return rows;
}

Table table_of(const Columns& columns, std::span<const std::uint32_t> rows, bool titled) {
  std::vector<Align> aligns;
  std::vector<std::string> cells;
  for (const Column& column : columns) {
    if (column.title == nullptr) continue;
    aligns.push_back(column.align);
    cells.emplace_back(column.title);
  }
  Table table(std::move(aligns));
  if (titled) table.add(std::move(cells));
  for (const std::uint32_t row : rows) {
    cells.clear();
    for (const Column& column : columns) {
      if (column.title != nullptr) cells.push_back(column.value(row).text());
    }
    table.add(cells);
  }
  return table;
}

void add_list(JsonOutput& json, std::string_view key, std::span<const std::uint32_t> rows,
              const Columns& columns,
              const std::function<void(std::uint32_t row, JsonOutput& object)>& add_more) {
  json.list(key, rows, [&](std::uint32_t row) {
    for (const Column& column : columns) {
      if (column.key != nullptr) column.value(row).set(json, column.key);
    }
    if (add_more) add_more(row, json);
  });
}

Answer::Answer(const Reader& reader, Subject subject)
    : all_(reader.all), subject_(std::move(subject)) {
  if (reader.json) json_.emplace(subject_.digest, subject_.proved);
}

void Answer::set_null(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) set(key, Value());
}

void Answer::list(std::string_view key, const Rows& rows, const Columns& columns,
                  const std::function<void(std::uint32_t row, JsonOutput& object)>& add_more) {
  if (json_) add_list(*json_, key, rows, columns, add_more);
}

void Answer::row(std::string_view title, std::string text) {
  head_.add({std::string(title), std::move(text)});
}

void Answer::digest_row() {
  row("digest", subject_.digest.value_or("none: answered without making the schedule"));
}

void Answer::table(std::string_view title, const Columns& columns, const Rows& rows,
                   std::size_t most, std::string_view noun) {
  table(title, columns, rows, most, [noun](std::size_t left) { return human_count(left, noun); });
}

void Answer::table(std::string_view title, const Columns& columns, const Rows& rows,
                   std::size_t most, const std::function<std::string(std::size_t left)>& rest) {
  body_ += title.empty() ? "\n" : fmt::format("\n  {}:\n", title);
  bare_table(columns, rows, most, rest);
}

void Answer::bare_table(const Columns& columns, const Rows& rows, std::size_t most,
                        const std::function<std::string(std::size_t left)>& rest) {
  if (json_) return;
  const std::size_t count = all_ ? rows.size() : std::min(rows.size(), most);
  body_ += table_of(columns, std::span(rows).first(count)).text("  ");
  if (count == rows.size()) return;
  body_ += fmt::format("  … and {}; --all shows them\n", rest(rows.size() - count));
}

void Answer::both(std::string_view key, std::string_view title, const Value& value) {
  if (json_) value.set(*json_, key);
  row(title, value.text());
}

void Answer::makespan(double makespan_s) {
  set("makespan_s", makespan_s);
  row("makespan", exact_seconds(makespan_s));
}

std::string rest_of(std::size_t left, std::string_view noun) {
  if (left == 0) return "";
  return fmt::format("  … and {}; --all shows them\n", human_count(left, noun));
}

std::string Answer::text() const {
  if (json_) return json_->text();
  return subject_.name + '\n' + opening_ + head_.text("  ") + body_;
}

}  // namespace slackline::cli
