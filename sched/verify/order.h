// Which operation certainly comes before which: one order that all arcs allow, and proofs that
// every order agrees on a pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sched/event_graph.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// All operations in an order in which they can be issued, and each one's place in it.
struct OperationOrder {
  std::vector<OpId> sequence;
  std::vector<std::uint32_t> position;  // by operation
};

/// An order that respects every arc, (d) included; nothing if there is a cycle. A function of the
/// schedule alone.
std::optional<OperationOrder> issue_order(const Schedule& schedule);

/// Looks for paths of arcs (a), (b), (c) and (e), backwards from the later event.
///
/// An event reached from another stands behind it in the issue order, so the search passes over
/// everything that stands before the earlier event; most proofs take a handful of steps. It visits
/// what is on the earlier event's rank first: a proof across ranks mostly goes there directly, by a
/// credit or the message itself. A search that grows long has the program cut into chains of
/// operations that wait for each other's done: it then ends as soon as it meets the earlier event's
/// chain behind it, however far.
class OrderProver {
 public:
  /// Keeps references to all it is given. `max_steps`: operations one search may expand.
  OrderProver(const Schedule& schedule, const ChannelOrder& channels, const OperationOrder& order,
              std::size_t max_steps);

  enum class Answer {
    kProven,
    kRefuted,    // there is no path
    kUndecided,  // none within max_steps
  };
  /// Is there a path from `first` to issued(second)?
  Answer before(EventId first, OpId second);

  /// Whether `second` is known, without a search, to wait for done(first): by their chain.
  bool waits_on_chain(OpId first, OpId second) const {
    return !chain_.empty() && chain_[first.value] == chain_[second.value] &&
           order_.position[first.value] < order_.position[second.value];
  }

  std::size_t max_steps() const { return max_steps_; }

 private:
  Answer search(OpId second, std::size_t max_steps);
  void make_chains();
  bool waits_directly(std::span<const Edge> edges) const;
  bool expand(OpId op);
  bool reach_issued(OpId op);
  bool reach_done(OpId op);
  std::uint32_t position_of(EventId event) const;

  const Schedule& schedule_;
  const ChannelOrder& channels_;
  const OperationOrder& order_;
  std::size_t max_steps_;

  std::vector<std::uint32_t> seen_;   // by operation: the last search that reached issued(op)
  std::vector<std::uint32_t> chain_;  // by operation; empty until a search grows long
  std::uint32_t search_ = 0;
  std::vector<OpId> near_;  // to be expanded, on the rank of `first`
  std::vector<OpId> far_;   // …and elsewhere
  EventId first_;
  std::uint32_t floor_ = 0;
  std::uint32_t first_chain_ = 0;
  std::uint32_t near_begin_ = 0;
  std::uint32_t near_end_ = 0;
};

}  // namespace slackline::sched
