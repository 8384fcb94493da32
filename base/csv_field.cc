#include "base/csv_field.h"

#include <string_view>

#include "base/shown_text.h"

namespace slackline::sched {

std::string csv_field(const std::string& name) {
  // With one of these in front a spreadsheet carries a text out as a formula.
  constexpr std::string_view kFormula = "=+-@";
  std::string text = shown(name);
  if (!text.empty() && kFormula.find(text.front()) != std::string_view::npos)
    text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted;
  quoted.push_back('"');
  for (const char c : text) {
    if (c == '"') quoted.push_back(c);
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

}  // namespace slackline::sched
