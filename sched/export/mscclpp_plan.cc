#include "sched/export/mscclpp_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "sched/export/mscclpp_parts.h"

namespace slackline::sched {
namespace {

class Planner {
 public:
  explicit Planner(const Schedule& schedule)
      : schedule_(schedule),
        parts_(schedule),
        plan_{MscclppLayout(schedule, parts_.touched(), parts_.credit_buffers()),
              std::vector<MscclppGpu>(schedule.rank_count())},
        epoch_of_(schedule.op_count(), 0),
        epoch_(schedule.rank_count(), 1) {}

  MscclppPlan plan() {
    connect();
    for (const std::uint32_t node : in_order()) add(node);
    return std::move(plan_);
  }

 private:
  // Signals from one rank to another: those of a channel, or those that tell of its receives.
  struct Stream {
    RankId src;
    RankId dst;
    std::uint32_t number = 0;  // among those of the two
  };

  std::uint32_t ops() const { return schedule_.op_count(); }

  Stream stream(ChannelId id, bool ready) {
    const Channel& channel = schedule_.channel(id);
    Stream out{ready ? channel.dst : channel.src, ready ? channel.src : channel.dst, 0};
    std::uint32_t& next = streams_[{out.src, out.dst}];
    const auto [known, fresh] = number_.try_emplace({id, ready}, next);
    if (fresh) ++next;
    out.number = known->second;
    return out;
  }
  ChannelId channel_into(OpId receive) const {
    return schedule_.op(schedule_.op(receive).match).channel;
  }

  // Channels go both ways: the j-th of two GPUs carries the j-th streams of either.
  void connect() {
    for (std::uint32_t i = 0; i < ops(); ++i) {
      if (parts_.of(OpId(i)) != MscclppPart::kWait) continue;
      stream(channel_into(OpId(i)), false);
      if (parts_.needs_ready(OpId(i))) stream(channel_into(OpId(i)), true);
    }
    std::map<std::pair<RankId, RankId>, std::uint32_t> needed;  // of each end to the other
    for (const auto& [ends, count] : streams_) {
      std::uint32_t& there = needed[ends];
      there = std::max(there, count);
      std::uint32_t& back = needed[{ends.second, ends.first}];
      back = std::max(back, count);
    }
    for (const auto& [ends, count] : needed) {
      std::vector<std::uint32_t>& peers = plan_.gpus[ends.first.value].peers;
      first_channel_[ends] = peers.size();
      peers.insert(peers.end(), count, ends.second.value);
    }
  }

  // A node is an operation, or, from ops() on, the news that a receive may be written to. All of
  // them, in an order in which each GPU may do its own one after the other.
  std::vector<std::uint32_t> in_order() {
    next_.assign(2 * std::size_t{ops()}, {});
    waits_for_.assign(next_.size(), 0);
    std::map<ChannelId, std::uint32_t> last_ready;
    std::map<ChannelId, std::vector<std::pair<OpId, OpId>>> polled;  // by channel: put, poll
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < ops(); ++i) {
      const OpId id(i);
      if (parts_.of(id) == MscclppPart::kNone) continue;
      ++count;
      const Op& op = schedule_.op(id);
      for (const OpId pred : parts_.awaited(id)) tie(pred.value, i);
      OpId previous = parts_.order().previous[i];
      while (previous.valid() && parts_.of(previous) == MscclppPart::kNone) {
        previous = parts_.order().previous[previous.value];
      }
      if (previous.valid()) tie(previous.value, i);
      if (parts_.of(id) != MscclppPart::kWait) continue;
      tie(op.match.value, i);
      if (op.kind == OpKind::kPoll) polled[channel_into(id)].emplace_back(op.match, id);
      if (!parts_.needs_ready(id)) continue;
      ++count;
      const std::uint32_t ready = ops() + i;
      for (const OpId pred : parts_.awaited(id)) tie(pred.value, ready);
      tie(ready, op.match.value);
      const auto [last, fresh] = last_ready.try_emplace(op.channel, ready);
      if (!fresh) tie(std::exchange(last->second, ready), ready);
    }
    // A semaphore counts: polls look in the order of their puts.
    for (auto& [channel, pairs] : polled) {
      std::sort(pairs.begin(), pairs.end());
      for (std::size_t k = 1; k < pairs.size(); ++k) {
        tie(pairs[k - 1].second.value, pairs[k].second.value);
      }
    }
    std::vector<std::uint32_t> order = sorted();
    if (order.size() == count) return order;
    for (std::uint32_t i = 0; i < ops(); ++i) {
      if (waits_for_[i] == 0) continue;
      parts_.refuse(OpId(i), "would wait for ever: a GPU does its operations one after the other");
    }
    throw InternalError("mscclpp-json: an order has a gap");
  }

  void tie(std::uint32_t first, std::uint32_t second) {
    next_[first].push_back(second);
    ++waits_for_[second];
  }

  // By step; in a step what others may wait for comes before what waits.
  std::vector<std::uint32_t> sorted() {
    using Turn = std::tuple<std::uint32_t, int, std::uint32_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> free;
    const auto offer = [&](std::uint32_t node) {
      const OpId id(node % ops());
      const int turn = node >= ops() ? 0 : parts_.of(id) == MscclppPart::kWait ? 2 : 1;
      free.emplace(schedule_.op(id).step, turn, node);
    };
    for (std::uint32_t i = 0; i < ops(); ++i) {
      if (parts_.of(OpId(i)) != MscclppPart::kNone && waits_for_[i] == 0) offer(i);
      if (parts_.needs_ready(OpId(i)) && waits_for_[ops() + i] == 0) offer(ops() + i);
    }
    std::vector<std::uint32_t> order;
    while (!free.empty()) {
      const std::uint32_t node = std::get<2>(free.top());
      free.pop();
      order.push_back(node);
      for (const std::uint32_t succ : next_[node]) {
        if (--waits_for_[succ] == 0) offer(succ);
      }
    }
    return order;
  }

  // At the end of the GPU's last thread block, or of a new one.
  void push(OpId id, MscclppOperation operation) {
    const std::uint32_t g = schedule_.op(id).rank.value;
    std::vector<MscclppBlock>& blocks = plan_.gpus[g].blocks;
    if (blocks.empty()) blocks.emplace_back();
    const auto lacks = [&](const MscclppBlock& block) {
      return operation.channel >= 0 && std::find(block.channels.begin(), block.channels.end(),
                                                 operation.channel) == block.channels.end();
    };
    const bool full = blocks.back().operations.size() == kMscclppOperations - 1 ||
                      (lacks(blocks.back()) && blocks.back().channels.size() == kMscclppChannels);
    if (full) {
      if (blocks.size() > kMscclppBarriers) parts_.refuse_length(id);
      MscclppOperation barrier;
      barrier.name = "barrier";
      barrier.barrier = static_cast<std::uint32_t>(blocks.size() - 1);
      blocks.back().operations.push_back(barrier);
      blocks.emplace_back().operations.push_back(barrier);
      ++epoch_[g];
    }
    if (lacks(blocks.back())) blocks.back().channels.push_back(operation.channel);
    blocks.back().operations.push_back(std::move(operation));
  }

  std::uint32_t now(OpId id) const { return epoch_[schedule_.op(id).rank.value]; }
  void sync(OpId id) {
    MscclppOperation nop;
    nop.name = "nop";
    push(id, std::move(nop));
    ++epoch_[schedule_.op(id).rank.value];
  }
  void wait_for_awaited(OpId id) {
    const std::vector<OpId>& awaited = parts_.awaited(id);
    const bool any = std::any_of(awaited.begin(), awaited.end(),
                                 [&](OpId pred) { return epoch_of_[pred.value] == now(id); });
    if (any) sync(id);
  }

  // A signal or a wait.
  void tell(OpId id, std::string_view name, const Stream& over) {
    const RankId rank = schedule_.op(id).rank;
    const RankId peer = rank == over.src ? over.dst : over.src;
    MscclppOperation operation;
    operation.name = name;
    operation.channel = static_cast<std::int64_t>(first_channel_.at({rank, peer}) + over.number);
    push(id, std::move(operation));
  }

  // Both sides in places, cut where either of them is.
  void push_moves(OpId id, std::string_view name) {
    for (const MscclppMove& moved : parts_.moves(id)) {
      std::vector<MscclppPlace> sources = plan_.layout.places(moved.from);
      std::vector<MscclppPlace> targets = plan_.layout.places(moved.to);
      for (std::size_t f = 0, t = 0; f < sources.size() && t < targets.size();) {
        const std::uint64_t count = std::min(sources[f].count, targets[t].count);
        const auto take = [&](const Slice& slice, MscclppPlace& place, std::size_t& index) {
          const MscclppSide side{schedule_.buffers()[slice.buffer.value].rank.value,
                                 {place.buffer, place.first, count}};
          place.first += count;
          place.count -= count;
          if (place.count == 0) ++index;
          return side;
        };
        MscclppOperation operation;
        operation.name = name;
        operation.from.push_back(take(moved.from, sources[f], f));
        operation.to.push_back(take(moved.to, targets[t], t));
        push(id, std::move(operation));
      }
    }
    epoch_of_[id.value] = now(id);
  }

  void add_source(OpId id) {
    const Op& op = schedule_.op(id);
    const bool tells = op.match.valid();
    if (tells && parts_.needs_ready(op.match)) {
      tell(id, "wait", stream(op.channel, true));
      sync(id);
    } else {
      wait_for_awaited(id);
    }
    push_moves(id, "put");
    if (!tells) return;
    const bool writes = !parts_.moves(id).empty();
    if (writes && epoch_of_[id.value] == now(id)) sync(id);
    tell(id, "signal", stream(op.channel, false));
    if (!writes) epoch_of_[id.value] = now(id);
  }

  void add_reduce(OpId id) {
    const Op& op = schedule_.op(id);
    const auto one = [&](const Slice& slice) -> MscclppSide {
      const std::vector<MscclppPlace> places = plan_.layout.places(slice);
      if (places.size() != 1) {
        parts_.refuse(id,
                      "has an operand that is partly in one memory of a plan; each of "
                      "MSCCL++'s is all in one");
      }
      return {op.rank.value, places.front()};
    };
    MscclppOperation sum;
    sum.name = "re";
    for (const Slice& slice : schedule_.slices(op.reads)) sum.from.push_back(one(slice));
    sum.to.push_back(one(schedule_.slices(op.writes).front()));
    push(id, std::move(sum));
    epoch_of_[id.value] = now(id);
  }

  void add(std::uint32_t node) {
    const OpId id(node % ops());
    if (node >= ops()) {
      wait_for_awaited(id);
      return tell(id, "signal", stream(channel_into(id), true));
    }
    switch (parts_.of(id)) {
      case MscclppPart::kNone:
        return;
      case MscclppPart::kSource:
        return add_source(id);
      case MscclppPart::kWait:
        tell(id, "wait", stream(channel_into(id), false));
        epoch_of_[id.value] = now(id);
        return;
      case MscclppPart::kGet:
      case MscclppPart::kCopy:
        wait_for_awaited(id);
        return push_moves(id, parts_.of(id) == MscclppPart::kGet ? "get" : "copy");
      case MscclppPart::kReduce:
        wait_for_awaited(id);
        return add_reduce(id);
    }
  }

  const Schedule& schedule_;
  MscclppParts parts_;
  MscclppPlan plan_;
  std::map<std::pair<RankId, RankId>, std::uint32_t> streams_;  // how many
  std::map<std::pair<ChannelId, bool>, std::uint32_t> number_;
  std::map<std::pair<RankId, RankId>, std::size_t> first_channel_;
  std::vector<std::vector<std::uint32_t>> next_;  // by node
  std::vector<std::uint32_t> waits_for_;
  // A nop, or a barrier, begins another epoch of its GPU: what is of an earlier one has ended.
  std::vector<std::uint32_t> epoch_of_;  // by operation
  std::vector<std::uint32_t> epoch_;     // by rank: the one that runs
};

}  // namespace

MscclppPlan plan_mscclpp(const Schedule& schedule) {
  require_static(schedule, "mscclpp-json");
  return Planner(schedule).plan();
}

}  // namespace slackline::sched
