// What a command answers, said once for both who read it: people get lines and tables, programs one
// JSON document.
//
// What is said to people and what is said to programs keep their orders apart, each in that in
// which it was added. So one function says both, and a figure is picked once.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/arguments.h"
#include "cli/json_output.h"
#include "cli/subject.h"
#include "cli/table.h"

namespace slackline::cli {

/// Who reads an answer.
struct Reader {
  bool json = false;  // a program; otherwise people
  bool all = false;   // of long tables, every row

  /// --all, and --json.
  void declare(Arguments& arguments, std::string_view help_of_all);
};

/// A value as JSON has it, which people read in its unit. Nothing is null there, and empty here.
class Value {
 public:
  Value() = default;
  Value(std::string text) : value_(std::move(text)) {}
  Value(std::string_view text) : value_(std::string(text)) {}
  Value(const char* text) : value_(std::string(text)) {}
  Value(double value) : value_(value) {}
  template <std::same_as<bool> Bool>
  Value(Bool value) : value_(value) {}
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) Value(Number value) : value_(std::uint64_t{value}) {}
  template <class Some>
  Value(const std::optional<Some>& value) : Value(value ? Value(*value) : Value()) {}

  enum class Unit { kNone, kSeconds, kDifference, kBytes, kRate, kShare };
  template <class Number>
  Value(const Number& value, Unit unit) : Value(value) {
    unit_ = unit;
  }

  /// The same with what people read in its place.
  Value shown_as(std::string text) const;

  void set(JsonOutput& json, std::string_view key) const;
  std::string text() const;

 private:
  std::string shown_;
  bool is_shown_as_ = false;
  std::variant<std::monostate, std::string, double, bool, std::uint64_t> value_;
  Unit unit_ = Unit::kNone;
};

/// "1.5 us".
inline Value in_seconds(std::optional<double> time_s) { return {time_s, Value::Unit::kSeconds}; }
/// Of two times: "+1.5 us".
inline Value as_difference(double time_s) { return {time_s, Value::Unit::kDifference}; }
/// "1 MiB".
inline Value in_bytes(std::uint64_t bytes) { return {bytes, Value::Unit::kBytes}; }
/// "8 Gb/s".
inline Value as_rate(std::optional<double> bytes_per_s) {
  return {bytes_per_s, Value::Unit::kRate};
}
/// "12.5 %".
inline Value as_share(double of_one) { return {of_one, Value::Unit::kShare}; }

/// What an array of numbers has in the place of none: JSON's null.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// What is said of each row of a table, and of each object of a list.
struct Column {
  const char* key;    // in JSON; null: people alone see it
  const char* title;  // for people; null: it is in JSON alone
  std::function<Value(std::uint32_t row)> value;
  Align align = Align::kRight;
};
using Columns = std::vector<Column>;

/// The rows of a table: places in what its columns look up.
using Rows = std::vector<std::uint32_t>;
Rows rows_of(std::size_t count);
/// Those of which `belongs` is true.
template <class Belongs>
Rows rows_where(std::size_t count, const Belongs& belongs) {
  Rows rows = rows_of(count);
  std::erase_if(rows, [&](std::uint32_t row) { return !belongs(row); });
  return rows;
}
/// By their keys, and of one key as they stood.
template <class Key>
Rows most_first(Rows rows, const Key& key) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
  return rows;
}
template <class Key>
Rows least_first(Rows rows, const Key& key) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return rows;
}

/// The columns that people see, of these rows, under their titles or without.
Table table_of(const Columns& columns, std::span<const std::uint32_t> rows, bool titled = true);
/// A list of objects with the keys of the columns; `add_more` may set keys of its own in each.
void add_list(JsonOutput& json, std::string_view key, std::span<const std::uint32_t> rows,
              const Columns& columns,
              const std::function<void(std::uint32_t row, JsonOutput& object)>& add_more = {});

/// "  … and 3 more ranks; --all shows them", or nothing if none is left.
std::string rest_of(std::size_t left, std::string_view noun);

class Answer {
 public:
  /// As many rows as there are.
  static constexpr std::size_t kEvery = std::numeric_limits<std::size_t>::max();

  /// The document begins with `schema`, `digest` and `proved`, the text with the subject's name.
  Answer(const Reader& reader, Subject subject);

  /// The document, for what is set beside set(); null for people.
  JsonOutput* json() { return json_ ? &*json_ : nullptr; }
  /// The first table that people read, of titles and texts.
  Table& head() { return head_; }

  /// What people alone read may cost time to find, and is left out where a program reads.
  bool for_people() const { return !json_; }
  /// People want every row.
  bool all() const { return all_; }
  const Subject& subject() const { return subject_; }

  // Of the document.
  template <class Said>
  void set(std::string_view key, const Said& said) {
    if (json_) json_->set(key, said);
  }
  void set(std::string_view key, const Value& value) {
    if (json_) value.set(*json_, key);
  }
  void set_null(std::initializer_list<std::string_view> keys);
  /// One array: what `get` says of each item.
  template <class Items, class Get>
  void set_each(std::string_view key, const Items& items, const Get& get) {
    if (json_) json_->set_each(key, items, get);
  }
  /// As add_list() has it.
  void list(std::string_view key, const Rows& rows, const Columns& columns,
            const std::function<void(std::uint32_t row, JsonOutput& object)>& add_more = {});

  // For people.
  /// A line between the name and the rows.
  void opening(std::string_view lines) { opening_ += lines; }
  /// A row of the first table.
  void row(std::string_view title, std::string text);
  /// The row with the digest.
  void digest_row();
  /// What stands under the first table.
  void say(std::string_view lines) { body_ += lines; }
  /// A table under a line that names it, if that is not empty. Without --all it has `most` rows,
  /// and a line that says how many are left: of `noun` ("more rank"), or as `rest` has it.
  void table(std::string_view title, const Columns& columns, const Rows& rows,
             std::size_t most = kEvery, std::string_view noun = "");
  void table(std::string_view title, const Columns& columns, const Rows& rows, std::size_t most,
             const std::function<std::string(std::size_t left)>& rest);
  /// The same without a line above it.
  void bare_table(const Columns& columns, const Rows& rows, std::size_t most = kEvery,
                  const std::function<std::string(std::size_t left)>& rest = {});

  // For both.
  void both(std::string_view key, std::string_view title, const Value& value);
  /// `makespan_s`, and the row of it.
  void makespan(double makespan_s);

  /// For whoever reads it.
  std::string text() const;

 private:
  bool all_;
  Subject subject_;
  std::optional<JsonOutput> json_;
  std::string opening_;
  Table head_{{Align::kLeft, Align::kLeft}};
  std::string body_;
};

}  // namespace slackline::cli
