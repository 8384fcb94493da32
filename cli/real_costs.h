// The options of `slack` that run a schedule anew for each thing that is changed: what a delay
// costs, and what a better link saves, where messages share links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/exact_float_report.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// --price, --slopes, --exact-float, --suggest and --what-if, of which one may be given.
class RealCosts {
 public:
  void declare(Arguments& arguments);
  /// None of them may stand beside any of `others`.
  static void exclude(Arguments& arguments, const std::vector<std::string>& others);
  /// The one that was given, as in "--price"; empty if none was.
  std::string_view given() const;

  /// The setting's engine is the flow engine. The page in `report_file` is of slopes alone.
  void find(Answer& answer, const LoadedSchedule& loaded, const RunSetting& setting,
            std::uint32_t jobs, const std::optional<std::string>& report_file,
            Console& console) const;

 private:
  FoundFloats exact_floats(const SlackRun& run, const analysis::DelayedRuns& runs,
                           std::uint32_t jobs, Console& console) const;

  std::optional<sched::Time> price_;
  std::optional<std::vector<sched::OpId>> float_ops_;  // empty: all
  bool slopes_ = false;
  bool suggest_ = false;
  bool what_if_ = false;
};

}  // namespace slackline::cli
