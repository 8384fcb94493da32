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
#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/run_options.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// --price, --slopes, --exact-float, --suggest and --what-if, of which one may be given.
class RealCosts {
 public:
  void declare(Arguments& arguments);
  /// Reads them, before any work. Throws InputError on a time that is none, and on two of them.
  void check();
  /// The one that was given, as in "--price"; empty if none was.
  std::string_view given() const;

  /// The report, or the JSON document. The setting's engine is the flow engine.
  std::string answer(const LoadedSchedule& loaded, const RunSetting& setting, std::uint32_t jobs,
                     bool all, bool json, Console& console) const;

 private:
  std::vector<std::string_view> all_given() const;
  std::string exact_floats(const LoadedSchedule& loaded, const SlackRun& run,
                           const analysis::DelayedRuns& runs, std::uint32_t jobs, bool all,
                           bool json, Console& console) const;

  std::optional<std::string> price_text_, float_text_;
  bool slopes_ = false;
  bool suggest_ = false;
  bool what_if_ = false;
  // As check() reads them.
  sched::Time price_{0};
  std::vector<sched::OpId> float_ops_;  // empty: all
};

}  // namespace slackline::cli
