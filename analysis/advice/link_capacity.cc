#include "analysis/advice/link_capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/engines/sent_together.h"
#include "base/error.h"
#include "machine/event_queue.h"

namespace slackline::analysis {

void require_within_capacity(std::string_view name, double bytes, double messages,
                             double bytes_per_s, double makespan_s) {
  // A message may begin an instant early, and end as early by the clock of an engine.
  const double rounding_s = 1e-6 * makespan_s + 4 * machine::kInstant_s * messages +
                            16 * std::numeric_limits<double>::epsilon() * makespan_s * messages;
  const double needed_s = bytes / bytes_per_s;
  if (needed_s <= makespan_s + rounding_s) return;
  throw InternalError(
      fmt::format("{:.0f} bytes went over {} in {:.9g} s, which at {:.9g} bytes per second takes "
                  "{:.9g} s",
                  bytes, name, makespan_s, bytes_per_s, needed_s));
}

void require_within_capacity(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace) {
  const sched::Schedule& schedule = setting.schedule;
  if (trace.ops.size() != schedule.op_count()) return;
  CapacityCheck check(setting, paths, trace);
  const SentTogether together(schedule, &trace);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    const sched::OpId id(i);
    if (!sched::is_initiator(op.kind) || !together.stands_for_all(id)) continue;
    check.add(op, together.bytes(id), trace.ops[i].attempts);
  }
  check.require(trace.makespan_s());
}

CapacityCheck::CapacityCheck(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace)
    : setting_(setting),
      paths_(paths),
      most_small_bytes_(setting.platform.interleave_bytes),
      looks_(!trace.contended && !paths.may_fail()),
      carried_(paths.size()) {}

void CapacityCheck::require(double makespan_s) const {
  if (!looks_ || !std::isfinite(makespan_s)) return;
  const auto links = setting_.wiring.links();
  std::vector<double> bytes(links.size(), 0);
  std::vector<double> messages(links.size(), 0);
  for (std::uint32_t p = 0; p < carried_.size(); ++p) {
    const machine::PathId path(p);
    const auto passed = paths_.links(path);
    for (std::size_t l = 0; l < passed.size(); ++l) {
      // Between NICs it may have taken another way.
      if (paths_.is_adaptive() && l != 0 && l + 1 != passed.size()) continue;
      bytes[passed[l].value] += carried_[p].bytes * paths_.share(path, l);
      messages[passed[l].value] += carried_[p].messages;
    }
  }
  std::vector<double> rates(links.size());
  for (std::size_t l = 0; l < links.size(); ++l) rates[l] = links[l].rate.bytes_per_second();
  for (const machine::Paths::LinkChange& change : paths_.link_changes()) {
    rates[change.link.value] = std::max(rates[change.link.value], change.bytes_per_s);
  }
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (!links[l].shared || bytes[l] == 0) continue;
    require_within_capacity(links[l].name, bytes[l], messages[l], rates[l], makespan_s);
  }
}

}  // namespace slackline::analysis
