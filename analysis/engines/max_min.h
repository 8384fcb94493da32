// Max-min fair rates: no flow can have more without another, which has no more than it, having
// less.
//
// By progressive filling (Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2): all
// rates grow together from zero. A flow stops growing when it has its own bound, or when a link on
// its way is full; that link is its bottleneck. The link that fills next is the one with the least
// level, which is what it has left over the flows on it that still grow. So links stand in a heap
// by level. Levels only rise, as whoever stopped growing before had less than the others will: an
// entry that is out of date goes back into the heap. With e passages of flows over links, filling
// takes O(e log e).
#pragma once

#include <cstdint>
#include <vector>

#include "machine/heap.h"

namespace slackline::analysis {

/// One problem at a time; its memory is used again. Rates and capacities are in bytes per second.
/// Rates do not depend on the order in which links and flows are told, to the last bit, if no flow
/// passes a link twice.
class MaxMin {
 public:
  /// Forgets the problem before.
  void begin();
  /// Answers the link's number; links count from 0. Of links that fill at the same level that with
  /// the least `key` is looked at first.
  std::uint32_t add_link(double capacity, std::uint32_t key) {
    links_.push_back({capacity, key, 0, static_cast<std::uint32_t>(passing_.size()), 0});
    return static_cast<std::uint32_t>(links_.size() - 1);
  }
  /// A flow that passes the link that was added last; it may be added later. To be told of each
  /// pass() once.
  void carry(std::uint32_t flow) {
    passing_.push_back(flow);
    ++links_.back().count;
  }
  /// Flows count from 0. `bound` > 0: it never has more.
  void add_flow(double bound) {
    flows_.push_back({bound, 0, static_cast<std::uint32_t>(passages_.size()), 0});
  }
  /// The flow that was added last passes the link, `times` times.
  void pass(std::uint32_t link, std::uint32_t times) {
    passages_.push_back({link, times});
    links_[link].growing += times;
    ++flows_.back().count;
  }

  void solve();
  double rate(std::uint32_t flow) const { return flows_[flow].rate; }

 private:
  struct Link {
    double left;
    std::uint32_t key;
    std::uint32_t growing = 0;  // passages of flows that have no rate yet
    std::uint32_t first = 0;    // in passing_
    std::uint32_t count = 0;
  };
  struct Flow {
    double bound;
    double rate;  // 0: it still grows
    std::uint32_t first;
    std::uint32_t count;
  };
  struct Passage {
    std::uint32_t link;
    std::uint32_t times;
  };
  struct Level {
    double rate;
    std::uint32_t key;
    std::uint32_t link;
  };
  struct Lower {
    bool operator()(const Level& a, const Level& b) const {
      return a.rate != b.rate ? a.rate < b.rate : a.key < b.key;
    }
  };

  void fill(std::uint32_t link, double rate);
  void stop(std::uint32_t flow, double rate);
  double level(const Link& link) const { return link.left / link.growing; }

  std::size_t growing_ = 0;  // flows
  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<Passage> passages_;
  std::vector<std::uint32_t> passing_;   // flows, by link
  std::vector<std::uint32_t> by_bound_;  // flows, the least bound first
  machine::Heap<Level, Lower> levels_;
};

}  // namespace slackline::analysis
