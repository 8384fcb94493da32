// What a full network does to large messages: queues in switches, packets that are marked there,
// senders that slow down, and links that are stopped. What these figures mean in time stands in
// docs/congestion.md; the fluid engine alone follows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace slackline::machine {

struct Platform;

/// The defaults are those of Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
/// SIGCOMM 2015, sections 4 and 5, at 40 Gb/s.
struct Congestion {
  bool pfc = false;    // full switches stop the links that feed them
  bool dcqcn = false;  // switches mark packets, and senders go by marks

  sched::Time step{100'000};  // the longest of the integration's; > 0

  // Priority flow control, of the bytes that came in over one link and are still in the switch.
  std::uint64_t pfc_xoff_bytes = 24'475;       // above this the link is stopped, …
  std::optional<std::uint64_t> pfc_xon_bytes;  // …until it is below this; nothing: two packets less

  // Marks, of what waits for one link: none up to kmin, all above kmax, in between rising to pmax.
  std::uint64_t ecn_kmin_bytes = 5'000;
  std::uint64_t ecn_kmax_bytes = 200'000;
  sched::PartsPerMillion ecn_pmax{10'000};

  // DCQCN's sender and receiver.
  std::uint32_t gain_divisor = 256;          // 1/g, of alpha's average
  sched::Time cnp_interval{50'000'000};      // tau, between two notices of one queue pair
  sched::Time alpha_interval{55'000'000};    // tau', of alpha's updates
  sched::Time timer{55'000'000};             // T, of increases by time
  std::uint64_t counter_bytes = 10'000'000;  // B, of increases by bytes
  sched::Rate increase{40'000'000};          // R_AI, of one additive increase
  std::uint32_t recovery_steps = 5;          // F, of fast recovery
  std::optional<sched::Time> feedback;       // tau*, from a mark to the sender's reaction; nothing:
                                             // the latency of the way and of the way back

  bool any() const { return pfc || dcqcn; }
  friend bool operator==(const Congestion&, const Congestion&) = default;
};

/// "off", "pfc", "dcqcn" or "dcqcn+pfc".
std::string format_congestion(const Congestion& congestion);
/// Sets which of the two there are. Throws InputError, naming `what`.
void set_congestion(Congestion& congestion, std::string_view text, std::string_view what);

/// Of a packet, by which marks and increases are counted: the platform's mtu, or 1000 as in the
/// papers where it has none.
double packet_bytes(const Platform& platform);
/// Below which a stopped link goes on.
double xon_bytes(const Platform& platform);

/// Throws InputError, naming `what`: figures that contradict each other, a step that is too long
/// for them at the rate of a NIC, serial NICs; Unsupported for networks that have no such queues
/// here.
void check_congestion(const Platform& platform, std::string_view what);
/// The same of a step and one link's rate. `link` names it.
void check_congestion_step(const Platform& platform, sched::Rate rate, std::string_view link,
                           std::string_view what);

/// Why an engine without queues refuses the platform; nothing if its congestion is off.
std::optional<std::string> why_no_congestion(const Platform& platform);
/// Throws Unsupported, naming `who`, if the platform's congestion is not off.
void require_no_congestion(const Platform& platform, std::string_view who);

}  // namespace slackline::machine
