#include "machine/run/lanes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace slackline::machine {

using sched::Op;
using sched::OpKind;

namespace {

std::uint32_t first_rank_of(const sched::Schedule& schedule, sched::OpRange range) {
  return range.count == 0 ? 0 : schedule.op(range.first).rank.value;
}

bool uses_several(const sched::Schedule& schedule, sched::OpRange range) {
  bool several = false;
  for (const Op& op : schedule.ops().subspan(range.first.value, range.count)) {
    several = several || op.lane != 0;
  }
  return several;
}

}  // namespace

LaneIndex::LaneIndex(const sched::Schedule& schedule, sched::OpRange range)
    : LaneIndex(schedule, range, uses_several(schedule, range)) {}

LaneIndex::LaneIndex(const sched::Schedule& schedule, sched::OpRange range, bool several)
    : first_rank_(first_rank_of(schedule, range)) {
  if (range.count == 0) return;
  const std::uint32_t last_rank = schedule.op(range.id(range.count - 1)).rank.value;
  count_ = last_rank - first_rank_ + 1;
  if (!several) return;
  of_op_.resize(range.count);
  count_ = 0;
  std::map<std::uint16_t, std::uint32_t> lanes;  // of the rank at hand
  sched::RankId rank;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const Op& op = schedule.op(range.id(i));
    if (op.rank != rank) lanes.clear();
    rank = op.rank;
    const auto [lane, fresh] = lanes.try_emplace(op.lane, count_);
    if (fresh) ++count_;
    of_op_[i] = lane->second;
  }
}

Lanes::Lanes(const sched::Schedule& schedule, sched::OpRange range, bool several,
             const IssueOrder& order, std::uint64_t small_bytes)
    : schedule_(schedule),
      range_(range),
      order_(order),
      small_bytes_(small_bytes),
      index_(schedule, range, several),
      first_rank_(first_rank_of(schedule, range)),
      lanes_(index_.count()) {
  require_complete(order_, schedule.op_count());
  if (order.sends_in_flight == 0 || range.count == 0) return;
  bounds_.resize(schedule.op(range.id(range.count - 1)).rank.value - first_rank_ + 1);
}

bool counts_in_flight(const sched::Schedule& schedule, const Op& op, const IssueOrder& order,
                      std::uint64_t small_bytes) {
  return order.sends_in_flight != 0 && (op.kind == OpKind::kSend || op.kind == OpKind::kPut) &&
         schedule.payload_bytes(op) > small_bytes &&
         schedule.channel(op.channel).bundle == sched::Bundle::kNone;
}

bool Lanes::bounded_waits(const Waiting& waiting) {
  Bound& bound = bound_of(waiting.op);
  if (bound.in_flight < order_.sends_in_flight) {
    ++bound.in_flight;
    return false;
  }
  bound.waiting.push(waiting);
  return true;
}

std::uint32_t Lanes::bounded_done(std::uint32_t op, double moment) {
  Bound& bound = bound_of(op);
  --bound.in_flight;
  if (bound.waiting.empty()) return kNoOp;
  Waiting next = bound.waiting.pop();
  next.since = moment;
  push(next);
  return next.op;
}

void Lanes::reset() {
  for (Lane& lane : lanes_) lane = {};
  for (Bound& bound : bounds_) bound = {};
  touched_.clear();
}

void Lanes::resume(const Lanes& other) {
  lanes_ = other.lanes_;
  bounds_ = other.bounds_;
  touched_ = other.touched_;
}

// Who held a lane last, and until when, only says what others waited for.
bool Lanes::goes_on_as(const Lanes& other) const {
  const auto same = [](const WaitingHeap& a, const WaitingHeap& b) {
    if (a.size() != b.size()) return false;
    if (a.empty()) return true;
    std::vector<Waiting> mine = a.items();
    std::vector<Waiting> its = b.items();
    std::sort(mine.begin(), mine.end(), Earlier{});
    std::sort(its.begin(), its.end(), Earlier{});
    return std::equal(mine.begin(), mine.end(), its.begin(),
                      [](const Waiting& x, const Waiting& y) {
                        return x.place == y.place && x.op == y.op && x.bundle == y.bundle;
                      });
  };
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& a = lanes_[i];
    const Lane& b = other.lanes_[i];
    if (a.held != b.held || !same(a.ready, b.ready)) return false;
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const Bound& a = bounds_[i];
    const Bound& b = other.bounds_[i];
    if (a.in_flight != b.in_flight || !same(a.waiting, b.waiting)) return false;
  }
  return touched_.empty() && other.touched_.empty();
}

}  // namespace slackline::machine
