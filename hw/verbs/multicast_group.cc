#include "hw/verbs/multicast_group.h"

#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "hw/random_bytes.h"

namespace slackline::hw {
namespace {

constexpr std::uint8_t kTransient = 0x10;  // nobody has assigned it
constexpr std::uint8_t kLinkScope = 2;
constexpr std::uint8_t kSiteScope = 5;

std::uint8_t scope_of(const Gid& port) {
  const bool link_local = port[0] == 0xfe && (port[1] & 0xc0) == 0x80;
  return link_local ? kLinkScope : kSiteScope;
}

}  // namespace

Gid drawn_group(const Gid& port) {
  Gid group{};
  draw_bytes(std::as_writable_bytes(std::span(group)));
  if (is_ipv4(port)) {
    std::fill_n(group.begin(), 10, std::uint8_t{0});
    group[10] = group[11] = 0xff;
    group[12] = 239;
    group[13] = static_cast<std::uint8_t>(192 | (group[13] & 3));
    return group;
  }
  group[0] = 0xff;
  group[1] = kTransient | scope_of(port);
  return group;
}

bool is_group_for(const Gid& group, const Gid& port) {
  if (is_ipv4(port) != is_ipv4(group)) return false;
  return is_ipv4(group) ? group[12] >> 4 == 0xe : group[0] == 0xff;
}

sched::Descriptor join_group(const Gid& group, const std::string& interface,
                             const std::string& port) {
  const auto fail = [&](const char* what) {
    throw EnvironmentError(fmt::format("multicast: {}: {} {} on '{}' failed: {}", port, what,
                                       text_of(group), interface, std::strerror(errno)));
  };
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) fail("finding the interface to join");
  const bool ipv4 = is_ipv4(group);
  sched::Descriptor joined(socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (joined.get() < 0) fail("a socket to join");
  int status = 0;
  if (ipv4) {
    ip_mreqn request{};
    std::memcpy(&request.imr_multiaddr, &group[12], 4);
    request.imr_ifindex = static_cast<int>(index);
    status = setsockopt(joined.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
  } else {
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, group.data(), group.size());
    request.ipv6mr_interface = index;
    status = setsockopt(joined.get(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request);
  }
  if (status != 0) fail("joining");
  return joined;
}

}  // namespace slackline::hw
