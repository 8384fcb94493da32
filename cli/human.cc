#include "cli/human.h"

#include <fmt/format.h>

#include <numeric>

#include "base/shown_text.h"

namespace slackline::cli {

std::string human_share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "–";
}

std::string human_count(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string exact_average(const analysis::SlackSum& sum) {
  if (sum.sends == 0) return "";
  const std::uint64_t divisor = std::gcd(sum.total, sum.sends);
  const std::uint64_t below = sum.sends / divisor;
  return below == 1 ? fmt::format("{}", sum.total / divisor)
                    : fmt::format("{}/{}", sum.total / divisor, below);
}

std::string csv_field(const std::string& name) {
  // With one of these in front a spreadsheet carries a text out as a formula.
  constexpr std::string_view kFormula = "=+-@";
  std::string text = sched::shown(name);
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

}  // namespace slackline::cli
