// A run whose slack is asked for: made now, or read from a trace.
#pragma once

#include <optional>
#include <string>

#include "analysis/slack/timed_slack.h"
#include "cli/answer.h"
#include "cli/console.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
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

/// What every report of slack begins with: the schedule, the engine and the platform; `contended`
/// stands in the document where it is said. Entries of the plan that come after the run's end have
/// no effect, but on delayed runs: the longest of these takes `longer_s` more, or never ends.
void add_run(Answer& answer, const SlackRun& run, std::optional<bool> contended = {},
             double longer_s = 0);
/// The same of a run that is really delayed, with its makespan.
void add_delayed_run(Answer& answer, const SlackRun& run, double makespan_s, double longer_s = 0);
/// An operation's number, kind, rank and step.
Columns op_columns(const sched::Schedule& schedule,
                   const std::function<sched::OpId(std::uint32_t row)>& op);

/// Where the times on the wire are from: "model" or "run".
std::string_view name(analysis::WireTimes wire);
std::optional<analysis::WireTimes> wire_times_named(std::string_view name);

}  // namespace slackline::cli
