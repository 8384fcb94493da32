#include "cli/json_output.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/shown_text.h"

namespace slackline::cli {

using Json = nlohmann::ordered_json;

struct JsonOutput::Contents {
  Json root = Json::object();
  // The path from the root to what is open. Nothing is added to a list or object while one of its
  // members is open, so the pointers stay good.
  std::vector<Json*> open{&root};
  Json& at(std::string_view key) { return (*open.back())[std::string(key)]; }
};

JsonOutput::JsonOutput(const std::optional<std::string>& digest, bool proved)
    : contents_(std::make_unique<Contents>()) {
  set("schema", std::uint64_t{kOutputSchema});
  set("digest", digest);
  set("proved", proved);
}

JsonOutput::~JsonOutput() = default;

void JsonOutput::set(std::string_view key, std::string_view value) {
  contents_->at(key) = std::string(value);
}

void JsonOutput::set(std::string_view key, double value) { contents_->at(key) = value; }

void JsonOutput::set_bool(std::string_view key, bool value) { contents_->at(key) = value; }

void JsonOutput::set_number(std::string_view key, std::uint64_t value) {
  contents_->at(key) = value;
}

void JsonOutput::set_null(std::string_view key) { contents_->at(key) = nullptr; }

void JsonOutput::set(std::string_view key, std::span<const double> values) {
  contents_->at(key) = std::vector<double>(values.begin(), values.end());
}

void JsonOutput::set(std::string_view key, std::span<const std::uint64_t> values) {
  contents_->at(key) = std::vector<std::uint64_t>(values.begin(), values.end());
}

void JsonOutput::begin_list(std::string_view key) {
  Json& list = contents_->at(key);
  list = Json::array();
  contents_->open.push_back(&list);
}

void JsonOutput::begin_object() {
  Json& list = *contents_->open.back();
  list.push_back(Json::object());
  contents_->open.push_back(&list.back());
}

void JsonOutput::end() { contents_->open.pop_back(); }

std::string JsonOutput::text() const {
  const std::string text = contents_->root.dump(-1, ' ', false, Json::error_handler_t::replace);
  // What JSON may hold as it is and a terminal would obey can only stand in a string, where its
  // number says the same.
  std::string out;
  for (const char c : text) {
    if (c == '\x7f') {
      out += "\\u007f";
    } else {
      out += c;
    }
  }
  return sched::shown_lines(out) + '\n';
}

}  // namespace slackline::cli
