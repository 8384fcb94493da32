// A TOML document as plain values that know their line, and the checks that every reader of ours
// makes on them. The one file that includes the TOML library is toml_document.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::machine {

/// One value; its key, or that of the array it is in; the values in it, if it is a table or an
/// array.
struct TomlValue {
  enum class Kind : std::uint8_t { kText, kInteger, kDecimal, kTable, kArray, kOther };
  Kind kind = Kind::kOther;
  std::uint32_t line = 1;
  std::string key;
  std::string text;
  std::int64_t integer = 0;
  double decimal = 0;               // may be infinite or not a number, as TOML allows
  std::vector<TomlValue> children;  // a table's in order of line
};

/// Reads a whole document into a table. Throws InputError "file:line: …" if it is malformed, nested
/// deeper than any file of ours, or larger than kMaxInputBytes.
TomlValue parse_toml(std::string_view text, std::string_view file);

/// A text in quotes, as TOML writes it.
std::string toml_string(std::string_view text);

/// A table while it is being read: it remembers the keys it was asked for. Every function throws
/// InputError "file:line: table.key: what; expected …".
class TomlTable {
 public:
  /// `path` names the table to people ("nic"); empty for the document itself.
  /// `value` and `file` must outlive this.
  TomlTable(const TomlValue& value, std::string_view file, std::string path);

  /// The value of `key`; null if there is none.
  const TomlValue* find(std::string_view key);
  /// `expected` ends the error of a value of another type: "a rate such as \"100Gbps\"".
  std::optional<std::string> text(std::string_view key, std::string_view expected);
  /// A text; or a number, written so that it reads back the same.
  std::optional<std::string> text_or_number(std::string_view key, std::string_view expected);
  /// A whole number in 0 … high.
  std::optional<std::uint32_t> whole(std::string_view key, std::uint32_t high);
  /// An array of tables, as [[key]] writes it; empty if there is none.
  std::vector<TomlTable> tables(std::string_view key);
  /// The table [key]; nothing if there is none.
  std::optional<TomlTable> table(std::string_view key);

  /// Refuses any key that was not asked for, naming those that were.
  void refuse_others() const;
  /// Refuses a `schema` above `newest`; without the key, the file is of schema 1.
  void check_schema(std::uint32_t newest);

  /// "file:line: path.key", of a value in this table.
  std::string where(const TomlValue& value) const;
  /// "file:line: path", of this table.
  std::string where() const;

  /// The value that was found at `key`; throws if there is none. `expected` as above.
  template <class Value>
  Value required(const std::optional<Value>& value, std::string_view key,
                 std::string_view expected) const {
    if (!value) fail_without(key, expected);
    return *value;
  }

 private:
  [[noreturn]] void fail_without(std::string_view key, std::string_view expected) const;

  const TomlValue* value_;
  std::string_view file_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace slackline::machine
