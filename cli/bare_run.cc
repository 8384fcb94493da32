#include "cli/bare_run.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "cli/contents.h"
#include "cli/simulated.h"
#include "machine/delays.h"
#include "machine/paths.h"

namespace slackline::cli {
namespace {

// All that a result has of the trace of a run that completed, beside its makespan.
template <class Result, class Visit>
void each_column(Result& result, const Visit& visit) {
  visit(result.finish_s);
  visit(result.use.out_bytes);
  visit(result.use.in_bytes);
  visit(result.use.out_wire_bytes);
  visit(result.use.in_wire_bytes);
  visit(result.out_share);
  visit(result.in_share);
  visit(result.nics.out_bytes);
  visit(result.nics.in_bytes);
  visit(result.nics.out_share);
  visit(result.nics.in_share);
  visit(result.link_loads);
}

// Columns go to another process as doubles, each behind its length; what is none as its bits.
template <class Value>
constexpr std::size_t kDoubles = sizeof(Value) / sizeof(double);

std::size_t doubles_of(const SimulationResult& result) {
  std::size_t count = 1;
  each_column(result, [&]<class Value>(const std::vector<Value>& column) {
    static_assert(sizeof(Value) % sizeof(double) == 0);
    count += 1 + column.size() * kDoubles<Value>;
  });
  return count;
}

void write(const SimulationResult& result, std::span<double> kept) {
  if (doubles_of(result) > kept.size()) throw InternalError("a result is larger than its room");
  kept[0] = result.makespan_s;
  std::size_t at = 1;
  each_column(result, [&]<class Value>(const std::vector<Value>& column) {
    kept[at++] = static_cast<double>(column.size());
    const std::size_t bytes = column.size() * sizeof(Value);
    if (bytes != 0) std::memcpy(kept.data() + at, static_cast<const void*>(column.data()), bytes);
    at += column.size() * kDoubles<Value>;
  });
}

SimulationResult read(std::span<const double> kept) {
  SimulationResult result;
  result.makespan_s = kept[0];
  std::size_t at = 1;
  each_column(result, [&]<class Value>(std::vector<Value>& column) {
    column.resize(static_cast<std::size_t>(kept[at++]));
    const std::size_t bytes = column.size() * sizeof(Value);
    if (bytes != 0) std::memcpy(static_cast<void*>(column.data()), kept.data() + at, bytes);
    at += column.size() * kDoubles<Value>;
  });
  return result;
}

std::uint32_t most_doubles(const machine::Setting& setting, const machine::Paths& paths) {
  SimulationResult longest;
  const std::size_t most =
      std::max({std::size_t{setting.schedule.rank_count()}, std::size_t{paths.nic_count()},
                setting.wiring.links().size()});
  each_column(longest, [&](auto& column) { column.resize(most); });
  return static_cast<std::uint32_t>(doubles_of(longest));
}

}  // namespace

bool has_bare_result(const SettledRun& settled, const LoadedSchedule& loaded) {
  if (settled.engine().name != "simgrid" || Contents::may_look_at(loaded)) return false;
  const machine::Delays complains_first(settled.setting());
  return !machine::Paths(settled.setting()).may_fail();
}

SimulationResult bare_result(const SettledRun& settled, Console& console) {
  const machine::Setting& setting = settled.setting();
  const machine::Paths paths(setting);
  const machine::TraceReading reading{most_doubles(setting, paths),
                                      [&](const sched::Trace& trace, std::span<double> kept) {
                                        write(result_of(setting, trace), kept);
                                      }};
  machine::PlanRuns once;
  once.count = 1;
  once.plan = [&](std::uint32_t) { return setting.delays; };
  const machine::Engine& engine = settled.engine();
  SimulationResult result =
      read(simulated(engine, console, [&] { return engine.runs(setting, once, reading); }));
  name_parts(setting, paths, result);
  return result;
}

}  // namespace slackline::cli
