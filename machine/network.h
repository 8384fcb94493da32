// What every topology comes to: hosts, the links between its switches, and the way through them.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/wiring.h"

namespace slackline::machine {

/// Hosts are numbered from 0. Link 2h is what host h's NIC sends over, 2h + 1 what it receives
/// over; the inner links, from switch to switch, follow.
class Network {
 public:
  virtual ~Network() = default;

  virtual std::uint32_t host_count() const = 0;
  /// The hosts of a rack, a leaf switch or a group, which are numbered one after another: what
  /// round-robin placement deals ranks over. Divides host_count().
  virtual std::uint32_t unit_hosts() const = 0;
  /// In the order of their ids, the first being 2 × host_count().
  virtual std::vector<Link> inner_links() const = 0;
  /// Appends the inner links of the way from one host to another, in order. Costs O(their number).
  virtual void append_way(std::uint32_t src, std::uint32_t dst, std::vector<LinkId>& way) const = 0;

 protected:
  LinkId inner(std::uint32_t index) const { return LinkId(2 * host_count() + index); }
};

}  // namespace slackline::machine
