// A pattern run at many sizes, one after the other, by ranks that join once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/joining.h"
#include "cli/schedule_source.h"
#include "cli/sweep_report.h"
#include "hw/run.h"

namespace slackline::cli {

/// One size, made ready before any rank is started.
struct SweepSize {
  std::uint64_t bytes = 0;  // as it was asked for
  LoadedSchedule loaded;
  hw::RunOptions options;
  std::vector<double> slack_s;  // to which the options refer
};

/// What all ranks must have alike: one line for each size, and the options, which are one for all.
std::vector<std::string> agreed_of(const std::vector<SweepSize>& sizes);

/// Of all schedules the one that a transport is to be chosen by.
const sched::Schedule& deciding_schedule(const std::vector<SweepSize>& sizes);

/// Runs them all, as every rank does; rank 0 reports each as it is measured. Returns the exit code.
/// Throws as hw::Session::run() does, and an Error of code 1 for bytes that are wrong.
int run_sweep(const std::vector<SweepSize>& sizes, const JoinedRank& joined, SweepReport& report,
              Console& console);

}  // namespace slackline::cli
