// Takes typed fields out of JSON objects, with errors that say where in the document they are.
// For .cc files only: it brings in the JSON library.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace slackline::sched {

/// The document in `text`. Throws InputError, naming `file` and the position, if it is not one.
nlohmann::json parse_json(std::string_view text, std::string_view file);

/// A place in a document: "file: ops[3].reads[0]". Made cheaply, and spelt out only for errors.
class JsonPlace {
 public:
  /// The root, which errors name `file`.
  JsonPlace(const nlohmann::json& value, std::string_view file)
      : value_(&value), parent_(nullptr), key_(file) {}

  /// Whether the object has this field, and not as null.
  bool has(std::string_view key) const;
  /// The field of an object, which must be there.
  JsonPlace at(std::string_view key) const;
  /// As at(), and an array.
  JsonPlace list(std::string_view key) const;
  /// The entries of an array.
  std::size_t size() const { return value_->size(); }
  JsonPlace entry(std::size_t index) const;

  /// The value itself, as a whole number in [0, high].
  std::uint64_t number(std::uint64_t high = ~std::uint64_t{0}) const;
  std::uint32_t number32(std::uint32_t high = 0xffffffffu) const {
    return static_cast<std::uint32_t>(number(high));
  }
  double real() const;
  bool boolean() const;
  bool is_null() const { return value_->is_null(); }
  const std::string& text() const;

  /// Throws InputError: "file: place: message".
  [[noreturn]] void fail(std::string_view message) const;

 private:
  JsonPlace(const nlohmann::json& value, const JsonPlace& parent, std::string_view key,
            std::size_t index)
      : value_(&value), parent_(&parent), key_(key), index_(index) {}
  std::string path() const;

  const nlohmann::json* value_;
  const JsonPlace* parent_;  // outlives this place
  std::string_view key_;
  std::size_t index_ = 0;
};

}  // namespace slackline::sched
