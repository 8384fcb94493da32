// How long an operation of a run holds its lane.
#pragma once

#include "machine/delays.h"
#include "machine/lane.h"
#include "machine/setting.h"

namespace slackline::analysis {

/// In seconds, with its delays; 0 if it holds none.
inline double lane_hold_s(const machine::Setting& setting, const machine::Delays& delays,
                          sched::OpId id) {
  const sched::Op& op = setting.schedule.op(id);
  if (!machine::holds_lane(op.kind)) return 0;
  return machine::lane_time_s(setting.schedule, setting.platform, op) + delays.lane_delay_s(id);
}

}  // namespace slackline::analysis
