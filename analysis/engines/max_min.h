// Max-min fair rates: no flow can have more without another, which has no more than it, having
// less.
//
// By progressive filling (Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2): all
// rates grow together from zero. A flow stops growing when it has its own bound, or when a link on
// its way is full; that link is its bottleneck. The link that fills next is the one with the least
// level, which is what it has left over the flows on it that still grow. So links stand in a heap
// by level. Levels only rise, as whoever stopped growing before had less than the others will: an
// entry that is out of date goes back into the heap. With e passages of flows over links, filling
// takes O(e log e). A link with a single flow, which has enough for that flow's bound, never fills,
// and stands in no heap: where every NIC has one message under way most links are of that kind.
//
// Neither does a link stand there that is not expected to fill. If each passage of it could still
// have one unit more when all is filled, its level was always above that of whoever filled: with
// g passages growing at rates of r or more, it has left for them what they get and g at least, a
// level of r + 1 or more. Then it would not have filled, and all is as with it in the heap. If not,
// it is expected after all, and everything is filled again.
//
// Rates are whole numbers of a unit, and levels are rounded down to one. So sums have no rounding
// errors, and rates do not depend on the order in which links and flows are told. Where two links
// fill at one level, what rounding leaves over goes to the flows of the one that fills later: it is
// the one with the higher key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "machine/heap.h"

namespace slackline::analysis {

/// One problem at a time; its memory is used again. It may grow after it was solved, and be solved
/// again. All rates and capacities are in one unit, and below 2^121.
class MaxMin {
 public:
  using Rate = __int128;
  static constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();

  /// Forgets the problem before.
  void begin();
  /// Answers the link's number; links count from 0. No two have one `key`. `left`, which may be
  /// below zero, is what it has for the flows to be told. What is `expected` to fill matters to how
  /// long filling takes alone.
  std::uint32_t add_link(Rate left, std::uint32_t key, bool expected = true) {
    links_.push_back({.given = left});
    told_.push_back({key, expected});
    return static_cast<std::uint32_t>(links_.size() - 1);
  }
  /// Flows count from 0. `bound` > 0: it never has more. `passages`: as often pass() may be called
  /// for it.
  void add_flow(Rate bound, std::uint32_t passages) {
    ascending_ = ascending_ && (flow_count_ == 0 || flows_.back().bound <= bound);
    flows_.push_back({bound, 0, static_cast<std::uint32_t>(passage_count_), kNoLink});
    ++flow_count_;
    if (passage_count_ + passages > passages_.size()) {
      passages_.resize(2 * (passages_.size() + passages));
    }
  }
  /// The flow that was added last passes the link, `times` times, which has so much `more` for it.
  void pass(std::uint32_t number, std::uint32_t times, Rate more = 0) {
    Link& link = links_[number];
    link.given += more;
    link.times += times;
    passages_[passage_count_] = {number, times, static_cast<std::uint32_t>(flow_count_ - 1),
                                 link.last};
    link.last = static_cast<std::uint32_t>(passage_count_++);
  }

  void solve();
  /// At least 1, also where a link has less than that for it.
  Rate rate(std::uint32_t flow) const { return flows_[flow].rate; }
  /// The link that was full when the flow stopped growing; kNoLink if it has its bound.
  std::uint32_t bottleneck(std::uint32_t flow) const { return flows_[flow].bottleneck; }
  /// What nobody uses of a link.
  Rate left(std::uint32_t link) const { return links_[link].left; }
  /// The greatest rate of a flow that passes it.
  Rate most(std::uint32_t link) const { return links_[link].most; }
  /// How often those flows pass it whose bottleneck it is; they have most().
  std::uint32_t held(std::uint32_t link) const { return links_[link].held; }
  /// Whether not each of its passages could have one unit more.
  bool is_full(std::uint32_t link) const { return links_[link].left < links_[link].times; }

 private:
  // In one line of a cache: a flow that stops touches each link that it passes.
  struct alignas(64) Link {
    Rate given;
    std::uint32_t times = 0;       // passages of all flows
    std::uint32_t last = kNoLink;  // passage, which knows the one before it

    // While it is filled.
    std::uint32_t growing = 0;  // passages of flows that have no rate yet
    std::uint32_t held = 0;
    Rate left = 0;
    Rate most = 0;
  };
  static_assert(sizeof(Link) == 64);
  struct Told {
    std::uint32_t key;
    bool expected;  // to fill
  };
  struct Flow {
    Rate bound;
    Rate rate;            // 0: it still grows
    std::uint32_t first;  // passage; the next flow's are behind them
    std::uint32_t bottleneck;
  };
  struct Passage {
    std::uint32_t link;
    std::uint32_t times;
    std::uint32_t flow;
    std::uint32_t before;  // of the link; kNoLink
  };
  struct Level {
    Rate rate;
    std::uint32_t key;
    std::uint32_t link;
  };
  struct Lower {
    bool operator()(const Level& a, const Level& b) const {
      return a.rate != b.rate ? a.rate < b.rate : a.key < b.key;
    }
  };

  bool may_fill(const Link& link) const;
  void restart();
  void fill_all();
  bool expects_more();
  void fill(std::uint32_t link, Rate rate);
  void stop(std::uint32_t flow, Rate rate, std::uint32_t bottleneck);
  // In a negative number, division rounds upwards; no rate is below 1.
  static Rate level(const Link& link) { return link.left / link.growing; }

  std::size_t growing_ = 0;  // flows
  std::vector<Link> links_;
  std::vector<Told> told_;  // of every link
  std::vector<Flow> flows_;
  std::size_t flow_count_ = 0;
  bool ascending_ = true;  // flows stand in the order of their bounds
  std::vector<Passage> passages_;
  std::size_t passage_count_ = 0;        // more stand there, of problems before
  std::vector<std::uint32_t> by_bound_;  // flows, the least bound first, unless they are ascending
  machine::Heap<Level, Lower> levels_;
};

}  // namespace slackline::analysis
