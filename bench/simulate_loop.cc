// simulate_loop SPEC PLATFORM COUNT: how long the flow engine takes for so many runs, in seconds.
// What bench/python_loop holds the same loop in Python against.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "analysis/engines/flow_engine.h"
#include "machine/platform.h"
#include "sched/compile.h"

int main(int argc, char** argv) {
  using namespace slackline;
  if (argc != 4) {
    fmt::print(stderr, "usage: simulate_loop SPEC PLATFORM COUNT\n");
    return 2;
  }
  const sched::Schedule schedule = sched::compile(sched::parse_spec(argv[1]));
  const machine::Platform platform = machine::load_platform(argv[2]);
  const machine::Setting setting(schedule, platform);
  double sum_s = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (int i = std::atoi(argv[3]); i > 0; --i) sum_s += analysis::run_flows(setting).makespan_s();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  fmt::print("{} {}\n", took.count(), sum_s);
  return 0;
}
