// A machine that several ranks share: who sits where in it. What that costs is stated in
// docs/architecture.md, "The machine model".
#pragma once

#include <cstdint>

#include "base/units.h"
#include "machine/rails.h"
#include "machine/scale_up.h"
#include "sched/ids.h"

namespace slackline::machine {

/// Ranks fill one machine after another and, within each, its processes and its zones in equal runs
/// (of zones as equal as they can be). The NICs of a machine are spread over its zones likewise:
/// its only NIC is in zone 0.
struct Node {
  std::uint32_t ranks = 1;              // of one machine: they share its NICs and its memory
  std::uint32_t threads = 1;            // of one process; divides `ranks`
  std::uint32_t threads_per_qp = 1;     // of them, that share queue pairs; divides `threads`
  std::uint32_t zones = 1;              // NUMA zones
  sched::Time memory_latency{100'000};  // from a rank to another of its zone, one way
  sched::Time zone_latency{0};          // added between zones
  sched::Time cpu_atomic{0};            // an atomic's service by a CPU of the machine
  sched::Time cpu_atomic_sharer{0};     // added for every other rank that used its line
  sched::Time qp_sharer{0};             // added to a post, for every other thread of its pair
  sched::Time qp_lock{0};               // of a post: the end of it, in which it has its pair alone
  sched::Time update_sharer{0};         // added to an update, for every other thread
  sched::Time numa_hop{0};              // of a message, between a NIC and a rank of another zone
  Rails rails;                          // its NICs
  ScaleUp scale_up;                     // between its ranks, in place of its memory
  bool own_in_memory = false;           // what a rank sends itself passes no NIC, even alone
  static constexpr std::uint64_t kLine = 64;  // bytes of a cache line

  bool is_shared() const { return ranks > 1; }
  /// Whether any message may go through memory.
  bool has_local_messages() const { return is_shared() || own_in_memory; }
  std::uint32_t of(sched::RankId rank) const { return rank.value / ranks; }
  /// How many machines so many ranks take.
  std::uint32_t count_for(std::uint32_t rank_count) const {
    return rank_count / ranks + (rank_count % ranks != 0 ? 1 : 0);
  }
  /// How many NICs they have.
  std::uint32_t nic_count_for(std::uint32_t rank_count) const {
    return count_for(rank_count) * rails.count;
  }
  /// Which NIC of the rank's machine a channel takes to or from `peer`. `number` is the channel's
  /// in numbers_for_rails().
  NicId nic(sched::RankId rank, sched::RankId peer, std::uint32_t number = 0) const {
    return NicId(of(rank) * rails.count + rails.of(rank.value % ranks, rank, peer, number));
  }
  /// The first rank of its machine.
  sched::RankId first(sched::RankId rank) const {
    return sched::RankId(rank.value - rank.value % ranks);
  }
  /// Numbered within the machine.
  std::uint32_t zone_of(sched::RankId rank) const {
    return static_cast<std::uint32_t>(std::uint64_t{rank.value % ranks} * zones / ranks);
  }
  /// The zone of one of the machine's NICs, which are numbered within it.
  std::uint32_t zone_of_nic(std::uint32_t number) const {
    return static_cast<std::uint32_t>(std::uint64_t{number} * zones / rails.count);
  }
  /// Whether the rank is in another zone than the NIC, which is one of its machine's.
  bool is_away(sched::RankId rank, NicId nic) const {
    return zone_of(rank) != zone_of_nic(nic.value % rails.count);
  }
  /// Whether a reduce that writes so many bytes is an update of a counter, which threads of a
  /// process share: those of one cache line.
  static bool is_update(std::uint64_t bytes) { return bytes <= kLine; }
  /// In seconds, what an update takes more, and what the post of a message through the NIC does.
  double update_more_s() const { return sched::seconds(update_sharer) * (threads - 1); }
  double post_more_s() const { return sched::seconds(qp_sharer) * (threads_per_qp - 1); }
  /// Whether a message from one to the other stays within the machine, and passes no NIC: it goes
  /// through memory or over the scale-up network. What a rank that has a machine to itself sends
  /// itself goes through the NIC, unless `own_in_memory`.
  bool is_local(sched::RankId src, sched::RankId dst) const {
    return has_local_messages() && of(src) == of(dst);
  }
  /// Whether it goes over the scale-up network. What a rank sends itself goes through memory.
  bool scales_up(sched::RankId src, sched::RankId dst) const {
    return scale_up.any() && src != dst && is_local(src, dst);
  }
  /// Of a message through memory.
  sched::Time latency(sched::RankId src, sched::RankId dst) const {
    return zone_of(src) == zone_of(dst) ? memory_latency : memory_latency + zone_latency;
  }
  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace slackline::machine
