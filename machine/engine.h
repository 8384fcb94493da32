// Who says how long a schedule takes: the interface of all engines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/driven_run.h"
#include "machine/paths.h"
#include "machine/plan_runs.h"
#include "machine/samples.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::machine {

/// One engine. Its functions throw Unsupported for what it refuses, InputError for schedules that
/// cannot finish.
struct Engine {
  std::string_view name = {};
  std::string_view summary = {};  // one line for people
  bool shares_links = false;      // and fair NICs; the others leave that out
  /// One run, which draws with the seed of the setting's delays.
  sched::Trace (*run_once)(const Setting&) = nullptr;
  /// Many runs, as TraceSource says; the setting's own delays do not count.
  std::vector<double> (*run_plans)(const Setting&, const PlanRuns&, const TraceReading&) = nullptr;
  /// Many runs of the setting, each with one more delay, to the last bit as run_once() has them but
  /// for causes and the delays that a trace names. Null: it has no quicker way than run_plans().
  std::vector<double> (*run_delayed)(const Setting&, std::span<const OpDelay>, const PlanRuns&,
                                     const TraceReading&) = nullptr;
  /// Of another run of the schedule's messages (machine/driven_run.h). Null: each message has the
  /// rate of its slowest link, whoever shares it.
  std::string (*drive_run)(const Setting&, const Paths&, const MakeRun&) = nullptr;
  /// Why it refuses the setting: what is in it, by name. Null: it refuses none.
  std::optional<std::string> (*refusal)(const Setting&) = nullptr;

  sched::Trace run(const Setting& setting) const { return run_once(setting); }
  std::vector<double> runs(const Setting& setting, const PlanRuns& plans,
                           const TraceReading& reading) const {
    return run_plans(setting, plans, reading);
  }
  /// One run for each of `delays`, which comes on top of the setting's. Of `plans`, jobs and
  /// progress are read. Throws InputError for an operation that does not exist.
  std::vector<double> delayed_runs(const Setting& setting, std::span<const OpDelay> delays,
                                   const PlanRuns& plans, const TraceReading& reading) const;
  /// As runs(), of this setting; whatever it is of must outlive the source.
  TraceSource source(const Setting& setting) const {
    return [run = run_plans, setting](const PlanRuns& plans, const TraceReading& reading) {
      return run(setting, plans, reading);
    };
  }
  /// Runs the setting once per sample, as SampleRuns says.
  Samples samples(const Setting& setting, const SampleRuns& runs) const;
  /// `paths` are those of the setting.
  std::string drive(const Setting& setting, const Paths& paths, const MakeRun& make) const;
  std::optional<std::string> why_refused(const Setting& setting) const {
    return refusal == nullptr ? std::nullopt : refusal(setting);
  }
};

}  // namespace slackline::machine
