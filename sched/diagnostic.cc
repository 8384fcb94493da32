#include "sched/diagnostic.h"

#include <algorithm>
#include <array>

namespace slackline::sched {

std::string_view name(Code code) {
  constexpr std::array<std::string_view, 13> kNames = {
      "structure", "size", "fifo", "deadlock", "truncate", "flag",     "uninitialised",
      "raw",       "war",  "waw",  "window",   "post",     "duplicate"};
  return kNames[static_cast<std::size_t>(code)];
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

}  // namespace slackline::sched
