// The part of machine/execution.h that repeats regions, or passes them over. Included there, and
// nowhere else.
#pragma once

#include "machine/execution.h"

namespace slackline::machine {

// What the region waits for outside is there, or an attempt is over and another comes.
template <class Network>
void Execution<Network>::enter(std::uint32_t region) {
  const sched::Region& r = schedule_.regions()[region];
  if (paths_.may_fail() && is_gone(op(r.entry).rank)) return;
  if (regions_.is_taken(
          region, [&](OpId id) { return times(id).attempts != 0 && memory_.succeeded(id); })) {
    begin_attempt(region);
  } else {
    pass_over(region);
    leave(region, regions_.cause(region));
  }
}

template <class Network>
void Execution<Network>::begin_attempt(std::uint32_t region) {
  regions_.begin_attempt(region);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const OpId cause = regions_.cause(region);
  const auto children = tree_.children(region);
  for (const std::uint32_t node : children) {
    graph_.waiting_for[node] = regions_.waits_at_first(node);
    if (tree_.is_region(node)) continue;
    sched::OpTimes& t = times(OpId(node));
    t = {kNever, kNever, kNever, kNever, t.attempts, cause};
    replying_[node] = 0;
  }
  for (const std::uint32_t node : children) {
    if (regions_.waits_at_first(node) != 0) continue;
    if (tree_.is_region(node)) {
      regions_.release(tree_.region_of(node), cause);
      ended_now_.push_back({OpId(node), Kind::kEnter});
    } else {
      make_ready(OpId(node));
    }
  }
}

// Something that stands in the region itself has ended, `last` the latest operation of it.
template <class Network>
void Execution<Network>::ended_within(std::uint32_t region, OpId last) {
  if (!regions_.ended_within(region)) return;
  const sched::Region& r = schedule_.regions()[region];
  if (regions_.is_over(region)) {
    leave(region, last);
    return;
  }
  regions_.set_cause(region, last);
  end_at(now_s_ + sched::seconds(r.backoff), {OpId(tree_.node_of(region)), Kind::kEnter});
}

template <class Network>
void Execution<Network>::leave(std::uint32_t region, OpId last) {
  const std::uint32_t node = tree_.node_of(region);
  for (std::uint32_t i = graph_.out_begin[node]; i < graph_.out_begin[node + 1]; ++i) {
    release(graph_.out[i].succ, last);
  }
  const std::uint32_t around = tree_.around(node);
  if (around != sched::RegionTree::kNone) ended_within(around, last);
}

// Its operations never run here; their times are the moment when that was known.
template <class Network>
void Execution<Network>::pass_over(std::uint32_t region) {
  const sched::Region& r = schedule_.regions()[region];
  for (std::uint32_t i = r.entry.value; i < r.entry.value + r.count; ++i) {
    sched::OpTimes& t = times(OpId(i));
    if (t.attempts != 0) continue;
    t = {now_s_, now_s_, now_s_, now_s_, 0, regions_.cause(region)};
  }
}

}  // namespace slackline::machine
