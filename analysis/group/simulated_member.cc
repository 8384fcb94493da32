#include "analysis/group/simulated_member.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/units.h"
#include "machine/group/settlement.h"

namespace slackline::analysis {

namespace {

GroupMemberRun nothing_yet(std::size_t messages) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  GroupMemberRun run;
  run.finished_s = run.completed_s = std::vector<double>(messages, kNever);
  run.knew_s = run.settled_s = run.closed_s = kNever;
  return run;
}

machine::GroupCoreOptions core_options(const GroupScenario& scenario, std::uint32_t self) {
  machine::GroupCoreOptions options;
  for (std::uint32_t m = 0; m < scenario.shape.members; ++m) options.ranks.push_back(m);
  options.self = self;
  options.atomic_delivery = scenario.atomic_delivery;
  options.timeout_s = sched::seconds(scenario.timeout);
  return options;
}

}  // namespace

SimulatedMember::SimulatedMember(GroupSurroundings& of, std::uint32_t place,
                                 const GroupScenario& scenario)
    : simulation(of),
      self(place),
      run(nothing_yet(scenario.messages.size())),
      rows(scenario.shape.members, 0),
      written(scenario.shape.members, 0),
      is_writing(scenario.shape.members, false),
      core(*this, core_options(scenario, place)) {}

double SimulatedMember::now_s() const { return simulation.now_s(); }

void SimulatedMember::tell(std::uint32_t member, const machine::GroupSaying& saying) {
  simulation.tell(*this, member, saying);
}

bool SimulatedMember::is_idle() const { return core.finished() == simulation.message_count(); }

bool SimulatedMember::is_written_everywhere() const {
  if (small_written != simulation.small_writes(self, core.finished())) return false;
  if (!core.is_atomic()) return true;
  for (std::uint32_t m = 0; m < simulation.size(); ++m) {
    if (m != self && (is_writing[m] || written[m] < rows[self])) return false;
  }
  return true;
}

void SimulatedMember::complete() { run.completed_s[core.completed() - 1] = now_s(); }

void SimulatedMember::stop() {
  run.knew_s = now_s();
  simulation.stop(self);
}

void SimulatedMember::end() { run.closed_s = now_s(); }

void SimulatedMember::progress() {
  while (alive && core.progress()) {
  }
  const machine::Settlement* const settlement = core.settlement();
  if (alive && settlement != nullptr && settlement->decided()) {
    run.settled_s = std::min(run.settled_s, now_s());
  }
}

void SimulatedMember::finish() {
  if (!core.is_open()) return;
  run.finished_s[core.finished()] = now_s();
  core.finish();
  rows[self] = core.finished();
  publish();
  row_came(self, rows[self]);
}

void SimulatedMember::publish() {
  if (!core.is_open() || !core.is_atomic()) return;
  for (std::uint32_t m = 0; m < simulation.size(); ++m) {
    if (m == self || is_writing[m] || written[m] == rows[self]) continue;
    written[m] = rows[self];
    is_writing[m] = true;
    simulation.write_row(*this, m, rows[self]);
  }
}

void SimulatedMember::row_came(std::uint32_t from, std::uint64_t count) {
  rows[from] = std::max(rows[from], count);
  if (core.is_open() && core.is_atomic()) core.deliver(*std::ranges::min_element(rows));
}

void SimulatedMember::row_written(std::uint32_t to) {
  is_writing[to] = false;
  publish();
}

}  // namespace slackline::analysis
