// Large messages under way that share links, and when each of them has left: max-min fair rates,
// kept up as messages begin and end and as links change.
//
// Between changes a flow has a constant rate, so only its rate, what it had left when it got that
// rate, and the end that follows are kept. A link can make a flow slower only if it is *scarce*: if
// the flows on it, each at the most that it could have alone, want more than the link has. After a
// change, rates are filled again (analysis/engines/max_min.h) in the components of flows that are
// joined by scarce links and that the change can reach; a flow whose rate comes out the same is not
// touched. Filling depends on nothing outside of a component, so the rates are those of filling
// everything anew, bit by bit.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/engines/end_times.h"
#include "analysis/engines/max_min.h"
#include "machine/paths.h"
#include "machine/wiring.h"

namespace slackline::analysis {

class FlowShares {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The paths must outlive this.
  FlowShares(const machine::Paths& paths, const machine::Wiring& wiring);

  /// A message of `bytes` > 0 begins to leave. Its rate is known from settle() on.
  void start(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op);
  /// The link has another rate from now on.
  void set_rate(machine::LinkId link, double bytes_per_s);
  /// Gives everything its rate after what has changed by now.
  void settle(double now_s);

  /// As another one over the same paths is now.
  void resume(const FlowShares& other);
  /// After settle(): whether another one over the same paths, settled too, has the same flows with
  /// the same rates and as much of each left.
  bool goes_on_as(const FlowShares& other) const;

  /// When the first flow has left, if nothing changes; kNever without any. After settle().
  double next_end_s() { return ends_.least_s(); }
  /// Takes out every flow that has left by `until_s`, itself included if `with_equal`, and calls
  /// visit(op, end_s).
  template <class Visit>
  void take_ended(double until_s, bool with_equal, Visit&& visit) {
    for (double end_s = next_end_s(); end_s < until_s || (with_equal && end_s == until_s);
         end_s = next_end_s()) {
      const std::uint32_t slot = ends_.least_slot();
      visit(flows_[slot].op, end_s);
      remove(slot);
    }
  }
  /// Takes out every flow whose path is cut by then, in order of their operations, and calls
  /// visit(op).
  template <class Visit>
  void take_cut(double cut_s, Visit&& visit) {
    for (const std::uint32_t slot : cut_by(cut_s)) {
      visit(flows_[slot].op);
      remove(slot);
    }
  }

 private:
  // Of a path, over the links that it passes, each once.
  struct Hop {
    std::uint32_t link;
    std::uint32_t times;
  };
  struct Way {
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count = 0;
  };
  struct User {
    std::uint32_t slot;
    std::uint32_t hop;  // counted from the first of its way
  };
  struct Link {
    double capacity;
    bool shared;
    bool changed = false;     // since rates were last filled
    bool was_scarce = false;  // then
    // By all users, each at its bound. Rates are whole bits per second, of which a double counts
    // enough: what is added and taken away again leaves no error behind.
    double wanted = 0;
    std::uint64_t seen = 0;    // the round that it was last reached in, …
    std::uint32_t number = 0;  // …and what it was called there
    std::vector<User> users = {};
  };
  struct Reached {
    std::uint64_t round;   // the last one that it was reached in, …
    std::uint32_t number;  // …and what it was called there
  };
  struct Flow {
    machine::PathId path;
    sched::OpId op;
    bool live = false;
    double bound = 0;  // what it would have alone
    double rate = 0;
    double left = 0;  // in bytes, at…
    double since_s = 0;
  };

  std::span<const Hop> hops(const Flow& flow) const {
    const Way& way = ways_[flow.path.value];
    return std::span(hops_).subspan(way.first_hop, way.hop_count);
  }
  // Where the flow stands among the users of each link of its way.
  std::uint32_t* places(std::uint32_t slot) { return &places_[std::size_t{slot} * most_hops_]; }
  double bound_of(const Flow& flow) const;
  static bool is_scarce(const Link& link) { return link.shared && link.wanted > link.capacity; }
  void change(std::uint32_t link);
  void remove(std::uint32_t slot);
  std::uint32_t reach(std::uint32_t slot);
  void fill_from(double now_s, std::uint32_t slot);
  void set_flow_rate(double now_s, std::uint32_t slot, double rate);
  std::vector<std::uint32_t> cut_by(double cut_s) const;
  std::vector<const Flow*> live() const;

  const machine::Paths& paths_;
  std::vector<Link> links_;             // those of the wiring that a path passes, then pairs' rates
  std::vector<std::uint32_t> link_of_;  // of the wiring's; kUnused
  std::vector<Way> ways_;               // of every path
  std::vector<Hop> hops_;
  std::uint32_t most_hops_ = 0;
  std::vector<Flow> flows_;
  std::vector<Reached> reached_in_;  // each flow
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> free_;
  EndTimes ends_;
  std::vector<std::uint32_t> changed_;  // links
  std::vector<std::uint32_t> fresh_;    // flows without a rate
  std::uint64_t round_ = 0;             // of settling
  std::vector<std::uint32_t> reached_;  // flows of the component at hand
  MaxMin filling_;
};

}  // namespace slackline::analysis
