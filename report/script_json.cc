#include "report/script_json.h"

#include <string_view>

namespace slackline::report {
namespace {

constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;

// With every occurrence of one text as another.
void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

std::string script_json(const nlohmann::ordered_json& value) {
  std::string out = value.dump(-1, ' ', false, kReplace);
  replace_all(out, "<", "\\u003c");
  replace_all(out, ">", "\\u003e");
  replace_all(out, "&", "\\u0026");
  replace_all(out, "\u2028", "\\u2028");
  replace_all(out, "\u2029", "\\u2029");
  return out;
}

}  // namespace slackline::report
