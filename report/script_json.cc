#include "report/script_json.h"

#include "base/replace_all.h"

namespace slackline::report {
namespace {

constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;

}  // namespace

std::string script_json(const nlohmann::ordered_json& value) {
  std::string out = value.dump(-1, ' ', false, kReplace);
  base::replace_all(out, "<", "\\u003c");
  base::replace_all(out, ">", "\\u003e");
  base::replace_all(out, "&", "\\u0026");
  base::replace_all(out, "\u2028", "\\u2028");
  base::replace_all(out, "\u2029", "\\u2029");
  return out;
}

}  // namespace slackline::report
