#include "machine/toml_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

using Kind = TomlValue::Kind;

// No file of ours nests deeper than a table in an array in a table.
constexpr int kMaxDepth = 8;
// The library recurses over dotted keys without a bound of its own.
constexpr int kMaxDotsInLine = 64;

[[noreturn]] void malformed(std::string_view file, std::uint32_t line, std::string_view what,
                            std::string_view expected) {
  throw InputError(fmt::format("{}:{}: {}; expected {}", file, line, what, expected));
}

void check_dots(std::string_view text, std::string_view file) {
  std::uint32_t line = 1;
  int dots = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > kMaxDotsInLine) {
      malformed(file, line, "a line with too many dots", fmt::format("at most {}", kMaxDotsInLine));
    }
  }
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return "a text";
    case Kind::kInteger:
      return "a whole number";
    case Kind::kDecimal:
      return "a decimal number";
    case Kind::kTable:
      return "a table";
    case Kind::kArray:
      return "an array";
    case Kind::kOther:
      break;
  }
  return "another type of value";
}

TomlValue convert(const toml::node& node, std::string_view key, std::string_view file, int depth) {
  TomlValue out;
  out.line = node.source().begin.line;
  out.key = key;
  const std::string where = fmt::format("{}:{}", file, out.line);
  require_plain(key, where);
  if (depth > kMaxDepth) malformed(file, out.line, "nested too deep", "at most tables of tables");
  if (const toml::table* table = node.as_table()) {
    out.kind = Kind::kTable;
    for (const auto& [child_key, child] : *table) {
      out.children.push_back(convert(child, child_key.str(), file, depth + 1));
      // A table made by a header such as [a.b] has its line, one made on the way to it has none.
      out.children.back().line = std::max(out.children.back().line, 1u);
    }
    std::stable_sort(out.children.begin(), out.children.end(),
                     [](const TomlValue& a, const TomlValue& b) { return a.line < b.line; });
  } else if (const toml::array* array = node.as_array()) {
    out.kind = Kind::kArray;
    for (const toml::node& child : *array) {
      out.children.push_back(convert(child, key, file, depth + 1));
    }
  } else if (const auto* text = node.as_string()) {
    out.kind = Kind::kText;
    out.text = text->get();
    require_plain(out.text, where);
  } else if (const auto* integer = node.as_integer()) {
    out.kind = Kind::kInteger;
    out.integer = integer->get();
  } else if (const auto* decimal = node.as_floating_point()) {
    out.kind = Kind::kDecimal;
    out.decimal = decimal->get();
  }
  return out;
}

}  // namespace

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

TomlValue parse_toml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxInputBytes) {
    malformed(file, 1, "the document is too large",
              fmt::format("at most {} MiB", kMaxInputBytes >> 20));
  }
  check_dots(text, file);
  try {
    const toml::table table = toml::parse(text);
    TomlValue document = convert(table, "", file, 0);
    document.line = 1;
    return document;
  } catch (const toml::parse_error& error) {
    std::string what(error.description());
    // The library quotes what it read.
    std::replace_if(
        what.begin(), what.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    malformed(file, std::max(error.source().begin.line, 1u), what, "a well-formed TOML document");
  }
}

TomlTable::TomlTable(const TomlValue& value, std::string_view file, std::string path)
    : value_(&value), file_(file), path_(std::move(path)) {}

const TomlValue* TomlTable::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  for (const TomlValue& child : value_->children) {
    if (child.key == key) return &child;
  }
  return nullptr;
}

std::optional<std::string> TomlTable::text(std::string_view key, std::string_view expected) {
  const TomlValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::kText) {
    throw InputError(fmt::format("{}: {} stands here; expected {}", where(*value),
                                 kind_name(value->kind), expected));
  }
  return value->text;
}

std::optional<std::string> TomlTable::text_or_number(std::string_view key,
                                                     std::string_view expected) {
  const TomlValue* value = find(key);
  if (value != nullptr && value->kind == Kind::kInteger) return fmt::format("{}", value->integer);
  if (value != nullptr && value->kind == Kind::kDecimal) return fmt::format("{}", value->decimal);
  return text(key, expected);
}

std::optional<std::uint32_t> TomlTable::whole(std::string_view key, std::uint32_t high) {
  const TomlValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::kInteger || value->integer < 0 || value->integer > high) {
    const std::string what = value->kind == Kind::kInteger ? fmt::format("{}", value->integer)
                                                           : std::string(kind_name(value->kind));
    throw InputError(fmt::format("{}: {} stands here; expected a whole number from 0 to {}",
                                 where(*value), what, high));
  }
  return static_cast<std::uint32_t>(value->integer);
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  const TomlValue* value = find(key);
  if (value == nullptr) return {};
  std::vector<TomlTable> result;
  for (const TomlValue& child : value->children) {
    if (value->kind == Kind::kArray && child.kind == Kind::kTable) {
      result.emplace_back(child, file_, std::string(key));
    }
  }
  if (value->kind != Kind::kArray || result.size() != value->children.size()) {
    throw InputError(fmt::format(
        "{}: {} stands here; expected tables headed [[{}]]", where(*value),
        value->kind == Kind::kArray ? "an array of something else" : kind_name(value->kind), key));
  }
  return result;
}

std::optional<TomlTable> TomlTable::table(std::string_view key) {
  const TomlValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::kTable) {
    throw InputError(fmt::format("{}: {} stands here; expected a table headed [{}]", where(*value),
                                 kind_name(value->kind), key));
  }
  return TomlTable(*value, file_, std::string(key));
}

void TomlTable::refuse_others() const {
  for (const TomlValue& child : value_->children) {
    if (std::find(known_.begin(), known_.end(), child.key) != known_.end()) continue;
    const std::vector<std::string_view> names(known_.begin(), known_.end());
    throw InputError(fmt::format("{}:{}: unknown key {}{}{}; expected one of {}", file_, child.line,
                                 in_quotes(child.key), path_.empty() ? "" : " in [" + path_ + "]",
                                 sched::did_you_mean(child.key, names), fmt::join(known_, ", ")));
  }
}

void TomlTable::check_schema(std::uint32_t newest) {
  const auto schema = whole("schema", ~0u);
  if (!schema || (*schema >= 1 && *schema <= newest)) return;
  throw InputError(fmt::format(
      "{}: {} is {} schema this program reads; expected 1{}", where(*find("schema")), *schema,
      *schema == 0 ? "no" : "newer than any", newest > 1 ? fmt::format(" to {}", newest) : ""));
}

std::string TomlTable::where(const TomlValue& value) const {
  return path_.empty() ? fmt::format("{}:{}: {}", file_, value.line, value.key)
                       : fmt::format("{}:{}: {}.{}", file_, value.line, path_, value.key);
}

void TomlTable::fail_without(std::string_view key, std::string_view expected) const {
  throw InputError(
      fmt::format("{}: no {} stands here; expected {} = {}", where(), key, key, expected));
}

std::string TomlTable::where() const {
  return path_.empty() ? fmt::format("{}:{}", file_, value_->line)
                       : fmt::format("{}:{}: {}", file_, value_->line, path_);
}

}  // namespace slackline::machine
