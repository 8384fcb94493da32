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
  require_within_capacity(setting, paths, trace, trace.makespan_s());
}

void require_within_capacity(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace, double makespan_s) {
  const sched::Schedule& schedule = setting.schedule;
  if (trace.contended || paths.may_fail() || trace.ops.size() != schedule.op_count()) return;
  if (!std::isfinite(makespan_s)) return;
  const auto links = setting.wiring.links();
  std::vector<double> bytes(links.size(), 0);
  std::vector<double> messages(links.size(), 0);
  const SentTogether together(schedule, &trace);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind) || !together.stands_for_all(sched::OpId(i))) continue;
    const std::uint64_t payload = together.bytes(sched::OpId(i));
    if (payload <= setting.platform.interleave_bytes) continue;
    const double times = trace.ops[i].attempts;
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    const auto passed = paths.links(path);
    for (std::size_t l = 0; l < passed.size(); ++l) {
      // Between NICs it may have taken another way.
      if (paths.is_adaptive() && l != 0 && l + 1 != passed.size()) continue;
      bytes[passed[l].value] += paths.wire_bytes(path, payload) * times * paths.share(path, l);
      messages[passed[l].value] += times;
    }
  }
  std::vector<double> rates(links.size());
  for (std::size_t l = 0; l < links.size(); ++l) rates[l] = links[l].rate.bytes_per_second();
  for (const machine::Paths::LinkChange& change : paths.link_changes()) {
    rates[change.link.value] = std::max(rates[change.link.value], change.bytes_per_s);
  }
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (!links[l].shared || bytes[l] == 0) continue;
    require_within_capacity(links[l].name, bytes[l], messages[l], rates[l], makespan_s);
  }
}

}  // namespace slackline::analysis
