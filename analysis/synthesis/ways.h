// What a message between any two ranks takes, and which links it shares: the network as synthesis
// sees it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/ids.h"

namespace slackline::analysis {

/// From one rank to another.
struct Way {
  double bytes_per_s = 0;   // of its slowest link, or of the memory
  double latency_s = 0;     // one way
  double load_s_per_b = 0;  // what a byte takes of the time of all its links together
  bool local = false;       // through memory, without packets
  bool scale_up = false;    // over a scale-up network, without packets
  std::uint32_t first_link = 0;
  std::uint32_t link_count = 0;

  bool passes_no_nic() const { return local || scale_up; }
};

/// Of every ordered pair of ranks. Immutable; its size is their number and that of links passed.
class Ways {
 public:
  /// `wiring` is the platform's, with a route between every two ranks. Throws what its routes do.
  Ways(const machine::Platform& platform, const machine::Wiring& wiring);

  /// The same network where every message goes the other way round: what is found for it and then
  /// run backwards suits the network itself.
  Ways backwards() const;

  std::uint32_t ranks() const { return ranks_; }
  const Way& of(sched::RankId src, sched::RankId dst) const {
    return ways_[std::size_t{src.value} * ranks_ + dst.value];
  }
  /// The links of a way that messages share; a link appears once.
  std::span<const std::uint32_t> links(const Way& way) const {
    return std::span(links_).subspan(way.first_link, way.link_count);
  }
  std::span<const double> link_bytes_per_s() const { return link_bytes_per_s_; }

  /// How long a message of `bytes` is on its way's slowest link, or on PCIe if that takes longer.
  double wire_s(const Way& way, std::uint64_t bytes) const {
    const double on_wire =
        way.passes_no_nic() ? static_cast<double>(bytes) : framing_.wire_bytes(bytes);
    return std::max(on_wire / way.bytes_per_s, way.passes_no_nic() ? 0 : pcie_.transfer_s(bytes));
  }
  /// How long a port is kept from its next large message after it has sent or received one, with
  /// one message under way and one receive posted: the acknowledgement or the credit comes back.
  double pause_s(const Way& way) const {
    return 2 * (way.latency_s + overhead_s_ + (way.passes_no_nic() ? 0 : post_more_s_));
  }

 private:
  std::uint32_t ranks_;
  double overhead_s_;   // of the CPU, for one event of a message
  double post_more_s_;  // on a queue pair that threads share
  machine::Framing framing_;
  machine::Pcie pcie_;
  std::vector<Way> ways_;
  std::vector<std::uint32_t> links_;
  std::vector<double> link_bytes_per_s_;
};

}  // namespace slackline::analysis
