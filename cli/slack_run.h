// A run whose slack is asked for: made now, or read from a trace.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analysis/slack/timed_slack.h"
#include "cli/console.h"
#include "cli/run_options.h"
#include "cli/schedule_source.h"
#include "cli/table.h"
#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/trace.h"

namespace slackline::cli {

/// A run, and the machine and the delays that it had.
struct SlackRun {
  machine::Platform platform;
  machine::DelayPlan delays;
  std::string engine;          // as it was asked for, or who answered
  std::string platform_shown;  // for people
  sched::Trace trace;
  machine::Wiring wiring;

  /// By the machine model, the run, or what explains it.
  analysis::TimedSlack slack(const sched::Schedule& schedule,
                             std::optional<analysis::WireTimes> wire) const;
  /// Why floats of this run are no promise (cli/frozen_run.h).
  std::optional<std::string> why_no_promise(const sched::Schedule& schedule) const;
};

SlackRun run_now(const RunSetting& setting, const sched::Schedule& schedule, Console& console);

/// What a trace file says of its run. Throws InputError.
struct TracedRun {
  TracedRun(const std::string& path, const sched::MemoryLimit& memory);
  std::string path;
  sched::Trace trace;
  machine::Platform platform;
  machine::DelayPlan delays;

  SlackRun of(const sched::Schedule& schedule) const;
  /// Runs its schedule on its platform with other delays, on the engine that it had. Nothing if
  /// that does not come to the same without any: then it was another engine, or another policy.
  std::function<sched::Trace(const machine::DelayPlan&)> runner(
      const sched::Schedule& schedule, const machine::Wiring& wiring) const;
};

/// The lines about the run that every report of slack begins with.
void add_run_rows(Table& table, const SlackRun& run);

/// Where the times on the wire are from: "model" or "run".
std::string_view name(analysis::WireTimes wire);

/// "+1.5 us", "−2 ns", "0 s".
std::string human_difference(double time_s);

}  // namespace slackline::cli
