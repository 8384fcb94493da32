// Hosts that differ from the others: which, and in what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace slackline::machine {

/// A value of its own for some hosts. Hosts are numbered as the network's links call them,
/// "host-3".
template <class Value>
struct ForHosts {
  struct Run {
    std::uint32_t first;
    std::uint32_t last;  // the range with it
    Value value;
    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs;  // in the order of hosts; none overlap

  bool any() const { return !runs.empty(); }
  /// Of that host: its own, or `others` if it has none.
  Value of(std::uint32_t host, Value others) const {
    for (const Run& run : runs) {
      if (run.first <= host && host <= run.last) return run.value;
    }
    return others;
  }
  friend bool operator==(const ForHosts&, const ForHosts&) = default;
};

struct HostFigures {
  ForHosts<sched::Rate> rate;           // of each NIC, each way
  ForHosts<sched::Time> latency;        // added to each way between NICs, at this end
  ForHosts<sched::Rate> scale_up_rate;  // of a rank's port in the host

  bool any() const { return rate.any() || latency.any() || scale_up_rate.any(); }
  friend bool operator==(const HostFigures&, const HostFigures&) = default;
};

/// "4..7:50Gbps+9:25Gbps": hosts 4 to 7, and host 9. Throws InputError, naming `what`, for a text
/// of another form and for a host that stands twice.
ForHosts<sched::Rate> parse_host_rates(std::string_view text, std::string_view what);
ForHosts<sched::Time> parse_host_times(std::string_view text, std::string_view what);
/// In the order of hosts, neighbours of one value in one run; nothing if no host has one.
std::string format_for_hosts(const ForHosts<sched::Rate>& rates);
std::string format_for_hosts(const ForHosts<sched::Time>& times);

struct Platform;

/// The fastest rate that a NIC of some host may have.
sched::Rate fastest_nic(const Platform& platform);

/// Throws InputError, naming `what`, for hosts that a network of so many does not have, and for
/// ports of a scale-up network that is none.
void check_host_figures(const Platform& platform, std::string_view what);
void require_hosts(const HostFigures& figures, std::uint32_t hosts, std::string_view what);

}  // namespace slackline::machine
