// What `simulate --cpu` says: how busy each rank's processor was, and with what.
#pragma once

#include <vector>

#include "cli/answer.h"
#include "machine/engine.h"
#include "machine/lane_use.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::cli {

/// A rank's lanes together, of a run that took `end_s`.
struct CpuUse {
  machine::LaneUse use;
  std::uint32_t lanes = 0;
  double end_s = 0;

  /// A part of the time of all its lanes; 0 if that is none.
  double share(double part_s) const;
};

/// Throws Unsupported if the engine runs the setting without its lanes, and InputError if ranks
/// fail in it, whose lanes then neither work nor wait.
void require_cpu_use(const machine::Engine& engine, const machine::Setting& setting);

/// One entry for each lane of the schedule, of which nothing is added up yet.
std::vector<machine::LaneUse> lanes_to_add_up(const sched::Schedule& schedule);

/// Of every rank, from what the run of the setting's has added up.
std::vector<CpuUse> cpu_use(const machine::Setting& setting, const sched::Trace& trace,
                            std::vector<machine::LaneUse> lanes);

/// Shares of the lanes' time, rank by rank, and in JSON the seconds.
void add_cpu_use(Answer& answer, const std::vector<CpuUse>& ranks);

}  // namespace slackline::cli
