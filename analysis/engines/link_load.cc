#include "analysis/engines/link_load.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "analysis/engines/sent_together.h"
#include "machine/completions.h"
#include "machine/event_queue.h"
#include "machine/run/adaptive_ways.h"
#include "machine/run/crowded_links.h"

namespace slackline::analysis {

using sched::OpId;

namespace {

// In runs of the others a message takes what it takes alone.
bool messages_share(const sched::Trace& trace) {
  return trace.engine == "flow" || trace.engine == "simgrid" || trace.engine == "fluid";
}

// Of what meets no receive and no poll, by when it was done.
double sent_by_done_s(const machine::Setting& setting, const machine::Paths& paths,
                      const sched::Trace& trace, OpId id) {
  const machine::Platform& platform = setting.platform;
  if (platform.ack_bytes != 0 || machine::completions_cost(platform)) {
    return std::numeric_limits<double>::infinity();
  }
  const sched::Op& op = setting.schedule.op(id);
  const bool by_switch = platform.switches.holds(op.rank, setting.schedule.rank_count());
  const double seen_s = by_switch ? 0 : sched::seconds(platform.o_complete);
  const double there_s =
      sched::has_reply(op.kind) ? 0 : paths[paths.of(op.channel, false)].latency_s;
  return trace.ops[id.value].done_s - seen_s - paths[paths.of(op.channel, true)].latency_s -
         there_s;
}

struct UnderWay {
  double begin_s;
  double end_s;
  machine::PathId path;
};

bool earlier(const UnderWay& a, const UnderWay& b) {
  return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.end_s < b.end_s;
}

// Puts them in order of time, in linear time where they are spread over the run: as many buckets
// as messages hold a few each, or those of one instant, which mostly stand in order already.
void sort_by_time(std::vector<UnderWay>& messages) {
  constexpr std::size_t kFew = 64;
  if (messages.size() < kFew) return std::sort(messages.begin(), messages.end(), earlier);
  double first_s = messages.front().begin_s;
  double last_s = first_s;
  for (const UnderWay& message : messages) {
    first_s = std::min(first_s, message.begin_s);
    last_s = std::max(last_s, message.begin_s);
  }
  const std::size_t last_bucket = messages.size() - 1;
  const double buckets_per_s = static_cast<double>(last_bucket) / (last_s - first_s);
  if (!std::isfinite(buckets_per_s)) {
    return std::sort(messages.begin(), messages.end(), earlier);
  }
  const auto bucket = [=](const UnderWay& message) {
    return std::min(last_bucket,
                    static_cast<std::size_t>((message.begin_s - first_s) * buckets_per_s));
  };
  std::vector<std::uint32_t> next(messages.size(), 0);  // where its next message goes
  for (const UnderWay& message : messages) ++next[bucket(message)];
  std::uint32_t before = 0;
  for (std::uint32_t& place : next) before += std::exchange(place, before);
  std::vector<UnderWay> sorted(messages.size());
  for (const UnderWay& message : messages) sorted[next[bucket(message)]++] = message;
  messages.swap(sorted);
  auto begin = messages.begin();
  for (const std::uint32_t place : next) {  // a bucket ends where its next message would go
    const auto end = messages.begin() + place;
    if (!std::is_sorted(begin, end, earlier)) std::sort(begin, end, earlier);
    begin = end;
  }
}

// The time in which something was under way on each link. In order of time one sort serves all of
// them, and nothing has to be kept of a link but until when it is busy.
void add_busy_times(const machine::Paths& paths, std::vector<UnderWay>& messages,
                    std::vector<LinkLoad>& loads) {
  sort_by_time(messages);
  std::vector<double> until_s(loads.size(), 0);
  for (const UnderWay& message : messages) {
    for (const machine::LinkId link : paths.links(message.path)) {
      double& busy_until_s = until_s[link.value];
      if (message.end_s <= busy_until_s) continue;
      loads[link.value].busy_s += message.end_s - std::max(message.begin_s, busy_until_s);
      busy_until_s = message.end_s;
    }
  }
}

}  // namespace

double sent_s(const machine::Setting& setting, const machine::Paths& paths,
              const sched::Trace& trace, OpId id, std::uint64_t bytes) {
  const sched::Op& op = setting.schedule.op(id);
  const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
  const double begin_s = trace.ops[id.value].wire_s;
  if (op.match.valid()) {
    return std::max(begin_s, trace.ops[op.match.value].wire_s - paths[path].latency_s);
  }
  if (bytes <= setting.platform.interleave_bytes || paths[path].local || !messages_share(trace)) {
    const double end_s = paths.sent_s(begin_s, path, bytes);
    const bool lost = end_s + machine::kInstant_s > paths[path].cut_s;
    return lost ? std::numeric_limits<double>::infinity() : end_s;
  }
  return std::max(begin_s, sent_by_done_s(setting, paths, trace, id));
}

std::vector<LinkLoad> link_load(const machine::Setting& setting, const machine::Paths& paths,
                                const sched::Trace& trace) {
  machine::require_fixed_ways(setting.platform, "loads of links");
  const sched::Schedule& schedule = setting.schedule;
  const SentTogether together(schedule, &trace);
  std::vector<LinkLoad> loads(setting.wiring.links().size());
  std::vector<UnderWay> messages;
  messages.reserve(schedule.op_count());  // what is not used costs no memory
  each_sent(schedule, &trace, [&](OpId id, const sched::Op& op, std::uint64_t times) {
    const std::uint64_t bytes = together.bytes(id);
    if (bytes == 0 || !together.stands_for_all(id)) return;
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    const double wire_bytes = static_cast<double>(times) * paths.wire_bytes(path, bytes);
    const auto links = paths.links(path);
    for (std::size_t l = 0; l < links.size(); ++l) {
      LinkLoad& load = loads[links[l].value];
      load.bytes += times * paths.bytes_over(path, l, bytes);
      load.wire_bytes += wire_bytes * paths.share(path, l);
      load.messages += times;
    }
    const double begin_s = trace.ops[id.value].wire_s;
    const double end_s = sent_s(setting, paths, trace, id, bytes);
    if (std::isfinite(end_s) && end_s >= begin_s) messages.push_back({begin_s, end_s, path});
  });
  add_busy_times(paths, messages, loads);
  return loads;
}

bool shares(const machine::Setting& setting, const machine::Paths& paths, const sched::Trace& trace,
            bool ports_shared) {
  const sched::Schedule& schedule = setting.schedule;
  machine::CrowdedLinks crowded(setting, paths);
  if (crowded.found(ports_shared)) return true;
  if (setting.platform.topology.kind() == machine::TopologyKind::kStar) return false;
  std::vector<OpId> sent;
  each_sent(schedule, &trace, [&](OpId id, const sched::Op& op, std::uint64_t) {
    if (schedule.payload_bytes(op) > setting.platform.interleave_bytes) sent.push_back(id);
  });
  std::sort(sent.begin(), sent.end(), [&](OpId a, OpId b) {
    return std::pair(trace.ops[a.value].wire_s, a) < std::pair(trace.ops[b.value].wire_s, b);
  });
  for (const OpId id : sent) {
    const sched::Op& op = schedule.op(id);
    crowded.begin(trace.ops[id.value].wire_s, paths.of(op.channel, sched::has_reply(op.kind)),
                  schedule.payload_bytes(op));
    if (crowded.found(ports_shared)) return true;
  }
  return messages_share(trace);
}

}  // namespace slackline::analysis
