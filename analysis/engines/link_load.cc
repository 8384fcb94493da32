#include "analysis/engines/link_load.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analysis/engines/sent_together.h"
#include "machine/event_queue.h"
#include "machine/run/adaptive_ways.h"
#include "machine/run/link_crowding.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

// Of a message, on a link.
struct Interval {
  double begin_s;
  double end_s;
  machine::PathId path;
  double share;
  double most_bytes_per_s;  // that PCIe has for it
};

using Changes = std::vector<std::pair<double, double>>;  // when, and of how many bytes per second

// What ends comes before what starts within an instant. A message's rate changes with its links'.
void add_changes(const machine::Paths& paths, const Interval& interval,
                 const std::vector<double>& moments_s, Changes& changes) {
  double begin_s = interval.begin_s;
  const auto add_until = [&](double end_s) {
    const double bytes_per_s =
        std::min(paths.bytes_per_s(begin_s, interval.path), interval.most_bytes_per_s) *
        interval.share;
    changes.emplace_back(begin_s + machine::kInstant_s, bytes_per_s);
    changes.emplace_back(end_s, -bytes_per_s);
    begin_s = end_s;
  };
  for (const double moment_s : moments_s) {
    if (moment_s > begin_s && moment_s < interval.end_s) add_until(moment_s);
  }
  add_until(interval.end_s);
}

}  // namespace

double sent_s(const sched::Schedule& schedule, const machine::Paths& paths,
              const sched::Trace& trace, OpId id, std::uint64_t bytes) {
  const sched::Op& op = schedule.op(id);
  const double latency_s = paths[paths.of(op.channel, sched::has_reply(op.kind))].latency_s;
  if (op.match.valid()) return trace.ops[op.match.value].wire_s - latency_s;
  const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
  return paths.sent_s(trace.ops[id.value].wire_s, path, bytes);
}

std::vector<LinkLoad> link_load(const machine::Setting& setting, const machine::Paths& paths,
                                const sched::Trace& trace) {
  machine::require_fixed_ways(setting.platform, "loads of links");
  const sched::Schedule& schedule = setting.schedule;
  const SentTogether together(schedule, &trace);
  std::vector<LinkLoad> loads(setting.wiring.links().size());
  std::vector<std::vector<std::pair<double, double>>> busy(loads.size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind) || !std::isfinite(trace.ops[i].wire_s)) continue;
    if (!together.stands_for_all(OpId(i))) continue;
    const std::uint64_t bytes = together.bytes(OpId(i));
    const std::uint64_t times = trace.ops[i].attempts;
    if (bytes == 0 || times == 0) continue;
    const double end_s = sent_s(schedule, paths, trace, OpId(i), bytes);
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    const auto links = paths.links(path);
    for (std::size_t l = 0; l < links.size(); ++l) {
      LinkLoad& load = loads[links[l].value];
      load.bytes += times * paths.bytes_over(path, l, bytes);
      load.wire_bytes +=
          static_cast<double>(times) * paths.wire_bytes(path, bytes) * paths.share(path, l);
      load.messages += times;
      const double begin_s = trace.ops[i].wire_s;
      if (std::isfinite(end_s) && end_s >= begin_s) {
        busy[links[l].value].emplace_back(begin_s, end_s);
      }
    }
  }
  for (std::size_t l = 0; l < loads.size(); ++l) {
    std::sort(busy[l].begin(), busy[l].end());
    double until_s = 0;
    for (const auto& [begin_s, end_s] : busy[l]) {
      if (end_s <= until_s) continue;
      loads[l].busy_s += end_s - std::max(begin_s, until_s);
      until_s = end_s;
    }
  }
  return loads;
}

bool shares(const machine::Setting& setting, const machine::Paths& paths, const sched::Trace& trace,
            bool ports_shared) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Wiring& wiring = setting.wiring;
  const machine::TopologyKind kind = setting.platform.topology.kind();
  const bool has_nics = kind != machine::TopologyKind::kSimgridFile;
  if (has_nics && ports_shared) return true;
  if (kind == machine::TopologyKind::kStar) return false;
  std::vector<std::vector<Interval>> under_way(wiring.links().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind) || !std::isfinite(trace.ops[i].wire_s)) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    if (bytes <= setting.platform.interleave_bytes || trace.ops[i].attempts == 0) continue;
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    const double begin_s = trace.ops[i].wire_s;
    const double end_s = paths.sent_s(begin_s, path, bytes);
    const auto links = paths.links(path);
    // A NIC's link is its port; that of a switch carries what others send through the switch, too.
    const std::size_t first = has_nics && !paths[path].from_switch ? 1 : 0;
    const std::size_t last = has_nics && !paths[path].to_switch ? 1 : 0;
    for (std::size_t l = first; l + last < links.size(); ++l) {
      if (!wiring.links()[links[l].value].shared) continue;
      under_way[links[l].value].push_back(
          {begin_s, end_s, path, paths.share(path, l), paths.most_bytes_per_s(path, bytes)});
    }
  }
  std::vector<double> moments_s;
  for (const machine::Paths::LinkChange& change : paths.link_changes()) {
    moments_s.push_back(change.at_s);
  }
  std::sort(moments_s.begin(), moments_s.end());
  Changes changes;
  for (std::size_t l = 0; l < under_way.size(); ++l) {
    changes.clear();
    for (const Interval& interval : under_way[l]) {
      add_changes(paths, interval, moments_s, changes);
    }
    std::sort(changes.begin(), changes.end());
    const machine::LinkId link(static_cast<std::uint32_t>(l));
    double demand = 0;
    for (const auto& [time_s, change] : changes) {
      demand += change;
      if (change <= 0) continue;
      const double rate = machine::link_bytes_per_s(wiring, paths, link, time_s);
      if (demand > rate * (1 + 1e-9)) return true;
    }
  }
  return false;
}

}  // namespace slackline::analysis
