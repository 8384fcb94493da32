// What a run did and left behind, held against what its operations should have: the contents of
// data structures, what fetch_adds have added, and that every call and delegate ran once, in its
// order.
#pragma once

#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/schedule_source.h"
#include "sched/schedule.h"
#include "sched/trace.h"
#include "sched/workloads/run_check.h"

namespace slackline::cli {

class Contents {
 public:
  /// Of a run at which nothing is looked.
  Contents() = default;
  /// Looks where there is something to look at: the schedule is a data structure's, a remote
  /// invocation's or an irregular pattern's, or it has atomics and the trace what they fetched; and
  /// the trace is of a run that came to its end. Without `clock_error` its times are exact.
  /// `timed`: it has times. Without them nothing is said of order.
  Contents(const LoadedSchedule& loaded, const sched::Trace& trace,
           const sched::ClockError& clock_error = {}, bool timed = true);

  /// The trace is of one of several iterations: report() says that it speaks of that one.
  void speak_of_one_iteration() { of_several_ = true; }

  /// Whether there may be something to look at, once such a run has come to its end.
  static bool may_look_at(const LoadedSchedule& loaded);

  bool ok() const { return findings_.empty(); }
  /// A line that says what was found, and one for each finding; empty where nothing was looked at.
  std::string report() const;
  /// "contents_checked" and "contents_findings" [{code, op, message}].
  void add_to(JsonOutput& json) const;
  /// Both, at the end of an answer.
  void add_to(Answer& answer) const {
    answer.say(report());
    if (answer.json() != nullptr) add_to(*answer.json());
  }

 private:
  struct Finding {
    std::string code;
    sched::OpId op;
    std::string message;
  };
  void look_at_structure(const sched::StructureProgram& program, const sched::Schedule& schedule,
                         const sched::Trace& trace, const sched::ClockError& clock_error);
  void look_at_words(const sched::Schedule& schedule, const sched::Trace& trace);
  void look_at_runs(const sched::Schedule& schedule, const sched::Trace& trace);
  void look_at_order(const sched::Schedule& schedule, const sched::Trace& trace,
                     const sched::ClockError& clock_error);

  std::string looked_at_;  // "640 operations on hash-table"; empty: at nothing
  std::vector<Finding> findings_;
  bool of_several_ = false;
};

}  // namespace slackline::cli
