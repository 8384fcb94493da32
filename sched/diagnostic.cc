#include "sched/diagnostic.h"

#include <algorithm>

#include "base/enum_names.h"

namespace slackline::sched {

std::string_view name(Code code) {
  constexpr base::EnumNames<Code, 13> kNames = {
      "structure", "size", "fifo", "deadlock", "truncate", "flag",     "uninitialised",
      "raw",       "war",  "waw",  "window",   "post",     "duplicate"};
  return kNames[code];
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

}  // namespace slackline::sched
