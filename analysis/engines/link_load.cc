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

LinkLoads::LinkLoads(const machine::Setting& setting, const machine::Paths& paths,
                     const sched::Trace& trace)
    : setting_(setting),
      paths_(paths),
      trace_(trace),
      whole_bytes_(setting.wiring.framing().coding_payload_bits ==
                   setting.wiring.framing().coding_line_bits),
      loads_(setting.wiring.links().size()),
      carried_(paths.size()) {
  machine::require_fixed_ways(setting.platform, "loads of links");
  messages_.reserve(setting.schedule.op_count());  // what is not used costs no memory
}

void LinkLoads::add(OpId id, std::uint64_t bytes, std::uint64_t times) {
  look_ahead(id);
  const sched::Op& op = setting_.schedule.op(id);
  const machine::PathId path = paths_.of(op.channel, sched::has_reply(op.kind));
  carry(path, bytes, times);
  const double begin_s = trace_.ops[id.value].wire_s;
  const double end_s = sent_s(setting_, paths_, trace_, id, bytes);
  if (std::isfinite(end_s) && end_s >= begin_s) messages_.push_back({begin_s, end_s, path});
}

// When a message has left, its receive tells, which stands anywhere in the trace: so the processor
// is told of it some operations before.
void LinkLoads::look_ahead(OpId op) {
  constexpr std::uint32_t kAhead = 48;
  const std::uint32_t until = std::min(setting_.schedule.op_count(), op.value + kAhead);
  for (; looked_at_ < until; ++looked_at_) {
    const sched::Op& later = setting_.schedule.op(OpId(looked_at_));
    if (!sched::is_initiator(later.kind) || later.reads.count == 0) continue;  // no bytes
    if (!later.match.valid()) continue;
    __builtin_prefetch(&trace_.ops[later.match.value].wire_s);
  }
}

// Whole numbers come to the same in any order, so they are added up by path, of which there are far
// fewer than messages.
void LinkLoads::carry(machine::PathId path, std::uint64_t bytes, std::uint64_t times) {
  const double wire_bytes = static_cast<double>(times) * paths_.wire_bytes(path, bytes);
  if (whole_bytes_ && paths_[path].parts == 1) {
    Carried& carried = carried_[path.value];
    carried.bytes += times * bytes;
    carried.messages += times;
    carried.wire_bytes += wire_bytes;
    return;
  }
  const auto links = paths_.links(path);
  for (std::size_t l = 0; l < links.size(); ++l) {
    LinkLoad& load = loads_[links[l].value];
    load.bytes += times * paths_.bytes_over(path, l, bytes);
    load.wire_bytes += wire_bytes * paths_.share(path, l);
    load.messages += times;
  }
}

std::vector<LinkLoad> LinkLoads::take() {
  for (std::uint32_t p = 0; p < carried_.size(); ++p) {
    const Carried& carried = carried_[p];
    if (carried.messages == 0) continue;
    for (const machine::LinkId link : paths_.links(machine::PathId(p))) {
      LinkLoad& load = loads_[link.value];
      load.bytes += carried.bytes;
      load.wire_bytes += carried.wire_bytes;
      load.messages += carried.messages;
    }
  }
  add_busy_times();
  return std::move(loads_);
}

// Puts messages in order of time, in linear time where they are spread over the run: as many
// buckets as messages hold a few each, or those of one instant, which mostly stand in order
// already.
void LinkLoads::sort_by_time() {
  constexpr std::size_t kFew = 64;
  if (messages_.size() < kFew) return std::sort(messages_.begin(), messages_.end(), earlier);
  double first_s = messages_.front().begin_s;
  double last_s = first_s;
  for (const UnderWay& message : messages_) {
    first_s = std::min(first_s, message.begin_s);
    last_s = std::max(last_s, message.begin_s);
  }
  const std::size_t last_bucket = messages_.size() - 1;
  const double buckets_per_s = static_cast<double>(last_bucket) / (last_s - first_s);
  if (!std::isfinite(buckets_per_s)) {
    return std::sort(messages_.begin(), messages_.end(), earlier);
  }
  const auto bucket = [=](const UnderWay& message) {
    return std::min(last_bucket,
                    static_cast<std::size_t>((message.begin_s - first_s) * buckets_per_s));
  };
  std::vector<std::uint32_t> next(messages_.size(), 0);  // where its next message goes
  for (const UnderWay& message : messages_) ++next[bucket(message)];
  std::uint32_t before = 0;
  for (std::uint32_t& place : next) before += std::exchange(place, before);
  std::vector<UnderWay> sorted(messages_.size());
  for (const UnderWay& message : messages_) sorted[next[bucket(message)]++] = message;
  messages_.swap(sorted);
  auto begin = messages_.begin();
  for (const std::uint32_t place : next) {  // a bucket ends where its next message would go
    const auto end = messages_.begin() + place;
    if (!std::is_sorted(begin, end, earlier)) std::sort(begin, end, earlier);
    begin = end;
  }
}

// The time in which something was under way on each link. In order of time one sort serves all of
// them, and nothing has to be kept of a link but until when it is busy.
void LinkLoads::add_busy_times() {
  sort_by_time();
  std::vector<double> until_s(loads_.size(), 0);
  for (const UnderWay& message : messages_) {
    for (const machine::LinkId link : paths_.links(message.path)) {
      double& busy_until_s = until_s[link.value];
      if (message.end_s <= busy_until_s) continue;
      loads_[link.value].busy_s += message.end_s - std::max(message.begin_s, busy_until_s);
      busy_until_s = message.end_s;
    }
  }
}

std::vector<LinkLoad> link_load(const machine::Setting& setting, const machine::Paths& paths,
                                const sched::Trace& trace) {
  LinkLoads loads(setting, paths, trace);
  each_message(setting.schedule, &trace,
               [&](OpId id, const sched::Op&, std::uint64_t bytes, std::uint64_t times) {
                 if (bytes != 0) loads.add(id, bytes, times);
               });
  return loads.take();
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
