// What objects of Python hold. Whatever is made from a schedule shares it.
#pragma once

#include <memory>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/engine.h"
#include "machine/platform.h"
#include "machine/setting.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::python {

using HeldSchedule = std::shared_ptr<sched::Schedule>;

/// A schedule on a machine, with what goes wrong there, and the engine that answers.
struct Case {
  HeldSchedule schedule;
  machine::Platform platform;
  machine::DelayPlan delays;
  machine::Wiring wiring;
  const machine::Engine* engine = nullptr;
  machine::IssueOrder order;
  std::vector<double> slack_s;  // that the order goes by

  /// It is a view of this.
  machine::Setting setting() const { return {*schedule, platform, wiring, delays, order}; }
};

/// A case that was run, or that a run was of.
struct Run {
  std::shared_ptr<const Case> of;
  sched::Trace trace;
};

}  // namespace slackline::python
