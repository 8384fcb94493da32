// A run, or two of one schedule, as one page for a browser that needs nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/slack/wire_times.h"
#include "machine/setting.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::report {

/// A run, and what it was of. Of a real run ("run:…") the platform says only which messages are
/// small.
struct ReportedRun {
  std::string label;  // for people: the trace's file, or what it is
  const sched::Trace& trace;
  machine::Setting setting;
  /// Where the times on the wire of its slack are from; without it, what explains the run.
  std::optional<analysis::WireTimes> wire;
  /// Why floats of this run are no promise: ends a sentence. Nothing if they are.
  std::optional<std::string> no_promise;
  /// What a small delay of each operation alone costs, per second of it: infinite where the least
  /// delay costs (or below 0: gains) something at once, not a number where it is not known. Empty
  /// if it is known of none.
  std::vector<double> slopes = {};
};

/// What came out where one operation was delayed.
struct ValidatedDelay {
  sched::OpId op;
  double delay_s = 0;
  double predicted_s = 0;  // how much later the run ends
  double measured_s = 0;
  bool within = true;  // its tolerance
};

struct Report {
  std::string name;  // for people: what the schedule was made from
  const sched::Schedule& schedule;
  std::vector<ReportedRun> runs;  // up to two, of this schedule
  /// Makespans of many runs, infinite where one never ended; and what they are, for people. Empty
  /// if there are none.
  std::vector<double> samples_s;
  std::string samples_of;
  std::vector<ValidatedDelay> validated;  // empty if nothing was validated
};

/// The page as HTML: one file, which takes nothing from anywhere. The same report gives the same
/// bytes. Slack is computed where the run is complete and slack takes the schedule; elsewhere the
/// page says why it has none. Throws InputError unless every trace is of the schedule, Unsupported
/// for numbers of 2^52 or more.
std::string report_page(const Report& report);

}  // namespace slackline::report
