// What `slack --price` says: what the same delay really costs at each operation alone.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "cli/json_document.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"
#include "cli/table.h"

namespace slackline::cli {

struct DelayPrices {
  sched::Time by{0};
  double makespan_s = 0;       // without any
  std::vector<double> cost_s;  // of every operation: how much later the run with its delay ends
};
std::string price_report(const LoadedSchedule& loaded, const SlackRun& run,
                         const DelayPrices& prices, bool all);
std::string price_document(const LoadedSchedule& loaded, const SlackRun& run,
                           const DelayPrices& prices);

/// What reports of really delayed runs have in common: the run's lines and its makespan; in JSON
/// also the schedule and the platform.
void add_delayed_run_rows(Table& head, const SlackRun& run, double makespan_s);
void set_delayed_run(JsonDocument& json, const LoadedSchedule& loaded, const SlackRun& run,
                     double makespan_s);
/// An operation's columns: number, kind, rank and step.
std::vector<std::string> op_cells(const sched::Schedule& schedule, sched::OpId id);
/// "  … and 3 more ops; --all shows them", or nothing if none is left.
std::string more_ops(std::size_t left);

}  // namespace slackline::cli
