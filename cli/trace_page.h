// One trace or two, and the page of a report that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cli/answer.h"
#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/memory_option.h"
#include "cli/schedule_source.h"
#include "cli/subject.h"
#include "sched/trace.h"

namespace slackline::cli {

struct NamedTrace {
  std::string file;
  const sched::Trace& trace;
};

/// Throws InputError, naming both, for runs of two schedules.
void require_same_schedule(const NamedTrace& first, const NamedTrace& second);

/// The page of these runs of one schedule, on the platforms and with the delays that the traces
/// say.
std::string page_of_traces(const LoadedSchedule& loaded, std::span<const NamedTrace> traces);

class TracePage {
 public:
  /// The arguments, and the options that say where the schedule comes from.
  void declare(Arguments& arguments);

  struct Made {
    std::string schedule;  // for people
    std::string digest;
    std::uint64_t runs = 0;
    std::string html;

    /// "report.html: 1.2 MiB", of the page in that file.
    Subject subject(const std::string& file) const;
    /// In the document these but for the page, of which it has the size.
    void add_to(Answer& answer) const;
  };
  /// Reads, analyses and writes. Throws InputError, naming the trace, on what is none, on traces of
  /// two schedules, and where the schedule cannot be had.
  Made make(Console& console) const;

 private:
  std::string first_, second_;
  MemoryOption memory_;
  std::optional<std::string> schedule_;
};

}  // namespace slackline::cli
