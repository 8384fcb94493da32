// The semantics of dynamic schedules once more: slow, by looking at everything again and again, and
// sharing nothing with the engines but the schedule and the draws. It knows fair NICs without a gap
// on a star whose messages all travel between others' packets, so that no port keeps anybody
// waiting; one lane per rank; sends, puts without flag, gets, atomics and what is local.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "machine/draw.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::testing {

class DynamicInterpreter {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Seen {
    double issued_s = kNever;
    double done_s = kNever;
    std::uint32_t times = 0;
    std::uint64_t result = 0;
  };

  DynamicInterpreter(const sched::Schedule& schedule, const machine::Platform& platform,
                     std::uint64_t seed)
      : s_(schedule), p_(platform), seed_(seed), ops_(schedule.op_count()) {
    for (std::uint32_t r = 0; r < s_.regions().size(); ++r) regions_.emplace_back();
    lane_free_s_.assign(s_.rank_count(), 0);
  }

  std::vector<Seen> run() {
    for (;;) {
      while (ends() || begins()) {
      }
      const double next_s = next();
      if (!std::isfinite(next_s)) break;
      now_s_ = next_s;
    }
    std::vector<Seen> seen;
    for (const State& op : ops_) seen.push_back(op.seen);
    return seen;
  }

 private:
  enum class Phase : std::uint8_t { kIdle, kReady, kOnLane, kIssued, kDone };
  struct State {
    Phase phase = Phase::kIdle;
    Seen seen;
    double lane_end_s = kNever;
    double at_target_s = kNever;  // a request's arrival, until it is queued
    double done_at_s = kNever;
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    bool swapped = false;
  };
  enum class Stage : std::uint8_t { kIdle, kWaiting, kRunning, kOver };
  struct RegionState {
    Stage stage = Stage::kIdle;
    double begins_s = 0;  // kWaiting: the next attempt
    std::uint32_t attempts = 0;
    std::uint64_t draws = 0;
  };
  struct Word {
    std::uint64_t value = 0;
    std::vector<std::uint32_t> queue;
    double served_s = kNever;
  };
  struct Pair {  // the k-th message and the k-th receive of a channel
    std::optional<std::uint32_t> source;
    std::optional<std::uint32_t> receive;
    double arrival_s = kNever;
  };
  static constexpr std::uint32_t kOutside = 0xffffffffu;

  bool now(double time_s) const { return time_s < now_s_ + 1e-12; }
  bool inside(std::uint32_t op, std::uint32_t region) const {
    if (region == kOutside) return true;
    const sched::Region& r = s_.regions()[region];
    return op >= r.entry.value && op < r.entry.value + r.count;
  }
  // Regions hold each other in the order of size, then of the table.
  bool holds(std::uint32_t outer, std::uint32_t inner) const {
    if (outer == kOutside) return true;
    if (inner == kOutside || outer == inner) return false;
    const sched::Region& a = s_.regions()[outer];
    const sched::Region& b = s_.regions()[inner];
    if (!inside(b.entry.value, outer) || !inside(b.entry.value + b.count - 1, outer)) return false;
    return a.count != b.count ? a.count > b.count : outer < inner;
  }
  // The innermost region around an operation that lies (strictly) within `outer`; kOutside: none.
  std::uint32_t innermost(std::uint32_t op) const {
    std::uint32_t best = kOutside;
    for (std::uint32_t r = 0; r < s_.regions().size(); ++r) {
      if (inside(op, r) && holds(best, r)) best = r;
    }
    return best;
  }
  std::uint32_t around(std::uint32_t region) const {
    std::uint32_t best = kOutside;
    for (std::uint32_t r = 0; r < s_.regions().size(); ++r) {
      if (holds(r, region) && holds(best, r)) best = r;
    }
    return best;
  }
  // The region directly within `scope` that holds the operation; kOutside if it stands there
  // itself.
  std::uint32_t child(std::uint32_t op, std::uint32_t scope) const {
    std::uint32_t region = innermost(op);
    if (region == scope) return kOutside;
    while (around(region) != scope) region = around(region);
    return region;
  }

  // Whether an arc from `pred` holds for something that stands directly in `scope`.
  bool holds_from(std::uint32_t pred, bool on_done, std::uint32_t scope) const {
    if (!inside(pred, scope)) return true;  // it was the scope's
    const std::uint32_t region = child(pred, scope);
    if (region != kOutside) return regions_[region].stage == Stage::kOver;
    const Phase phase = ops_[pred].phase;
    if (phase == Phase::kDone || on_done) return phase == Phase::kDone;
    return phase == Phase::kIssued || (phase == Phase::kOnLane && !is_posted(pred));
  }
  // All arcs into `op` from outside of `except` (an operation's own region: everything).
  bool arcs_hold(std::uint32_t op, std::uint32_t scope, std::uint32_t except) const {
    const auto from = [&](std::uint32_t pred, bool on_done) {
      if (except != kOutside && inside(pred, except)) return true;
      return holds_from(pred, on_done, scope);
    };
    for (const sched::Edge& edge : s_.edges()) {
      if (edge.succ.value == op && !from(edge.pred.value, edge.on == sched::On::kDone)) {
        return false;
      }
    }
    const sched::Op& o = s_.ops()[op];
    if (!sched::has_channel(o.kind)) return true;
    for (std::uint32_t i = op; i-- > 0;) {
      const sched::Op& before = s_.ops()[i];
      if (!sched::has_channel(before.kind) || before.channel != o.channel) continue;
      if ((before.kind == sched::OpKind::kRecv) != (o.kind == sched::OpKind::kRecv)) continue;
      return from(i, false);
    }
    return true;
  }

  bool ends() {
    bool any = false;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      State& op = ops_[i];
      if (op.phase == Phase::kOnLane && now(op.lane_end_s)) {
        any = true;
        const sched::OpKind kind = s_.ops()[i].kind;
        if (sched::is_initiator(kind) || kind == sched::OpKind::kRecv) {
          issue(i);
        } else {
          finish(i);
        }
      }
      if (now(op.at_target_s)) {
        any = true;
        op.at_target_s = kNever;
        word(i).queue.push_back(i);
      }
      if (op.phase == Phase::kIssued && now(op.done_at_s)) {
        any = true;
        finish(i);
      }
    }
    for (auto& [place, word] : words_) {
      if (word.queue.empty()) continue;
      if (!std::isfinite(word.served_s)) {
        any = true;
        word.served_s = now_s_ + sched::seconds(p_.atomic_service);
      } else if (now(word.served_s)) {
        any = true;
        serve(word);
      }
    }
    return any;
  }

  bool begins() {
    for (std::uint32_t r = 0; r < regions_.size(); ++r) {
      if (advance(r)) return true;
    }
    bool any = false;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      const std::uint32_t scope = innermost(i);
      if (ops_[i].phase != Phase::kIdle) continue;
      if (scope != kOutside && regions_[scope].stage != Stage::kRunning) continue;
      if (!arcs_hold(i, scope, kOutside)) continue;
      any = true;
      ops_[i].phase = Phase::kReady;
      ++ops_[i].seen.times;
    }
    if (any) return true;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].phase != Phase::kReady || holds_lane(i)) continue;
      issue(i);
      return true;
    }
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      const sched::Op& o = s_.ops()[i];
      if (ops_[i].phase != Phase::kReady || !now(lane_free_s_[o.rank.value])) continue;
      const bool posted = sched::is_initiator(o.kind) || o.kind == sched::OpKind::kRecv;
      const double hold_s = posted ? sched::seconds(p_.o_post)
                            : o.kind == sched::OpKind::kCalc
                                ? sched::seconds(s_.arguments(o).duration)
                                : p_.copy_s(s_.payload_bytes(o));
      ops_[i].phase = Phase::kOnLane;
      ops_[i].lane_end_s = lane_free_s_[o.rank.value] = now_s_ + hold_s;
      if (!posted) ops_[i].seen.issued_s = now_s_;
      return true;
    }
    return false;
  }

  // Issued at the end of its time on the lane, not at its beginning.
  bool is_posted(std::uint32_t op) const {
    const sched::OpKind kind = s_.ops()[op].kind;
    return sched::is_initiator(kind) || kind == sched::OpKind::kRecv;
  }
  bool holds_lane(std::uint32_t op) const {
    const sched::OpKind kind = s_.ops()[op].kind;
    return kind != sched::OpKind::kDelay && kind != sched::OpKind::kJoin;
  }

  bool advance(std::uint32_t r) {
    RegionState& state = regions_[r];
    const sched::Region& region = s_.regions()[r];
    const std::uint32_t scope = around(r);
    if (state.stage == Stage::kIdle) {
      if (scope != kOutside && regions_[scope].stage != Stage::kRunning) return false;
      for (std::uint32_t i = 0; i < region.count; ++i) {
        if (!arcs_hold(region.entry.value + i, scope, r)) return false;
      }
      state.attempts = 0;
      if (region.kind == sched::RegionKind::kAlt && !draw(r)) {
        state.stage = Stage::kOver;
        return true;
      }
      begin(r);
      return true;
    }
    if (state.stage == Stage::kWaiting && now(state.begins_s)) {
      begin(r);
      return true;
    }
    if (state.stage != Stage::kRunning) return false;
    bool failed = false;
    for (std::uint32_t i = region.entry.value; i < region.entry.value + region.count; ++i) {
      const std::uint32_t within = child(i, r);
      if (within != kOutside ? regions_[within].stage != Stage::kOver
                             : ops_[i].phase != Phase::kDone) {
        return false;
      }
      failed |= s_.ops()[i].kind == sched::OpKind::kCompareSwap && !ops_[i].swapped;
    }
    bool over = true;
    if (region.kind == sched::RegionKind::kRepeat) over = state.attempts == region.max_attempts;
    if (region.kind == sched::RegionKind::kRetry) {
      over = region.outcome == sched::RegionOutcome::kActual ? !failed : draw(r);
      if (!over && state.attempts == region.max_attempts) throw std::runtime_error("exhausted");
    }
    state.stage = over ? Stage::kOver : Stage::kWaiting;
    state.begins_s = now_s_ + sched::seconds(region.backoff);
    return true;
  }

  void begin(std::uint32_t r) {
    RegionState& state = regions_[r];
    state.stage = Stage::kRunning;
    ++state.attempts;
    const sched::Region& region = s_.regions()[r];
    for (std::uint32_t i = region.entry.value; i < region.entry.value + region.count; ++i) {
      ops_[i].phase = Phase::kIdle;
    }
    for (std::uint32_t inner = 0; inner < regions_.size(); ++inner) {
      if (holds(r, inner)) regions_[inner].stage = Stage::kIdle;
    }
  }

  bool draw(std::uint32_t r) {
    const sched::RankId rank = s_.op(s_.regions()[r].entry).rank;
    std::uint64_t number = 0;
    for (std::uint32_t i = 0; i < r; ++i) {
      number += s_.op(s_.regions()[i].entry).rank == rank ? 1 : 0;
    }
    const machine::DrawKey key{seed_, rank.value, (std::uint64_t{1} << 32) + number,
                               regions_[r].draws++};
    return machine::draw_below(key, 1'000'000) < s_.regions()[r].p.value;
  }

  void issue(std::uint32_t i) {
    State& op = ops_[i];
    const sched::Op& o = s_.ops()[i];
    op.phase = Phase::kIssued;
    op.seen.issued_s = now_s_;
    op.done_at_s = kNever;
    const double way_s = sched::seconds(p_.latency);
    const double complete_s = sched::seconds(p_.o_complete);
    const double wire_s = p_.transfer_s(s_.payload_bytes(o));
    switch (o.kind) {
      case sched::OpKind::kJoin:
        op.done_at_s = now_s_;
        break;
      case sched::OpKind::kDelay:
        op.done_at_s = now_s_ + sched::seconds(s_.arguments(o).duration);
        break;
      case sched::OpKind::kGet:
        op.done_at_s = now_s_ + way_s + wire_s + way_s + complete_s;
        break;
      case sched::OpKind::kRecv:
        pair(o.channel, receives_[o.channel.value]++).receive = i;
        meet(o.channel);
        break;
      case sched::OpKind::kSend:
      case sched::OpKind::kPut: {
        const double arrival_s = now_s_ + wire_s + way_s;
        if (!sched::is_fifo_source(o)) {
          op.done_at_s = arrival_s + way_s + complete_s;
          break;
        }
        Pair& p = pair(o.channel, sources_[o.channel.value]++);
        p.source = i;
        p.arrival_s = arrival_s;
        meet(o.channel);
        break;
      }
      default:
        op.operand = s_.arguments(o).operand.value;
        op.compare = s_.arguments(o).compare.value;
        op.at_target_s = now_s_ + way_s;
    }
  }

  Pair& pair(sched::ChannelId channel, std::size_t k) {
    std::vector<Pair>& all = pairs_[channel.value];
    if (all.size() <= k) all.resize(k + 1);
    return all[k];
  }
  void meet(sched::ChannelId channel) {
    for (Pair& p : pairs_[channel.value]) {
      if (!p.source || !p.receive) continue;
      const double landed_s = std::max(p.arrival_s, ops_[*p.receive].seen.issued_s);
      const double complete_s = sched::seconds(p_.o_complete);
      ops_[*p.receive].done_at_s = landed_s + complete_s;
      ops_[*p.source].done_at_s = landed_s + sched::seconds(p_.latency) + complete_s;
      p.source.reset();  // met
      p.receive.reset();
    }
  }

  Word& word(std::uint32_t op) {
    const sched::Slice& slice = s_.slices(s_.ops()[op].reads).front();
    return words_[{slice.buffer.value, slice.offset}];
  }
  void serve(Word& word) {
    const std::uint32_t i = word.queue.front();
    word.queue.erase(word.queue.begin());
    word.served_s = kNever;
    State& op = ops_[i];
    op.seen.result = word.value;
    op.swapped = word.value == op.compare;
    const sched::OpKind kind = s_.ops()[i].kind;
    if (kind == sched::OpKind::kFetchAdd) word.value += op.operand;
    if (kind == sched::OpKind::kFetchAnd) word.value &= op.operand;
    if (kind == sched::OpKind::kFetchOr) word.value |= op.operand;
    if (kind == sched::OpKind::kFetchXor) word.value ^= op.operand;
    if (kind == sched::OpKind::kCompareSwap && op.swapped) word.value = op.operand;
    op.done_at_s =
        now_s_ + p_.transfer_s(8) + sched::seconds(p_.latency) + sched::seconds(p_.o_complete);
  }

  void finish(std::uint32_t i) {
    ops_[i].phase = Phase::kDone;
    ops_[i].seen.done_s = now_s_;
  }

  double next() const {
    double next_s = kNever;
    const auto add = [&](double time_s) {
      if (!now(time_s)) next_s = std::min(next_s, time_s);
    };
    for (const State& op : ops_) {
      if (op.phase == Phase::kOnLane) add(op.lane_end_s);
      if (op.phase == Phase::kIssued) add(op.done_at_s);
      add(op.at_target_s);
    }
    for (const auto& [place, word] : words_) add(word.served_s);
    for (const RegionState& r : regions_) {
      if (r.stage == Stage::kWaiting) add(r.begins_s);
    }
    return next_s;
  }

  const sched::Schedule& s_;
  const machine::Platform& p_;
  std::uint64_t seed_;
  double now_s_ = 0;
  std::vector<State> ops_;
  std::vector<RegionState> regions_;
  std::vector<double> lane_free_s_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Word> words_;
  std::map<std::uint32_t, std::vector<Pair>> pairs_;
  std::map<std::uint32_t, std::size_t> sources_;
  std::map<std::uint32_t, std::size_t> receives_;
};

}  // namespace slackline::testing
