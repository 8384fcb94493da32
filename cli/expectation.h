// --expect: how much slower than expected a real run may be. Expected is what a simulation on
// --platform predicts, or what a saved run had.
#pragma once

#include <optional>
#include <string>

#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/simulation_options.h"
#include "sched/schedule.h"

namespace slackline::cli {

struct Expectation {
  double makespan_s = 0;
  std::string from;   // "simulated on fractus", or the file
  double within = 0;  // a share of makespan_s

  bool allows(double measured_s) const;
  /// One line: measured, expected and the difference.
  std::string line(double measured_s) const;
  void say(Answer& answer, double measured_s) const;
};

class ExpectOptions {
 public:
  void declare(Arguments& arguments);

  /// Nothing if nothing is expected. Without --of it simulates `predicted`; `platform`: what it was
  /// called, if it was given. Throws InputError on a run of another schedule, on one that never
  /// ended, and if it is not said what to go by.
  std::optional<Expectation> resolve(const sched::Schedule& schedule, const RunSetting& predicted,
                                     const std::optional<std::string>& platform,
                                     Console& console) const;

 private:
  std::optional<double> within_;
  std::optional<std::string> of_;
};

}  // namespace slackline::cli
