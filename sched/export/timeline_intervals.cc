#include "sched/export/timeline_intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "base/enum_names.h"

namespace slackline::sched {
namespace {

// Lanes are held by posts, calculations, copies and reductions.
bool holds_lane_until_done(OpKind kind) {
  return kind == OpKind::kCalc || kind == OpKind::kCopy || kind == OpKind::kReduce;
}
bool only_waits(OpKind kind) {
  return kind == OpKind::kDelay || kind == OpKind::kJoin || kind == OpKind::kPoll;
}

bool belongs(TimelineTrack track, const Op& op) {
  if (track == TimelineTrack::kNicOut) return is_initiator(op.kind);
  if (track == TimelineTrack::kNicIn) return op.kind == OpKind::kRecv && op.match.valid();
  return only_waits(op.kind);
}

class Layout {
 public:
  Layout(const Schedule& schedule, const Trace& trace, RankId rank, const TimelineNics& nics)
      : schedule_(schedule), trace_(trace), rank_(rank), nics_(nics) {}

  std::vector<TimelineInterval> take() {
    lanes();
    collect(TimelineTrack::kNicOut);
    collect(TimelineTrack::kNicIn);
    collect(TimelineTrack::kWait);
    return std::move(intervals_);
  }

 private:
  template <class Visit>
  void for_each_op(Visit&& visit) const {
    const std::uint32_t end = schedule_.end_op(rank_).value;
    for (std::uint32_t i = schedule_.first_op(rank_).value; i != end; ++i) {
      if (trace_.ops[i].attempts == 0) continue;  // passed over
      visit(OpId(i), schedule_.op(OpId(i)));
    }
  }

  // What a lane did, one thing after another.
  void lanes() {
    std::map<std::uint32_t, std::vector<OpId>> ops_of;
    for_each_op([&](OpId id, const Op& op) {
      if (!only_waits(op.kind) && std::isfinite(trace_.ops[id.value].issued_s)) {
        ops_of[op.lane].push_back(id);
      }
    });
    for (auto& [lane, ops] : ops_of) {
      // In one instant, what took no time came before what began then.
      std::sort(ops.begin(), ops.end(), [&](OpId a, OpId b) {
        return std::tuple(trace_.ops[a.value].issued_s, lane_end_s(a), a) <
               std::tuple(trace_.ops[b.value].issued_s, lane_end_s(b), b);
      });
      double free_s = 0;
      std::vector<double> part_free_s;
      for (OpId id : ops) {
        const OpTimes& t = trace_.ops[id.value];
        const bool works = holds_lane_until_done(schedule_.op(id).kind);
        const double end_s = lane_end_s(id);
        const double begin_s = std::min(works ? t.issued_s : std::max(t.ready_s, free_s), end_s);
        auto part = std::find_if(part_free_s.begin(), part_free_s.end(),
                                 [=](double time_s) { return time_s <= begin_s; });
        if (part == part_free_s.end()) part = part_free_s.insert(part, 0);
        *part = end_s;
        intervals_.push_back({id, begin_s, end_s, TimelineTrack::kLane, lane, !works,
                              static_cast<std::uint32_t>(part - part_free_s.begin())});
        free_s = std::max(free_s, end_s);
      }
    }
  }

  double lane_end_s(OpId id) const {
    const OpTimes& t = trace_.ops[id.value];
    const bool works = holds_lane_until_done(schedule_.op(id).kind);
    return works && std::isfinite(t.done_s) ? t.done_s : t.issued_s;
  }

  double begin_of(TimelineTrack track, OpId id) const {
    const OpTimes& t = trace_.ops[id.value];
    if (track == TimelineTrack::kNicOut) return t.wire_s;
    if (track == TimelineTrack::kWait) return std::min(t.ready_s, t.done_s);
    return std::max(t.issued_s, trace_.ops[schedule_.op(id).match.value].wire_s);
  }

  std::uint32_t nic_of(TimelineTrack track, const Op& op) const {
    if (!nics_.are_several() || track == TimelineTrack::kWait) return 0;
    const bool leaves = track == TimelineTrack::kNicOut;
    return (leaves ? nics_.at_source : nics_.at_target)[op.channel.value];
  }

  // Each goes to the row of its NIC that has been free longest, or to a new one.
  void collect(TimelineTrack track) {
    const std::size_t first = intervals_.size();
    for_each_op([&](OpId id, const Op& op) {
      if (!belongs(track, op)) return;
      const double begin_s = begin_of(track, id);
      const double end_s = trace_.ops[id.value].done_s;
      if (!std::isfinite(begin_s) || !std::isfinite(end_s)) return;
      intervals_.push_back(
          {id, std::min(begin_s, end_s), end_s, track, 0, false, 0, nic_of(track, op)});
    });
    const auto begin = intervals_.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, intervals_.end(), [](const TimelineInterval& a, const TimelineInterval& b) {
      return std::tuple(a.begin_s, a.op) < std::tuple(b.begin_s, b.op);
    });
    using Free = std::pair<double, std::uint32_t>;  // from when, which
    using Rows = std::priority_queue<Free, std::vector<Free>, std::greater<>>;
    std::map<std::uint32_t, Rows> rows_of;  // of each NIC
    std::uint32_t next_row = 0;
    for (auto each = begin; each != intervals_.end(); ++each) {
      Rows& rows = rows_of[each->nic];
      each->row = next_row;
      if (!rows.empty() && rows.top().first <= each->begin_s) {
        each->row = rows.top().second;
        rows.pop();
      } else {
        ++next_row;
      }
      rows.emplace(each->end_s, each->row);
    }
  }

  const Schedule& schedule_;
  const Trace& trace_;
  RankId rank_;
  const TimelineNics& nics_;
  std::vector<TimelineInterval> intervals_;
};

}  // namespace

std::string_view name(TimelineTrack track) {
  constexpr base::EnumNames<TimelineTrack, 4> kNames = {{"cpu", "nic out", "nic in", "waits"}};
  return kNames[track];
}

std::string track_name(const TimelineInterval& interval, const TimelineNics& nics) {
  const bool passes_nic =
      interval.track == TimelineTrack::kNicOut || interval.track == TimelineTrack::kNicIn;
  if (!nics.are_several() || !passes_nic) return std::string(name(interval.track));
  const std::string_view way = interval.track == TimelineTrack::kNicOut ? "out" : "in";
  if (interval.nic == TimelineNics::kScaleUp) return fmt::format("scale-up {}", way);
  return fmt::format("nic {} {}", interval.nic, way);
}

OpId message_end(const Schedule& schedule, const Trace& trace, OpId id) {
  const OpId other = schedule.op(id).match;
  if (!other.valid() || trace.ops[other.value].attempts == 0) return OpId::none();
  return std::isfinite(trace.ops[other.value].done_s) ? other : OpId::none();
}

std::vector<TimelineInterval> timeline_intervals(const Schedule& schedule, const Trace& trace,
                                                 RankId rank, const TimelineNics& nics) {
  return Layout(schedule, trace, rank, nics).take();
}

}  // namespace slackline::sched
