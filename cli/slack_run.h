// A run whose slack is asked for: made now, or read from a trace.
#pragma once

#include <optional>
#include <string>

#include "analysis/slack/timed_slack.h"
#include "cli/console.h"
#include "cli/run_options.h"
#include "cli/schedule_source.h"
#include "cli/table.h"
#include "machine/engine.h"
#include "sched/trace.h"

namespace slackline::cli {

/// A run, and what it was of.
struct SlackRun {
  machine::Setting setting;
  std::string engine;          // as it was asked for, or who answered
  std::string platform_shown;  // for people
  sched::Trace trace;

  /// By the machine model, the run, or what explains it.
  analysis::TimedSlack slack(std::optional<analysis::WireTimes> wire) const;
};

/// What it is of must outlive the answer.
SlackRun run_now(const SettledRun& settled, Console& console);

/// What a trace file says of its run. Throws InputError.
struct TracedRun {
  TracedRun(const std::string& path, const sched::MemoryLimit& memory);
  std::string path;
  sched::Trace trace;
  machine::Platform platform;
  machine::DelayPlan delays;

  /// The schedule and this must outlive the answer.
  SlackRun of(const sched::Schedule& schedule) const;
  /// The engine that it had. Null if what that makes of `setting`, of() its schedule, is not the
  /// run: then it was another engine, or another policy.
  const machine::Engine* engine_of(const machine::Setting& setting) const;
};

/// The lines about the run that every report of slack begins with.
void add_run_rows(Table& table, const SlackRun& run);

/// Where the times on the wire are from: "model" or "run".
std::string_view name(analysis::WireTimes wire);

/// "+1.5 us", "−2 ns", "0 s".
std::string human_difference(double time_s);

}  // namespace slackline::cli
