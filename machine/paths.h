// What a message on each channel of a schedule meets on its way: the platform's wiring and the
// delay plan's rates and failures, resolved once.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::machine {

class Setting;

/// One way between two ranks.
using PathId = sched::Id<struct PathTag>;

/// From `at_s` on, the slowest link of a way has this rate.
struct RateChange {
  double at_s;
  double bytes_per_s;
};

struct Path {
  sched::RankId src;
  sched::RankId dst;
  NicId src_nic;
  NicId dst_nic;
  bool from_switch = false;  // whose first link is its port, and no NIC's
  bool to_switch = false;    // whose last link is
  bool local = false;     // through the memory of one machine: no links, and no port is asked for
  bool scale_up = false;  // over the scale-up network of one machine, whose ports are no NICs'
  bool passes_pcie = false;  // of a host at one end, or at both, if that is a limit
  double latency_s = 0;
  double bytes_per_s = 0;       // of its slowest link, or of its memory, at first
  double pair_bytes_per_s = 0;  // the plan's own rate for this pair; 0: none
  double cut_s = std::numeric_limits<double>::infinity();  // when a link or end of it fails
  std::uint32_t first_change = 0;                          // in changes(), …
  std::uint32_t change_count = 0;                          // …in order of time
  std::uint32_t first_link = 0;                            // in links(), …
  std::uint32_t link_count = 0;                            // …in the order they are passed
  std::uint32_t parts = 1;                                 // that a sprayed message has
  std::uint32_t ways = 1;  // that a large message may take: this path, and so many − 1 after it

  /// Whether it stays within a machine, where nothing is a NIC's.
  bool passes_no_nic() const { return local || scale_up; }
};

/// What is asked of a path most: so much fits the caches of a run whose paths do not.
struct PathInBrief {
  NicId src_nic;
  NicId dst_nic;
  PathId like;  // the first path on which a message takes the same time, and breaks off when this
                // one does: all is the same of both but their ends and links
};

/// A pair of ranks by way of one NIC each: all that it has under way shares the rate that a delay
/// plan gives the pair.
struct PairOnNics {
  sched::RankId src;
  sched::RankId dst;
  NicId src_nic;
  NicId dst_nic;
  friend auto operator<=>(const PairOnNics&, const PairOnNics&) = default;
};
inline PairOnNics pair_on_nics(const Path& path) {
  return {path.src, path.dst, path.src_nic, path.dst_nic};
}

/// What Wiring::route() calls each channel of a schedule.
std::vector<ChannelNumber> numbers_between_ranks(const sched::Schedule& schedule,
                                                 const Wiring& wiring);

class Paths {
 public:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  /// Throws InputError, naming which, for a link that the wiring does not have, a rate of 0, and a
  /// failure of a rank that does not exist; Unsupported for a failure of a link whose messages
  /// would choose another way. Keeps no reference.
  Paths(const sched::Schedule& schedule, const Wiring& wiring, const DelayPlan& plan);
  explicit Paths(const Setting& setting);

  /// The way of the channel's messages; with `reply`, of what comes back.
  PathId of(sched::ChannelId channel, bool reply) const {
    return of_channel_[2 * channel.value + (reply ? 1 : 0)];
  }
  /// Has the processor load where the ways of the channel are told, or in_brief(). Inlined: see
  /// machine/run/look_ahead.h.
  [[gnu::always_inline]] void prefetch_of(sched::ChannelId channel) const {
    __builtin_prefetch(&of_channel_[2 * channel.value]);
  }
  [[gnu::always_inline]] void prefetch(PathId id) const {
    __builtin_prefetch(&in_brief_[id.value]);
  }
  std::size_t size() const { return paths_.size(); }
  /// Of all machines, whether a path has it or not: what NicId counts.
  std::uint32_t nic_count() const { return nic_count_; }
  const Path& operator[](PathId id) const { return paths_[id.value]; }
  const PathInBrief& in_brief(PathId id) const { return in_brief_[id.value]; }
  /// PathInBrief::like. Of many paths there are few such, which stay in the cache.
  const Path& like(PathId id) const { return paths_[in_brief_[id.value].like.value]; }
  std::span<const LinkId> links(PathId id) const {
    return std::span(links_).subspan(paths_[id.value].first_link, paths_[id.value].link_count);
  }

  /// How many of the path's parts pass the n-th of its links.
  std::uint32_t parts(PathId id, std::size_t n) const {
    return parts_[paths_[id.value].first_link + n];
  }
  /// How much of a message passes the n-th of the path's links: 1 unless messages are sprayed.
  double share(PathId id, std::size_t n) const {
    return static_cast<double>(parts(id, n)) / paths_[id.value].parts;
  }
  /// How many of a message's bytes pass the n-th of the path's links, rounded down.
  std::uint64_t bytes_over(PathId id, std::size_t n, std::uint64_t bytes) const {
    const std::uint64_t all = paths_[id.value].parts;
    const std::uint64_t passing = parts(id, n);
    return passing == all ? bytes : bytes / all * passing + bytes % all * passing / all;
  }
  /// The least number that the parts of every path divide.
  std::uint32_t common_parts() const { return common_parts_; }

  /// When a message that begins to leave at `now_s` and shares with nobody has left.
  double sent_s(double now_s, PathId id, std::uint64_t bytes) const {
    const Path& path = like(id);
    if (path.change_count != 0) {
      return sent_with_changes_s(now_s, path, wire_bytes(path, bytes), most_bytes_per_s(id, bytes));
    }
    return now_s + alone_s(id, bytes);
  }
  /// The same of an acknowledgement, which a NIC makes by itself, without its host's memory.
  double ack_sent_s(double now_s, PathId id, std::uint64_t bytes) const {
    const Path& path = like(id);
    if (path.change_count != 0) {
      return sent_with_changes_s(now_s, path, wire_bytes(path, bytes), kNoLimit);
    }
    return now_s + wire_bytes(path, bytes) / path.bytes_per_s;
  }
  /// How long it takes at the rates that links have at first.
  double alone_s(PathId id, std::uint64_t bytes) const {
    const Path& path = like(id);
    return std::max(wire_bytes(path, bytes) / path.bytes_per_s, pcie_s(path, bytes));
  }

  /// How long the PCIe link at one of its ends, or at both, takes for a message of `bytes`; 0 if it
  /// passes none, or that is no limit.
  double pcie_s(PathId id, std::uint64_t bytes) const { return pcie_s(like(id), bytes); }
  double pcie_s(const Path& path, std::uint64_t bytes) const {
    return path.passes_pcie ? pcie_.transfer_s(bytes) : 0;
  }
  /// The bytes on the wire, per second, of which a message of `bytes` > 0 never has more, whatever
  /// its links could carry: then PCIe has no more of it. kNoLimit if nothing says so.
  double most_bytes_per_s(PathId id, std::uint64_t bytes) const {
    const double at_least_s = pcie_s(id, bytes);
    return at_least_s > 0 ? wire_bytes(id, bytes) / at_least_s : kNoLimit;
  }

  /// By how many bytes a message of `bytes` takes the time of that way: as the framing of links has
  /// it, of which memory and scale-up networks have none.
  double wire_bytes(const Path& path, std::uint64_t bytes) const {
    return path.passes_no_nic() ? static_cast<double>(bytes) : framing_.wire_bytes(bytes);
  }
  double wire_bytes(PathId id, std::uint64_t bytes) const { return wire_bytes(like(id), bytes); }

  /// The rate of the path's slowest link then.
  double bytes_per_s(double now_s, PathId id) const {
    const Path& path = like(id);
    double rate = path.bytes_per_s;
    for (const RateChange& change :
         std::span(changes_).subspan(path.first_change, path.change_count)) {
      if (change.at_s <= now_s) rate = change.bytes_per_s;
    }
    return rate;
  }

  /// Whether paths have several ways, of which each message takes one by load.
  bool is_adaptive() const { return adaptive_; }
  /// Of the wiring's links.
  std::size_t link_count() const { return link_count_; }

  bool may_fail() const { return may_fail_; }
  /// When the rank's host fails; infinity if it does not.
  double gone_s(sched::RankId rank) const {
    return gone_s_.empty() ? std::numeric_limits<double>::infinity() : gone_s_[rank.value];
  }

  /// The rate of a link over time, for who simulates it: in order of link, then time.
  struct LinkChange {
    LinkId link;
    double at_s;
    double bytes_per_s;
  };
  std::span<const LinkChange> link_changes() const { return link_changes_; }
  /// Every moment at which a path is cut, in order, none twice.
  std::span<const double> cuts_s() const { return cuts_s_; }

 private:
  double sent_with_changes_s(double now_s, const Path& path, double wire_bytes,
                             double most_bytes_per_s) const;
  void read_changes(const Wiring& wiring, const DelayPlan& plan);
  void read_failures(const Wiring& wiring, const DelayPlan& plan);
  PathId add_ways(sched::RankId src, sched::RankId dst, ChannelNumber channel, const Wiring& wiring,
                  const DelayPlan& plan);
  PathId add(sched::RankId src, sched::RankId dst, ChannelNumber channel, const Wiring& wiring,
             const DelayPlan& plan);
  void add_changes(Path& path, const Wiring& wiring, double most_bytes_per_s);
  void put_in_brief();

  Framing framing_;
  Pcie pcie_;
  std::uint32_t nic_count_;
  std::vector<Path> paths_;
  std::vector<PathId> of_channel_;
  std::vector<LinkId> links_;
  std::vector<std::uint32_t> parts_;  // of every one of them
  std::uint32_t common_parts_ = 1;
  std::vector<RateChange> changes_;
  std::vector<LinkChange> link_changes_;
  std::vector<double> link_gone_s_;  // empty if none fails
  std::vector<double> gone_s_;       // of every rank; empty if none fails
  std::vector<double> cuts_s_;
  bool may_fail_ = false;
  bool adaptive_;
  std::size_t link_count_;
  std::vector<PathInBrief> in_brief_;
};

}  // namespace slackline::machine
