// exact_shifts SPEC PLATFORM: what delays cost by runs in which nothing is rounded. What
// bench/shared_slack holds the flow engine and SimGrid against where they differ.
//
// Reads a line for each delay, "OP TIME lane" or "OP TIME op" as `simulate --delay` has `of`.
// Prints the makespan without delays, then how much later each run ends, in seconds.
#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "analysis/in_threads.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "tests/exact/exact_run.h"

namespace {

using namespace slackline;

std::vector<machine::OpDelay> read_delays(std::istream& in) {
  std::vector<machine::OpDelay> delays;
  std::uint32_t op = 0;
  std::string by;
  std::string of;
  while (in >> op >> by >> of) {
    delays.push_back(
        {sched::OpId(op), sched::parse_time(by, "TIME"), of == "lane", sched::RankId::none()});
  }
  return delays;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    fmt::print(stderr, "usage: exact_shifts SPEC PLATFORM <DELAYS\n");
    return 2;
  }
  const sched::Schedule schedule = sched::compile(sched::parse_spec(argv[1]));
  const machine::Platform platform = machine::load_platform(argv[2]);
  const machine::Setting setting(schedule, platform);
  const std::vector<machine::OpDelay> delays = read_delays(std::cin);
  // The first is without a delay.
  const auto count = static_cast<std::uint32_t>(delays.size() + 1);
  std::vector<double> makespans_s(count);
  constexpr std::uint32_t kJobs = 2;
  analysis::in_threads(count, kJobs,
                       [&](std::uint32_t i) {
                         machine::DelayPlan plan;
                         if (i != 0) plan.ops.push_back(delays[i - 1]);
                         makespans_s[i] = testing::run_exactly(setting.with(plan)).makespan_s();
                       },
                       {});
  fmt::print("{}\n", makespans_s[0]);
  for (std::uint32_t i = 1; i < count; ++i) fmt::print("{}\n", makespans_s[i] - makespans_s[0]);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "exact_shifts: {}\n", error.what());
  return 2;
}
