#include "sched/import/json_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/text_scan.h"

namespace slackline::sched {

namespace {

using Json = nlohmann::json;

const Json& json(const void* value) { return *static_cast<const Json*>(value); }

// The library keeps the last of two fields with one name, and its parser that tells of fields takes
// long over large documents. So fields are counted, in what it read and in the text.

// Where a string of a document that is sound goes on behind its second quote.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
  return at + 1;
}

std::size_t fields_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    count += text[at] == ':' ? 1 : 0;
    at = text[at] == '"' ? behind_string(text, at) : at + 1;
  }
  return count;
}

std::size_t fields_in(const Json& document) {
  std::size_t count = 0;
  std::vector<const Json*> ahead = {&document};
  while (!ahead.empty()) {
    const Json& value = *ahead.back();
    ahead.pop_back();
    if (value.is_object()) count += value.size();
    if (!value.is_structured()) continue;
    for (const Json& each : value) {
      if (each.is_structured()) ahead.push_back(&each);
    }
  }
  return count;
}

// The first name that another field of the same object has.
std::string name_that_stands_twice(std::string_view text) {
  std::vector<std::set<std::string>> names;  // of each object that is open
  std::string string;                        // the last
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '{') names.emplace_back();
    if (text[at] == '}') names.pop_back();
    if (text[at] == ':' && !names.back().insert(string).second) return string;
    const std::size_t next = text[at] == '"' ? behind_string(text, at) : at + 1;
    if (text[at] == '"') string = Json::parse(text.substr(at, next - at)).get<std::string>();
    at = next;
  }
  return {};
}

}  // namespace

struct JsonDocument::Value {
  Json json;
};

JsonDocument::JsonDocument(std::string_view text, std::string_view file)
    : value_(std::make_unique<Value>()), file_(file) {
  // The library takes such a byte for the end, and never looks at what comes behind it.
  if (text.find('\0') != std::string_view::npos) {
    throw InputError(fmt::format("{}: not a JSON document: a byte is 0; expected one", file));
  }
  try {
    value_->json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    // The library's message is "[…] parse error at line 3, column 5: …"; its middle is what helps.
    std::string_view message = error.what();
    const std::size_t at = message.find("line ");
    if (at != std::string_view::npos) message.remove_prefix(at);
    throw InputError(fmt::format("{}: not a JSON document: {}; expected one", file,
                                 in_quotes(message.substr(0, message.find(':')))));
  } catch (const Json::exception&) {
    throw InputError(
        fmt::format("{}: not a JSON document: a number is too large; expected one", file));
  }
  if (fields_in(text) != fields_in(value_->json)) {
    throw InputError(fmt::format("{}: a field {} stands twice in one object; expected it once",
                                 file, in_quotes(name_that_stands_twice(text))));
  }
}

JsonDocument::~JsonDocument() = default;

JsonPlace JsonDocument::root() const { return {&value_->json, nullptr, file_, 0}; }

std::size_t JsonPlace::size() const { return json(value_).size(); }
bool JsonPlace::is_null() const { return json(value_).is_null(); }

bool JsonPlace::has(std::string_view key) const {
  if (!json(value_).is_object()) fail("expected an object");
  const auto found = json(value_).find(key);
  return found != json(value_).end() && !found->is_null();
}

JsonPlace JsonPlace::at(std::string_view key) const {
  if (!json(value_).is_object()) fail("expected an object");
  const auto found = json(value_).find(key);
  if (found == json(value_).end()) fail(fmt::format("expected a field \"{}\"", key));
  return JsonPlace(&*found, this, key, 0);
}

std::vector<std::string_view> JsonPlace::names() const {
  if (!json(value_).is_object()) fail("expected an object");
  std::vector<std::string_view> names;
  for (const auto& [key, value] : json(value_).items()) {
    names.push_back(json(value_).find(key).key());
  }
  return names;
}

JsonPlace JsonPlace::list(std::string_view key) const {
  const JsonPlace place = at(key);
  if (!json(place.value_).is_array()) place.fail("expected an array");
  return place;
}

JsonPlace JsonPlace::entry(std::size_t index) const {
  return JsonPlace(&json(value_)[index], this, {}, index);
}

std::uint64_t JsonPlace::number(std::uint64_t high) const {
  if (!json(value_).is_number_unsigned() || json(value_).get<std::uint64_t>() > high) {
    fail(fmt::format("expected a whole number from 0 to {}", high));
  }
  return json(value_).get<std::uint64_t>();
}

double JsonPlace::real() const {
  if (!json(value_).is_number()) fail("expected a number");
  return json(value_).get<double>();
}

bool JsonPlace::boolean() const {
  if (!json(value_).is_boolean()) fail("expected true or false");
  return json(value_).get<bool>();
}

const std::string& JsonPlace::text() const {
  if (!json(value_).is_string()) fail("expected a text");
  return json(value_).get_ref<const std::string&>();
}

void JsonPlace::fail(std::string_view message) const {
  const JsonPlace* root = this;
  while (root->parent_ != nullptr) root = root->parent_;
  const std::string place = path();
  throw InputError(place.empty() ? fmt::format("{}: {}", root->key_, message)
                                 : fmt::format("{}: {}: {}", root->key_, place, message));
}

std::string JsonPlace::path() const {
  if (parent_ == nullptr) return {};
  const std::string before = parent_->path();
  if (key_.empty()) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? std::string(key_) : fmt::format("{}.{}", before, key_);
}

}  // namespace slackline::sched
