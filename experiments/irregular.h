// What the experiments on irregular workloads measure, by the event engine.
#pragma once

#include <cstdint>
#include <string>

#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::experiments {

struct IrregularRun {
  double makespan_s = 0;
  std::uint64_t ops = 0;
  std::uint64_t writes = 0;    // one-sided writes on the network
  std::uint64_t polls = 0;     // as many, each seen by a receiver
  std::uint64_t channels = 0;  // ordered pairs of ranks that talked
};

/// Compiles a spec, runs it and counts.
IrregularRun run_irregular(const std::string& spec, const machine::Platform& platform);
/// The same of a schedule that is there.
IrregularRun run_irregular(const sched::Schedule& schedule, const machine::Platform& platform);

/// The share of all NICs' rates that `ranks` reach which all write `bytes` at a time, without
/// waiting, to each other in turn, `messages` each.
double share_of_peak(const machine::Platform& platform, std::uint32_t ranks, std::uint64_t bytes,
                     std::uint32_t messages);

}  // namespace slackline::experiments
