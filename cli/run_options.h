// The options that say how a schedule is run on which machine, shared by what runs one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/delay_options.h"
#include "cli/engine.h"
#include "cli/order_options.h"
#include "machine/delay_plan.h"
#include "machine/issue_policy.h"
#include "machine/plan_runs.h"
#include "machine/platform.h"
#include "machine/samples.h"
#include "machine/wiring.h"
#include "sched/trace.h"

namespace slackline::cli {

/// The options, read.
struct RunSetting {
  machine::Platform platform;
  machine::DelayPlan delays;
  const EngineEntry* engine = nullptr;
  machine::IssuePolicy policy = machine::IssuePolicy::kInOrder;
  std::uint32_t sends_in_flight = 0;
  std::optional<std::uint64_t> seed;  // if --seed was given; then it is that of `delays` too

  /// `wiring` is wiring_of() the platform and the schedule.
  /// least-slack goes by the total float of the same engine's run without delays, in program order.
  sched::Trace run(const sched::Schedule& schedule, const machine::Wiring& wiring,
                   Console& console) const;
  /// The same with other delays, each in the same order. Keeps references to all but the console.
  std::function<sched::Trace(const machine::DelayPlan&)> runner(const sched::Schedule& schedule,
                                                                const machine::Wiring& wiring,
                                                                Console& console) const;
  machine::Samples run_samples(const sched::Schedule& schedule, const machine::Wiring& wiring,
                               const machine::SampleRuns& runs, Console& console) const;
  /// Many runs of `schedule`; it, the wiring and this must outlive the source.
  machine::TraceSource source(const sched::Schedule& schedule, const machine::Wiring& wiring,
                              Console& console) const;
  /// The order in which lanes post; `slack_s` is where it keeps what it goes by.
  machine::IssueOrder order_of(const sched::Schedule& schedule, const machine::Wiring& wiring,
                               Console& console, std::vector<double>& slack_s) const;
};

/// How the options are called where they would collide with a command's own.
struct RunOptionNames {
  std::string engine = "-e,--engine";
  std::string engine_values = "simgrid|flow|analytic|event";
  bool delay = true;  // whether there is --delay; --delays can say the same
};

class RunOptions {
 public:
  /// `engine` is the default; if this build lacks it, resolve() takes the analytic one and says so.
  explicit RunOptions(std::string engine, RunOptionNames names = {})
      : default_engine_(std::move(engine)),
        names_(std::move(names)),
        delays_({names_.delay, true}) {}

  void declare(Arguments& arguments);
  /// Reads platform, delays and names, before any work. Throws InputError, EnvironmentError.
  RunSetting resolve(Console& console) const;
  /// The same but for the engine, which is the default.
  RunSetting resolve_machine(Console& console) const;
  bool platform_given() const { return platform_.has_value(); }
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
