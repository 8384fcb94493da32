// What the kernel tells of links, in /sys: for transports that do not tell themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slackline::hw {

struct LinkFacts {
  std::uint64_t bits_per_s = 0;  // 0: not known, as of loopback
  std::uint32_t mtu = 0;         // bytes; 0: not known
};

/// Of a network interface of this namespace. `sys` is where the kernel tells of it.
LinkFacts interface_link(std::string_view interface, const std::string& sys = "/sys");

/// The rate of an RDMA device's port, in bit/s; 0: not known.
std::uint64_t rdma_port_rate(std::string_view device, unsigned port,
                             const std::string& sys = "/sys");

}  // namespace slackline::hw
