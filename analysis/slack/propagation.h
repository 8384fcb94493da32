// What the delay of one operation does to the rest of a run, with the order on lanes and ports
// frozen as the run had it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// How much later things are than without the delay, in seconds, ≥ 0.
struct DelayEffect {
  double makespan_s = 0;
  std::vector<double> rank_finish_s;  // of every rank
  std::uint32_t ops_moved = 0;        // issued or done later, the delayed one too
  double largest_s = 0;               // of any operation's issue or end
};

class Propagation {
 public:
  /// Throws as frozen_run(). The schedule and the trace must outlive this.
  Propagation(const machine::Setting& setting, const sched::Trace& trace, WireTimes wire);

  /// What several queries can share; one per thread.
  struct Scratch {
    std::vector<double> time_s;          // by place
    std::vector<std::uint64_t> pending;  // a bit per place
    std::vector<std::uint32_t> touched;  // places
  };

  /// One more delay, as a delay plan has it: of the operation alone, whose wait for its lane may
  /// swallow some of it, or of its whole lane. Visits only what it moves. `delay.by` must be ≥ 0.
  DelayEffect effect(const machine::OpDelay& delay, Scratch& scratch) const;
  DelayEffect effect(const machine::OpDelay& delay) const;

  /// How much later each operation is done.
  std::vector<double> done_later_s(const machine::OpDelay& delay) const;

  /// When each rank finishes without it.
  const std::vector<double>& rank_finish_s() const { return rank_finish_s_; }
  double makespan_s() const { return makespan_s_; }

 private:
  // Of a node, its place in an order in which every node comes after all that constrain it. All
  // that a query walks over is kept in that order.
  std::uint32_t place(sched::OpId op, Moment moment) const {
    return place_[NodeId::of(op, moment).value];
  }
  struct Arc {
    std::uint32_t head;
    double weight_s;
  };
  void raise(std::uint32_t place, double time_s, Scratch& scratch) const;
  void hold_up_lane(sched::OpId op, double free_s, Scratch& scratch) const;
  void spread(const machine::OpDelay& delay, Scratch& scratch) const;
  void restore(Scratch& scratch) const;

  const sched::Schedule& schedule_;
  const sched::Trace& trace_;
  const machine::Completions completions_;
  std::vector<double> hold_s_;        // of every operation, its lane
  std::vector<double> unhindered_s_;  // when each would be issued if its lane were free, …
  std::vector<double> unlocked_s_;    // …and if its queue pair were
  std::vector<std::uint32_t> place_;  // of every node
  std::vector<NodeId> node_;          // at every place, …
  std::vector<double> time_s_;        // …when it comes without the delay, and…
  std::vector<std::uint32_t> arcs_begin_;
  std::vector<Arc> arcs_;  // …what it constrains
  std::vector<double> rank_finish_s_;
  double makespan_s_ = 0;
};

}  // namespace slackline::analysis
