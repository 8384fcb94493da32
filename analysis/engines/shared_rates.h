// Max-min fair rates of flows that begin and end on links that change, kept up.
//
// Rates are fair when each flow has its own bound, or passes a link that is full and on which
// nobody has more: its bottleneck (Bertsekas and Gallager, Data Networks, 2nd edition, section
// 6.5.2). So after a change only a region of flows gets new rates: the flows that are new, those
// whose bottleneck has changed, those whose bottleneck one of these passes, and so on. The region's
// rates are filled (max_min.h) into what all others leave of the links. Then every link that the
// region passes is looked at: a flow outside whose bottleneck has more or less to give than before,
// or that has more than those which the link now holds back, comes into the region, and the region
// is filled again. When there is none, all rates are fair.
//
// Fair rates are unique, but for what rounding leaves over where two links fill at one level: some
// units. A double shows those only where a rate lies that near to halfway between two doubles. So
// rates are those of filling everything anew, whatever came before.
//
// Where many flows begin at once on links that nobody fills, finding their rates costs next to
// nothing, but each touches every link of its way. So what that needs of a link or of a flow stands
// in one line of a cache, apart from what only filling needs, and a flow carries its way along.
//
// Who is on which link is only asked when a flow does not have all that it could alone. Where that
// never happens, as with serial NICs on a network without bottlenecks, it is not even written down:
// then a message that begins or ends touches half of what it would.
//
// A serial NIC has one message at a time on each of its ports. So a link that the messages of one
// port pass alone never fills: its rate is a bound of these messages, and nothing is kept of it.
//
// What a change can reach at all are the flows that are joined by links which could be full: on
// racks whose uplinks hundreds share, eight times as many as the region has.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "analysis/engines/first_few.h"
#include "analysis/engines/max_min.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"

namespace slackline::analysis {

/// Flows are slots, numbered by the caller from 0, without large holes. A flow counts from the next
/// settle() on; a slot that was removed may be added again before.
class SharedRates {
 public:
  /// The paths may go afterwards. With `nic` kSerial no two flows may be there at once that have a
  /// source NIC or a destination NIC in common.
  SharedRates(const machine::Paths& paths, const machine::Wiring& wiring,
              machine::NicDiscipline nic = machine::NicDiscipline::kFair);

  /// As another one over the same paths is now.
  void resume(const SharedRates& other);

  /// The flow never has more than `most_bytes_per_s` > 0, whatever its links have.
  void add(std::uint32_t slot, machine::PathId path,
           double most_bytes_per_s = machine::Paths::kNoLimit);
  void remove(std::uint32_t slot);

  /// Has the processor load what adding a flow of that path touches: where its way is told, then
  /// the way, and then the links. Each is asked for when the one before is there.
  [[gnu::always_inline]] void prefetch_way(machine::PathId path) const {
    __builtin_prefetch(&ways_[path.value]);
  }
  [[gnu::always_inline]] void prefetch_hops(machine::PathId path) const {
    __builtin_prefetch(hops_.data() + ways_[path.value].first_hop);  // which may be their end
  }
  [[gnu::always_inline]] void prefetch_links(machine::PathId path) const {
    for (const Hop& hop : hops(ways_[path.value])) prefetch_link(hop.link);
  }
  /// The same of removing the flow.
  [[gnu::always_inline]] void prefetch_links_of(std::uint32_t slot) const {
    for (const Pass& pass : passes(slot)) prefetch_link(pass.link);
  }

  /// The link has another rate from now on. Throws InternalError for twice as much or more than
  /// the greatest that a link on a path has or will have by the paths' changes. With serial NICs
  /// only links change of which the paths tell a change.
  void set_capacity(machine::LinkId link, double bytes_per_s);

  /// Finds all rates after what has changed; calls visit(slot, bytes_per_s) for each flow that has
  /// another one than at the last time.
  template <class Visit>
  void settle(Visit&& visit) {
    if (changed_.empty() && fresh_.empty()) return;
    find_rates();
    for (const std::uint32_t slot : touched_) {
      Flow& flow = flows_[slot];
      const double rate =
          flow.bottleneck == kNone ? flow.bound_told : crowds_[flow.bottleneck].told;
      if (rate == flow.told) continue;
      flow.told = rate;
      visit(slot, rate);
    }
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr MaxMin::Rate kNoLevel = MaxMin::Rate{1} << 126;

  // Of a path, over the links that it passes and that may fill, each once.
  struct Hop {
    std::uint32_t link;
    std::uint32_t times;
  };
  struct Way {
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count = 0;
    std::uint32_t bound = 0;  // what a flow has that is alone: which one of bounds_
  };
  struct Bound {
    MaxMin::Rate rate;
    double told;  // the same, in bytes per second
  };
  struct User {
    std::uint32_t slot;
    std::uint32_t hop;  // counted from the first of its way
  };
  // Of a flow, for each hop of its way; and the flow's place among the users of the link, if those
  // are kept.
  struct Pass {
    std::uint32_t link;
    std::uint32_t times;
    std::uint32_t place;
  };
  struct alignas(64) Link {
    MaxMin::Rate capacity;
    MaxMin::Rate used = 0;     // by all users, if it is shared
    std::uint64_t region = 0;  // the last one that passed it, …
    std::uint32_t number = 0;  // …and what it was called in the filling
    std::uint32_t holds = 0;   // as many users: Crowd::held
    bool shared;
    bool changed = false;  // what it gives to those that it holds back
    bool full = false;     // when it was filled last
  };
  static_assert(sizeof(Link) == 64);
  // Who is on a link.
  struct alignas(64) Crowd {
    FirstFew<User, 4> users = {};
    MaxMin::Rate level = kNoLevel;  // what those have that it holds back
    double told = 0;                // the same, in bytes per second
    std::vector<User> held = {};    // users whose bottleneck it is
  };
  struct alignas(64) Flow {
    MaxMin::Rate rate = 0;
    MaxMin::Rate bound = 0;            // the lower of `most` and its way's
    std::uint64_t region = 0;          // the last one that it was in
    std::uint32_t bottleneck = kNone;  // a link
    std::uint32_t held_at = 0;         // its place there
    std::uint32_t hop_count = 0;
    machine::PathId path;
    bool live = false;

    MaxMin::Rate most = kNoLevel;  // its own
    double bound_told = 0;         // `bound` in bytes per second
    double told = 0;               // its rate in bytes per second
  };
  // A link that the region passes, by its number in the filling.
  struct Passed {
    std::uint32_t link;
    std::uint32_t held_inside = 0;  // flows of the region whose bottleneck it was
  };

  std::span<const Hop> hops(const Way& way) const {
    return std::span(hops_).subspan(way.first_hop, way.hop_count);
  }
  std::span<Pass> passes(std::uint32_t slot) {
    return std::span(passes_).subspan(std::size_t{slot} * most_hops_, flows_[slot].hop_count);
  }
  std::span<const Pass> passes(std::uint32_t slot) const {
    return std::span(passes_).subspan(std::size_t{slot} * most_hops_, flows_[slot].hop_count);
  }
  [[gnu::always_inline]] void prefetch_link(std::uint32_t link) const {
    __builtin_prefetch(&links_[link], 1);
    if (users_kept_) __builtin_prefetch(&crowds_[link], 1);
  }
  MaxMin::Rate units(double bytes_per_s) const;
  MaxMin::Rate capacity(double bytes_per_s, bool shared) const;
  void find_bound(Way& way);
  void set_bound(Flow& flow) const;
  void change(std::uint32_t link);
  void keep_users();
  void join_users(std::uint32_t slot);
  void leave_users(std::uint32_t slot);
  void use(std::span<const Pass> way, MaxMin::Rate more);
  // Into the region.
  void take(std::uint32_t slot) {
    Flow& flow = flows_[slot];
    if (flow.region == region_) return;
    flow.region = region_;
    inside_.push_back(slot);
  }
  void join(std::uint32_t slot);
  bool fits_alone(std::uint32_t slot);
  void find_rates();
  bool widen();
  bool stays_as_held(std::uint32_t link) const;
  void keep();
  void release(std::uint32_t slot);
  void hold(std::uint32_t slot, std::uint32_t link);

  std::vector<Link> links_;             // those of the wiring that a path passes, then pairs' rates
  std::vector<Crowd> crowds_;           // of every link
  bool users_kept_ = false;             // of every link: once some flow did not fit alone
  std::vector<std::uint32_t> link_of_;  // of the wiring's; kNone
  // Of every path. There may be a million, and few bounds, so that those stand apart.
  std::vector<Way> ways_;
  std::vector<Bound> bounds_;
  std::map<MaxMin::Rate, std::uint32_t> bound_of_;  // by its rate, which one of bounds_
  std::vector<Hop> hops_;
  std::uint32_t most_hops_ = 0;
  // Bytes per second: a power of two, of which no link has 2^121 or more, also in parts.
  double unit_ = 1;
  double fastest_ = 1;       // of all links, ever: no flow has more bytes per second
  std::uint32_t parts_ = 1;  // of a message, by which capacities and passages are counted
  std::vector<Flow> flows_;
  std::vector<Pass> passes_;            // of every flow
  std::vector<std::uint32_t> changed_;  // links
  std::vector<std::uint32_t> fresh_;    // flows without a rate, or with another bound
  std::uint64_t region_ = 0;            // regions are numbered
  std::vector<std::uint32_t> touched_;  // flows: the region, and those that fitted alone
  std::vector<std::uint32_t> inside_;   // flows of the region
  std::vector<Passed> passed_;          // by number in the filling
  MaxMin filling_;
};

}  // namespace slackline::analysis
