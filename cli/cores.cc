#include "cli/cores.h"

#include <sched.h>

#include <algorithm>

namespace slackline::cli {
namespace {

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

void declare_jobs(Arguments& arguments, std::optional<std::uint32_t>& jobs, std::string_view help) {
  arguments.number("--jobs", "N", jobs, help, 1, 1024);
}

std::uint32_t jobs_of(std::optional<std::uint32_t> jobs) { return jobs ? *jobs : usable_cores(); }

}  // namespace slackline::cli
