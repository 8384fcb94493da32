// `simulate --workload`: the file in the place of SCHEDULE, and what the run says of its messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/schedule_source.h"
#include "machine/workload.h"
#include "sched/compose.h"
#include "sched/trace.h"

namespace slackline::cli {

class WorkloadSource {
 public:
  void declare(Arguments& arguments);
  bool given() const { return file_.has_value(); }
  const std::optional<std::string>& message_file() const { return message_file_; }
  /// Throws InputError if a workload stands beside a schedule or an option of its spec, or neither
  /// stands there; and if messages are asked for where there are none.
  void check(const ScheduleSource& source, bool json) const;

  /// Reads and compiles it, and proves it if `source` was told to. `seed` replaces the file's.
  LoadedSchedule load(const ScheduleSource& source, std::optional<std::uint64_t> seed,
                      Console& console);

  // Without a workload these do nothing. `trace` is of the schedule that load() gave.

  /// Writes a line per message: message,group,bytes,receivers,arrival_s,done_s,latency_s.
  void write_messages(const sched::Schedule& schedule, const sched::Trace& trace,
                      Console& console) const;
  /// All messages, and each group's.
  void add_to(Answer& answer, const sched::Schedule& schedule, const sched::Trace& trace) const;

 private:
  std::optional<std::string> file_;
  std::optional<std::string> message_file_;
  machine::Workload workload_;
  sched::PartMap parts_;
};

}  // namespace slackline::cli
