// The one JSON document that a command prints with --json. Keys stand in the order they are set.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace slackline::cli {

/// The value of "schema": raised when a key that other programs may rely on changes its meaning.
inline constexpr int kOutputSchema = 1;

class JsonOutput {
 public:
  /// Begins with `schema`, `digest` (null if there is none) and `proved`.
  explicit JsonOutput(const std::optional<std::string>& digest, bool proved);
  ~JsonOutput();
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

  // Into the innermost object that is open. What is not a finite number is written as null.
  void set(std::string_view key, std::string_view value);
  void set(std::string_view key, const char* value) { set(key, std::string_view(value)); }
  void set(std::string_view key, double value);
  template <std::same_as<bool> Bool>
  void set(std::string_view key, Bool value) {
    set_bool(key, value);
  }
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) void set(std::string_view key, Number value) {
    set_number(key, value);
  }
  template <class Value>
  void set(std::string_view key, const std::optional<Value>& value) {
    value ? set(key, *value) : set_null(key);
  }
  void set_null(std::string_view key);
  void set(std::string_view key, std::span<const double> values);
  void set(std::string_view key, std::span<const std::uint64_t> values);

  void set(std::string_view key, const std::vector<double>& values) {
    set(key, std::span<const double>(values));
  }
  void set(std::string_view key, const std::vector<std::uint64_t>& values) {
    set(key, std::span<const std::uint64_t>(values));
  }
  /// An array of what `get` says of each item: whole numbers, or others.
  template <class Items, class Get>
  void set_each(std::string_view key, const Items& items, const Get& get) {
    using Said = std::invoke_result_t<const Get&, decltype(*std::begin(items))>;
    std::vector<std::conditional_t<std::unsigned_integral<std::remove_cvref_t<Said>>, std::uint64_t,
                                   double>>
        values;
    for (const auto& item : items) values.push_back(std::invoke(get, item));
    set(key, values);
  }

  /// A list of objects: begin_list(key), then begin_object() … end() for each, then end().
  void begin_list(std::string_view key);
  void begin_object();
  void end();
  /// The same at once: `add` gets each item, in an object that is open.
  template <class Items, class Add>
  void list(std::string_view key, const Items& items, const Add& add) {
    begin_list(key);
    for (const auto& item : items) {
      begin_object();
      add(item);
      end();
    }
    end();
  }

  /// The document, on one line.
  std::string text() const;

 private:
  void set_bool(std::string_view key, bool value);
  void set_number(std::string_view key, std::uint64_t value);
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace slackline::cli
