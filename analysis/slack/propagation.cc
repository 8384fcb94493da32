#include "analysis/slack/propagation.h"

#include <algorithm>
#include <bit>

#include "analysis/slack/critical_path.h"
#include "analysis/slack/lane_hold.h"
#include "machine/delays.h"
#include "machine/lane.h"

namespace slackline::analysis {

using sched::Op;
using sched::OpId;

Propagation::Propagation(const machine::Setting& setting, const sched::Trace& trace, WireTimes wire)
    : schedule_(setting.schedule),
      trace_(trace),
      completions_(schedule_, setting.platform, setting.order),
      hold_s_(schedule_.op_count(), 0),
      unhindered_s_(schedule_.op_count(), 0),
      rank_finish_s_(schedule_.rank_count(), 0) {
  const ConstraintGraph graph = frozen_run(setting, trace, wire);
  const std::span<const double> time_s = graph.time_s();
  makespan_s_ = analysis::makespan_s(graph);
  unlocked_s_ = graph.unlocked_s();
  node_.assign(graph.order().begin(), graph.order().end());
  place_.resize(node_.size());
  time_s_.resize(node_.size());
  for (std::uint32_t p = 0; p < node_.size(); ++p) {
    place_[node_[p].value] = p;
    time_s_[p] = time_s[node_[p].value];
  }
  arcs_.reserve(graph.constraints().size());
  for (const NodeId node : node_) {
    arcs_begin_.push_back(static_cast<std::uint32_t>(arcs_.size()));
    for (const std::uint32_t index : graph.out_of(node)) {
      const Constraint& c = graph.constraints()[index];
      arcs_.push_back({place_[c.head.value], c.weight_s});
    }
  }
  arcs_begin_.push_back(static_cast<std::uint32_t>(arcs_.size()));
  const machine::Delays delays(setting);
  for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
    const OpId id(i);
    const Op& op = schedule_.op(id);
    hold_s_[i] = lane_hold_s(setting, delays, id);
    unhindered_s_[i] = graph.source_s(NodeId::of(id, Moment::kIssued));
    double& finish_s = rank_finish_s_[op.rank.value];
    finish_s = std::max(finish_s, time_s[NodeId::of(id, Moment::kDone).value]);
  }
  for (const Constraint& c : graph.schedule_constraints()) {
    if (c.head.moment() != Moment::kIssued) continue;
    double& unhindered_s = unhindered_s_[c.head.op().value];
    unhindered_s = std::max(unhindered_s, time_s[c.tail.value] + c.weight_s);
  }
}

// How this works. The run's moments are numbered so that every constraint leads to a higher place.
// A query raises the moment that the delay strikes, then takes the lowest place that is pending,
// again and again, and raises what it constrains. So each moment that moves is visited once and no
// other is looked at, as in the incremental evaluation of circuits (Alpern, Hoover, Rosen, Sweeney
// and Zadeck, "Incremental evaluation of computational circuits", SODA 1990). A bit for each place
// takes the place of a priority queue: the next place is the next bit.

// What is pending is visited place by place, so that each is raised for the last time before it
// raises others.
void Propagation::raise(std::uint32_t place, double time_s, Scratch& scratch) const {
  if (time_s <= scratch.time_s[place]) return;
  scratch.time_s[place] = time_s;
  std::uint64_t& word = scratch.pending[place / 64];
  const std::uint64_t bit = std::uint64_t{1} << place % 64;
  if ((word & bit) == 0) scratch.touched.push_back(place);
  word |= bit;
}

// Everything that comes later on the operation's lane. The constraints have that order only where
// the operation took any time of its lane before.
void Propagation::hold_up_lane(OpId id, double free_s, Scratch& scratch) const {
  const Op& op = schedule_.op(id);
  for (OpId k = schedule_.first_op(op.rank); k < schedule_.end_op(op.rank); ++k.value) {
    const Op& other = schedule_.op(k);
    if (other.lane != op.lane || !machine::holds_lane(other.kind)) continue;
    const sched::OpTimes& times = trace_.ops[k.value];
    if (completions_.is_looked_at(k) && times.done_s > trace_.ops[id.value].issued_s) {
      raise(place(k, Moment::kDone), free_s + completions_.see_s(k), scratch);
    }
    if (times.issued_s <= trace_.ops[id.value].issued_s) continue;
    const double into_s = machine::is_posted(other.kind) ? hold_s_[k.value] : 0;
    raise(place(k, Moment::kIssued), free_s + into_s, scratch);
  }
}

// Leaves in `scratch` when everything happens with the delay.
void Propagation::spread(const machine::OpDelay& delay, Scratch& scratch) const {
  if (scratch.time_s.empty()) {
    scratch.time_s = time_s_;
    scratch.pending.resize(time_s_.size() / 64 + 1, 0);
  }
  const Op& op = schedule_.op(delay.op);
  const double by_s = sched::seconds(delay.by);
  const std::uint32_t issued = place(delay.op, Moment::kIssued);
  if (!delay.whole_lane) {
    raise(issued, unhindered_s_[delay.op.value] + by_s, scratch);
  } else if (machine::is_posted(op.kind)) {
    // A wait for the lock of its queue pair comes after the delay, and may take it up.
    const double after_s = unlocked_s_[delay.op.value] + by_s;
    raise(issued, after_s, scratch);
    hold_up_lane(delay.op, after_s, scratch);
  } else if (machine::holds_lane(op.kind)) {
    const double free_s = time_s_[issued] + hold_s_[delay.op.value] + by_s;
    raise(place(delay.op, Moment::kDone), free_s, scratch);
    hold_up_lane(delay.op, free_s, scratch);
  }
  // What a visit adds comes at a later place.
  for (std::size_t w = 0; w < scratch.pending.size(); ++w) {
    while (scratch.pending[w] != 0) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(scratch.pending[w]));
      scratch.pending[w] &= scratch.pending[w] - 1;
      const std::size_t p = 64 * w + bit;
      for (std::uint32_t a = arcs_begin_[p]; a < arcs_begin_[p + 1]; ++a) {
        raise(arcs_[a].head, scratch.time_s[p] + arcs_[a].weight_s, scratch);
      }
    }
  }
}

void Propagation::restore(Scratch& scratch) const {
  for (const std::uint32_t p : scratch.touched) scratch.time_s[p] = time_s_[p];
  scratch.touched.clear();
}

DelayEffect Propagation::effect(const machine::OpDelay& delay, Scratch& scratch) const {
  DelayEffect result;
  result.rank_finish_s.resize(schedule_.rank_count(), 0);
  spread(delay, scratch);
  double end_s = makespan_s_;
  for (const std::uint32_t p : scratch.touched) {
    const double after_s = scratch.time_s[p];
    end_s = std::max(end_s, after_s);
    const NodeId node = node_[p];
    const bool done = node.moment() == Moment::kDone;
    if (!done && node.moment() != Moment::kIssued) continue;
    result.largest_s = std::max(result.largest_s, after_s - time_s_[p]);
    const std::uint32_t end = place(node.op(), Moment::kDone);
    if (done || scratch.time_s[end] == time_s_[end]) ++result.ops_moved;
    if (!done) continue;
    const std::uint32_t rank = schedule_.op(node.op()).rank.value;
    double& rank_s = result.rank_finish_s[rank];
    rank_s = std::max(rank_s, after_s - rank_finish_s_[rank]);
  }
  result.makespan_s = end_s - makespan_s_;
  restore(scratch);
  return result;
}

DelayEffect Propagation::effect(const machine::OpDelay& delay) const {
  Scratch scratch;
  return effect(delay, scratch);
}

std::vector<double> Propagation::done_later_s(const machine::OpDelay& delay) const {
  Scratch scratch;
  spread(delay, scratch);
  std::vector<double> later_s;
  later_s.reserve(schedule_.op_count());
  for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
    const std::uint32_t done = place(OpId(i), Moment::kDone);
    later_s.push_back(scratch.time_s[done] - time_s_[done]);
  }
  return later_s;
}

}  // namespace slackline::analysis
