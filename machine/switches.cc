#include "machine/switches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "machine/input_text.h"
#include "machine/platform.h"

namespace slackline::machine {
namespace {

constexpr std::string_view kTo = "..";

// "rack-0..3": what stands before the first number, and the numbers.
struct Run {
  std::string_view prefix;
  std::uint32_t first;
  std::uint32_t last;
};

Run run_of(std::string_view text, std::string_view what) {
  const std::size_t dots = text.find(kTo);
  const std::string_view before = text.substr(0, dots);
  const std::size_t digits = before.find_last_not_of("0123456789") + 1;
  const auto first = base::whole_number<std::uint32_t>(before.substr(digits));
  const auto last = base::whole_number<std::uint32_t>(text.substr(dots + kTo.size()));
  if (first && last && *first <= *last) return {before.substr(0, digits), *first, *last};
  throw InputError(fmt::format("{}: {} is no run of switches; expected one such as rack-0..3", what,
                               in_quotes(text)));
}

}  // namespace

Switches parse_switches(std::string_view text, std::string_view what) {
  Switches switches;
  std::set<std::string> seen;
  const auto add = [&](std::string name) {
    if (name.empty()) {
      throw InputError(fmt::format("{}: {} names no switch somewhere; expected names joined by +",
                                   what, in_quotes(text)));
    }
    if (!seen.insert(name).second) {
      throw InputError(
          fmt::format("{}: {} stands twice; expected one rank on a switch", what, in_quotes(name)));
    }
    if (switches.names.size() == kMaxSwitches) {
      throw InputError(
          fmt::format("{}: too many switches; expected at most {}", what, kMaxSwitches));
    }
    switches.names.push_back(std::move(name));
  };
  for (const std::string_view item : base::split(text, '+')) {
    if (item.find(kTo) == std::string_view::npos) {
      add(std::string(item));
      continue;
    }
    const Run run = run_of(item, what);
    for (std::uint64_t n = run.first; n <= run.last; ++n) add(fmt::format("{}{}", run.prefix, n));
  }
  return switches;
}

std::string format_switches(const Switches& switches) {
  return fmt::format("{}", fmt::join(switches.names, "+"));
}

void require_no_switches(const Platform& platform, std::string_view who) {
  if (!platform.switches.any()) return;
  throw Unsupported(fmt::format(
      "{}: ranks that are switches; expected a platform without the figure switches", who));
}

}  // namespace slackline::machine
