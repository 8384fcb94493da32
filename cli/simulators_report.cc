#include "cli/simulators_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/read_file.h"
#include "base/split.h"
#include "cli/frozen_run.h"
#include "cli/list_row.h"
#include "engines/engines.h"
#include "engines/network.h"
#include "engines/other_simulators.h"

namespace slackline::cli {
namespace {

// To which engines are held in their tests.
constexpr double kRounding = 1e-9;

// Nothing before anybody has answered.
const SimulatorMakespan* first_answer(const std::vector<SimulatorMakespan>& said) {
  const auto found = std::ranges::find_if(
      said, [](const SimulatorMakespan& s) { return s.makespan_s.has_value(); });
  return found == said.end() ? nullptr : &*found;
}

std::string percent(double share) {
  if (std::abs(share) <= kRounding) return "the same";
  return fmt::format("{}{:.3g} %", share > 0 ? "+" : "−", 100 * std::abs(share));
}

// "htsim:told.txt": a simulator of others, and a file of what it printed elsewhere.
struct Asked {
  explicit Asked(std::string_view text)
      : name(text.substr(0, text.find(':'))),
        file(text.substr(std::min(name.size() + 1, text.size()))),
        other(engines::find_other_simulator(name)),
        is_file(name.size() < text.size()) {}

  std::string_view name;
  std::string file;
  const engines::OtherSimulator* other;
  bool is_file;
};

// What it refuses it cannot have been given elsewhere either.
double told_s(const Asked& asked, const machine::Setting& setting) {
  asked.other->job(setting, std::string(asked.name));
  const auto makespan_s = asked.other->told_s(sched::read_file(asked.file), setting);
  if (makespan_s) return *makespan_s;
  throw InputError(fmt::format("{}: it does not say when hosts finished; expected what {} printed",
                               asked.file, asked.other->program));
}

void ask(SimulatorMakespan& said, const machine::Setting& setting) {
  if (const Asked asked(said.name); asked.other != nullptr) {
    said.makespan_s = asked.is_file ? told_s(asked, setting) : makespan_s(*asked.other, setting);
    said.remark = how_it_differs(*asked.other, setting);
    return;
  }
  const machine::Engine& engine = engines::engine_named(said.name, "--with");
  const sched::Trace trace = engine.run(setting);
  said.makespan_s = trace.makespan_s();
  if (trace.engine != engine.name) said.remark = trace.engine;
  if (engine.shares_links) return;
  if (const auto link = shared_link_name(setting)) {
    said.remark +=
        fmt::format("{}messages do not share links, as {}", said.remark.empty() ? "" : ": ", *link);
  }
}

}  // namespace

std::vector<std::string> simulator_names(std::string_view list) {
  std::vector<std::string> names;
  if (list == "all") {
    for (const machine::Engine* engine : engines::engines()) names.emplace_back(engine->name);
    for (const engines::OtherSimulator& other : engines::other_simulators()) {
      if (engines::is_installed(other)) names.emplace_back(other.name);
    }
    return names;
  }
  for (const std::string_view name : base::split(list)) {
    const Asked asked(name);
    if (asked.other == nullptr && engines::find_engine(name) == nullptr && name != "simgrid") {
      std::string others;
      for (const engines::OtherSimulator& other : engines::other_simulators()) {
        others += fmt::format(", {}", other.name);
      }
      throw InputError(fmt::format("--with: '{}'; expected a list of {}{}, or all", name,
                                   engines::engine_names(", ", ", "), others));
    }
    if (std::ranges::find(names, name) != names.end()) {
      throw InputError(fmt::format("--with: {} twice; expected each once", name));
    }
    names.emplace_back(name);
  }
  return names;
}

std::vector<SimulatorMakespan> ask_simulators(const std::vector<std::string>& names,
                                              const LoadedSchedule& loaded,
                                              const machine::Platform& platform, Console& console) {
  const machine::Setting setting(loaded.schedule, platform,
                                 engines::wiring_of(platform, loaded.schedule));
  std::vector<SimulatorMakespan> said;
  for (const std::string& name : names) {
    console.phase("running " + name);
    SimulatorMakespan& one = said.emplace_back(SimulatorMakespan{name, {}, {}});
    try {
      ask(one, setting);
    } catch (const Unsupported& refusal) {
      one.remark = fmt::format("refused: {}", refusal.what());
    }
  }
  return said;
}

bool agree_within(const std::vector<SimulatorMakespan>& said, double share) {
  const SimulatorMakespan* const first = first_answer(said);
  return first == nullptr || std::ranges::all_of(said, [&](const SimulatorMakespan& s) {
           return !s.makespan_s ||
                  std::abs(*s.makespan_s - *first->makespan_s) <= share * *first->makespan_s;
         });
}

void answer_simulators(Answer& answer, const machine::Platform& platform,
                       const std::vector<SimulatorMakespan>& said,
                       const std::optional<double>& within) {
  const SimulatorMakespan* const first = first_answer(said);
  answer.both("platform", "platform", Value(platform.name));
  answer.set("platform_spec", platform.spec());
  add_list_row(answer.head(), "figures", platform.spec());
  if (within) {
    answer.set("within", Value(*within));
    answer.row("within", fmt::format("{:.4g} %: {}", 100 * *within,
                                     agree_within(said, *within) ? "yes" : "no"));
  }
  answer.digest_row();
  const auto against_first = [&](const SimulatorMakespan& s) -> std::optional<double> {
    if (!s.makespan_s || first == nullptr || *first->makespan_s == 0) return std::nullopt;
    return *s.makespan_s / *first->makespan_s - 1;
  };
  const Columns columns = {
      {"simulator", "simulator", [&](auto row) { return Value(said[row].name); }, Align::kLeft},
      {"makespan_s", "makespan", [&](auto row) { return in_seconds(said[row].makespan_s); }},
      {"against_first", "against the first",
       [&](auto row) {
         const auto share = against_first(said[row]);
         return Value(share).shown_as(!share ? "" : &said[row] == first ? "" : percent(*share));
       }},
      {"remark", "", [&](auto row) { return Value(said[row].remark); }, Align::kLeft}};
  const Rows rows = rows_of(said.size());
  answer.list("simulators", rows, columns);
  answer.table("", columns, rows);
}

}  // namespace slackline::cli
