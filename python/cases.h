// A schedule on a machine, from what a user of Python says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "python/held.h"

namespace slackline::python {

/// What says how lanes take operations: machine::IssueOrder.
struct OrderWords {
  std::string policy;  // by its name
  std::uint32_t sends_in_flight = 0;
};

/// With the policy least-slack it runs the case once without delays, watched. Throws InputError,
/// EnvironmentError, and what the engine throws.
std::shared_ptr<const Case> make_case(HeldSchedule schedule, const machine::Platform& platform,
                                      const machine::DelayPlan& delays, const std::string& engine,
                                      const OrderWords& order, const machine::RunWatch* watch);

/// What a trace is of. That of a real run names no platform: the default one then. Throws
/// InputError if it is of another schedule.
std::shared_ptr<const Case> case_of(HeldSchedule schedule, const sched::Trace& trace,
                                    const std::string& name);

}  // namespace slackline::python
