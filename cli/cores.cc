#include "cli/cores.h"

#include <sched.h>

#include <algorithm>

#include "base/units.h"

namespace slackline::cli {
namespace {

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

std::uint32_t jobs_of(const std::optional<std::string>& jobs) {
  return jobs ? static_cast<std::uint32_t>(sched::parse_count(*jobs, "--jobs", 1, 1024))
              : usable_cores();
}

}  // namespace slackline::cli
