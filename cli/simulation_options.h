// The options that say how a schedule is run on which machine, shared by what runs one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/delay_options.h"
#include "cli/order_options.h"
#include "machine/engine.h"

namespace slackline::cli {

/// The options, read.
struct RunSetting {
  machine::Platform platform;
  machine::DelayPlan delays;
  const machine::Engine* engine = nullptr;
  machine::IssuePolicy policy = machine::IssuePolicy::kInOrder;
  std::uint32_t sends_in_flight = 0;
  std::optional<std::uint64_t> seed;  // if --seed was given; then it is that of `delays` too
};

/// A schedule in such a setting: on its network, with the order in which its lanes post. The
/// options and the schedule must outlive it.
class SettledRun {
 public:
  /// least-slack goes by the total float of the same engine's run without delays, in program order.
  SettledRun(const RunSetting& chosen, const sched::Schedule& schedule, Console& console);

  const machine::Engine& engine() const { return *chosen_.engine; }
  const machine::Setting& setting() const { return *setting_; }
  /// These tell the console what goes on.
  sched::Trace run(Console& console) const { return run(console, {}); }
  /// The same, which adds up there what lanes do: machine::Setting::adding_up().
  sched::Trace run(Console& console, std::span<machine::LaneUse> uses) const;
  machine::Samples samples(const machine::SampleRuns& runs, Console& console) const;

  /// What the order goes by, for whoever keeps the order longer than this.
  std::vector<double> release_slack_s() { return std::move(slack_s_); }

 private:
  const RunSetting& chosen_;
  std::vector<double> slack_s_;  // that the order goes by
  std::optional<machine::Setting> setting_;
};

/// How the options are called where they would collide with a command's own.
struct RunOptionNames {
  std::string engine = "-e,--engine";
  std::string more_engines = {};  // that are none, as in "|run"
  bool delay = true;              // whether there is --delay; --delays can say the same
};

/// The engine of that name; if this build lacks it, the flow engine, and a note says so.
const machine::Engine* engine_or_flow(std::string_view name, Console& console);

class SimulationOptions {
 public:
  /// `engine` is the default, as engine_or_flow() has it.
  explicit SimulationOptions(std::string engine, RunOptionNames names = {})
      : default_engine_(std::move(engine)),
        names_(std::move(names)),
        delays_({names_.delay, true}) {}

  void declare(Arguments& arguments);
  /// Reads platform, delays and names, before any work. Throws InputError, EnvironmentError.
  RunSetting resolve(Console& console) const;
  /// The same but for the engine, which is the default.
  RunSetting resolve_machine(Console& console) const;
  bool platform_given() const { return platform_.has_value(); }
  /// The flow engine, where no engine was asked for and the default one left out of a run that
  /// messages shared links; null otherwise, and where the flow engine refuses the run.
  const machine::Engine* engine_that_shares(const machine::Setting& of, bool contended) const;
  /// What was given as the engine, before it is read.
  const std::optional<std::string>& engine() const { return engine_; }
  /// The first of these options that was given, as in "--platform"; empty if none was.
  std::string_view given() const;

 private:
  std::string_view engine_option() const;
  RunSetting resolve_rest() const;

  std::string default_engine_;
  RunOptionNames names_;
  std::optional<std::string> platform_, engine_;
  OrderOptions order_;
  DelayOptions delays_;
};

}  // namespace slackline::cli
