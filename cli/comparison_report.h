// Two runs of one schedule, held against each other, as people and programs read it.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/advice/compare.h"
#include "cli/answer.h"
#include "cli/schedule_source.h"
#include "cli/trace_page.h"

namespace slackline::cli {

struct ComparisonReport {
  struct Options {
    std::uint64_t ops_shown = 10;  // that differ most
    std::optional<double> within;  // a share of the first makespan
  };
  const LoadedSchedule& loaded;
  const NamedTrace& first;
  const NamedTrace& second;
  const analysis::Comparison& found;
  Options options;

  /// The makespans differ by no more than `within`, if it was given. Two of 0 do not differ; those
  /// of a run that never ended always do.
  bool ok() const;

  void say(Answer& answer) const;
};

}  // namespace slackline::cli
