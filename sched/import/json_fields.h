// Takes typed fields out of JSON objects, with errors that say where in the document they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::sched {

/// A place in a document: "file: ops[3].reads[0]". Made cheaply, and spelt out only for errors.
class JsonPlace {
 public:
  /// Whether the object has this field, and not as null.
  bool has(std::string_view key) const;
  /// The field of an object, which must be there.
  JsonPlace at(std::string_view key) const;
  /// As at(), and an array.
  JsonPlace list(std::string_view key) const;
  /// The names of an object's fields, in alphabetical order.
  std::vector<std::string_view> names() const;
  /// The entries of an array.
  std::size_t size() const;
  JsonPlace entry(std::size_t index) const;

  /// The value itself, as a whole number in [0, high].
  std::uint64_t number(std::uint64_t high = ~std::uint64_t{0}) const;
  std::uint32_t number32(std::uint32_t high = 0xffffffffu) const {
    return static_cast<std::uint32_t>(number(high));
  }
  double real() const;
  bool boolean() const;
  bool is_null() const;
  const std::string& text() const;

  /// Throws InputError: "file: place: message".
  [[noreturn]] void fail(std::string_view message) const;

 private:
  friend class JsonDocument;
  // `value` is the library's, which stays out of this header.
  JsonPlace(const void* value, const JsonPlace* parent, std::string_view key, std::size_t index)
      : value_(value), parent_(parent), key_(key), index_(index) {}
  std::string path() const;

  const void* value_;
  const JsonPlace* parent_;  // outlives this place; none at the root, whose key is the file
  std::string_view key_;
  std::size_t index_;
};

class JsonDocument {
 public:
  /// Throws InputError, naming `file` and the position, if `text` is not a document. `file` must
  /// outlive it.
  JsonDocument(std::string_view text, std::string_view file);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  JsonPlace root() const;

 private:
  struct Value;
  std::unique_ptr<Value> value_;
  std::string_view file_;
};

}  // namespace slackline::sched
