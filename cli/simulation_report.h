// What `simulate` says of one run, as a table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/engines/link_load.h"
#include "analysis/outcome.h"
#include "cli/answer.h"
#include "cli/link_use.h"
#include "cli/simulation_options.h"
#include "machine/delays.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::cli {

/// What a simulation found, beside its trace. A table that is added here is one of cli/bare_run's
/// columns, too, if runs that complete have it.
struct SimulationResult {
  double makespan_s = 0;  // infinite if something failed
  std::vector<double> finish_s;
  LinkUse use;
  std::vector<double> out_share;
  std::vector<double> in_share;
  NicUse nics;                               // of machines of several
  std::vector<std::string> nic_names;        // …
  std::vector<std::string_view> link_names;  // the wiring's, of a network that is no star
  std::vector<double> link_bytes_per_s;
  std::vector<machine::IdleEntry> without_effect;  // of the plan's delays
  std::vector<analysis::LinkLoad> link_loads;
  std::optional<analysis::Outcome> failed;  // if the run did not finish
  std::vector<std::string> why_stuck;       // of every rank; empty where it completed
};

/// The wiring must outlive the result. Throws InternalError if a link carried more than it can, as
/// require_within_capacity() says.
SimulationResult result_of(const machine::Setting& setting, const sched::Trace& trace);

/// Says which delays had no effect, and names the NICs and links of a result that has figures of
/// them, as result_of() does.
void name_parts(const machine::Setting& setting, const machine::Paths& paths,
                SimulationResult& result);

struct Simulation {
  const RunSetting& setting;
  std::string answered_by;  // sched::Trace::engine
  bool contended = false;
  const SimulationResult& result;
  std::optional<std::string> trace_file;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(result.finish_s.size()); }
};

/// Of people who do not want all, one row per rank up to a few.
void answer_simulation(Answer& answer, const Simulation& simulation);

/// A row of the plan, and one for each of its entries that had no effect; not where it is empty.
void add_delays(Answer& answer, const machine::DelayPlan& delays,
                const std::vector<machine::IdleEntry>& without_effect);

/// "3 delays, 1 slow pair, noise, 1 failure": what a delay plan holds; empty for an empty one.
std::string summary_of(const machine::DelayPlan& delays);

/// One line per message and link: link,begin_s,end_s,bytes,op.
std::string link_csv(const machine::Setting& setting, const sched::Trace& trace);

}  // namespace slackline::cli
