#include "offload/message_graph.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "offload/refusals.h"

namespace slackline::offload {
namespace {

using sched::OpId;
using sched::OpKind;
using sched::Schedule;

// The last operation of each channel and side: earlier ones are done before it.
class Latest {
 public:
  void add(const Schedule& schedule, OpId op) {
    OpId& last = of_[{schedule.op(op).channel.value, schedule.op(op).kind == OpKind::kRecv}];
    if (!last.valid() || last < op) last = op;
  }
  void add(const Schedule& schedule, const std::vector<OpId>& ops) {
    for (const OpId op : ops) add(schedule, op);
  }
  std::vector<OpId> ops() const {
    std::vector<OpId> all;
    for (const auto& [key, op] : of_) all.push_back(op);
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::map<std::pair<std::uint32_t, bool>, OpId> of_;
};

// What stands where in a rank's memory, and the receive after which it does.
struct Landed {
  std::uint32_t buffer;
  std::uint64_t begin;
  std::uint64_t end;
  OpId receive;
  auto key() const { return std::pair(buffer, begin); }
};

}  // namespace

MessageGraph::MessageGraph(const Schedule& schedule) : is_credit_(credit_channels(schedule)) {
  require_offloadable(schedule, is_credit_);
  collect(schedule);
  find_needs(schedule);
  sort(schedule);
}

void MessageGraph::collect(const Schedule& schedule) {
  of_op_.resize(schedule.op_count());
  std::vector<MessageId> last(schedule.channels().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_fifo_source(op) || is_credit_[op.channel.value]) continue;
    const MessageId id(static_cast<std::uint32_t>(messages_.size()));
    const sched::Channel& channel = schedule.channel(op.channel);
    messages_.push_back({OpId(i), op.match, op.channel, channel.src, channel.dst, op.step, 0});
    of_op_[i] = id;
    of_op_[op.match.value] = id;
    previous_.push_back(std::exchange(last[op.channel.value], id));
  }
}

void MessageGraph::find_needs(const Schedule& schedule) {
  const std::vector<bool> control = schedule.control_channels();
  // What a join stands for, once per join.
  std::vector<std::vector<OpId>> joined(schedule.op_count());
  const auto gather = [&](OpId id, bool barrier) {
    Latest all;
    for (const sched::Edge& edge : schedule.edges_into(id)) {
      const sched::Op& pred = schedule.op(edge.pred);
      if (pred.kind == OpKind::kJoin) {
        all.add(schedule, joined[edge.pred.value]);
      } else if (of_op_[edge.pred.value].valid() && edge.on == sched::On::kDone &&
                 (pred.kind == OpKind::kRecv || barrier)) {
        all.add(schedule, edge.pred);
      }
    }
    return all;
  };
  std::vector<Landed> landed;
  for (const Message& m : messages_) {
    for (const sched::Slice& slice : schedule.slices(landing(schedule, m))) {
      if (slice.bytes == 0) continue;
      landed.push_back({slice.buffer.value, slice.offset, slice.offset + slice.bytes, m.receive});
    }
  }
  std::sort(landed.begin(), landed.end(),
            [](const Landed& a, const Landed& b) { return a.key() < b.key(); });

  // Joins may stand behind what they release in no well-formed schedule: edges of one rank mostly
  // run forward, but need not. Repeat until nothing changes; forward edges need one turn.
  std::vector<OpId> joins;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    if (schedule.ops()[i].kind == OpKind::kJoin) joins.push_back(OpId(i));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const OpId join : joins) {
      std::vector<OpId> found = gather(join, true).ops();
      if (found == joined[join.value]) continue;
      joined[join.value] = std::move(found);
      changed = true;
    }
  }
  needs_begin_.push_back(0);
  for (const Message& m : messages_) {
    const bool barrier = control[m.channel.value];
    Latest all = gather(m.source, barrier);
    for (const sched::Slice& slice : schedule.slices(schedule.op(m.source).reads)) {
      const std::pair key(slice.buffer.value, slice.offset);
      auto at = std::upper_bound(landed.begin(), landed.end(), key,
                                 [](const auto& k, const Landed& l) { return k < l.key(); });
      if (at != landed.begin()) --at;
      for (; at != landed.end() && at->buffer <= slice.buffer.value; ++at) {
        if (at->buffer == slice.buffer.value && at->begin >= slice.offset + slice.bytes) break;
        if (at->buffer == slice.buffer.value && at->end > slice.offset) {
          all.add(schedule, at->receive);
        }
      }
    }
    for (const OpId need : all.ops()) {
      // A join may name sends; those count for barriers only.
      if (schedule.op(need).kind == OpKind::kRecv || barrier) needs_.push_back(need);
    }
    needs_begin_.push_back(static_cast<std::uint32_t>(needs_.size()));
  }
}

void MessageGraph::sort(const Schedule& schedule) {
  const std::size_t count = messages_.size();
  // A channel keeps its order, so no message may come before one ahead of it.
  std::vector<std::vector<std::uint32_t>> released(count);
  std::vector<std::uint32_t> waits(count, 0);
  std::vector<std::uint32_t> key_step(count);
  std::vector<MessageId> last(schedule.channels().size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const Message& m = messages_[i];
    key_step[i] = m.step;
    by_steps_ = by_steps_ && schedule.op(m.receive).step == m.step;
    for (const OpId need : needs(MessageId(i))) {
      const MessageId from = of(need);
      released[from.value].push_back(i);
      ++waits[i];
      by_steps_ = by_steps_ && message(from).step < m.step;
    }
    MessageId& previous = last[m.channel.value];
    if (previous.valid()) {
      released[previous.value].push_back(i);
      ++waits[i];
      by_steps_ = by_steps_ && message(previous).step <= m.step;
      key_step[i] = std::max(key_step[i], key_step[previous.value]);
    }
    previous = MessageId(i);
  }
  const auto run = [&] {
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
    const auto offer = [&](std::uint32_t i) { ready.push({key_step[i], messages_[i].latest, i}); };
    std::vector<std::uint32_t> left = waits;
    order_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (left[i] == 0) offer(i);
    }
    while (!ready.empty()) {
      const std::uint32_t i = std::get<2>(ready.top());
      ready.pop();
      order_.push_back(MessageId(i));
      for (const std::uint32_t next : released[i]) {
        if (--left[next] == 0) offer(next);
      }
    }
    if (order_.size() == count) return;
    const auto stuck = std::find_if(left.begin(), left.end(), [](auto n) { return n != 0; });
    const MessageId id(static_cast<std::uint32_t>(stuck - left.begin()));
    throw InputError("offload: " + describe(schedule, message(id).source) +
                     " waits in a circle; expected a schedule that check proves");
  };
  run();
  // Backwards: a message must start a step before what it releases, and before the next of its
  // rank, one after another as the ports take them.
  const std::uint32_t end = schedule.step_count() == 0 ? 0 : schedule.step_count() - 1;
  std::vector<std::int64_t> latest(count, end);
  std::vector<std::int64_t> next_of_rank(schedule.rank_count(), std::int64_t{end} + 1);
  for (std::size_t k = count; k-- > 0;) {
    const std::uint32_t i = order_[k].value;
    for (const std::uint32_t next : released[i]) latest[i] = std::min(latest[i], latest[next] - 1);
    std::int64_t& behind = next_of_rank[messages_[i].src.value];
    latest[i] = std::min(latest[i], behind - 1);
    behind = latest[i];
    messages_[i].latest = static_cast<std::uint32_t>(std::max<std::int64_t>(latest[i], 0));
  }
  run();
}

}  // namespace slackline::offload
