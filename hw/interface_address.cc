#include "hw/interface_address.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>

#include "base/error.h"

namespace slackline::hw {
namespace {

bool is_link_local(const sockaddr* address) {
  return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

}  // namespace

std::string digits_of(const sockaddr* address, socklen_t bytes) {
  std::array<char, NI_MAXHOST> digits{};
  const int answer =
      getnameinfo(address, bytes, digits.data(), digits.size(), nullptr, 0, NI_NUMERICHOST);
  return answer == 0 ? digits.data() : "";
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    throw EnvironmentError(fmt::format("interface {}: this host tells of no interface", name));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(list, freeifaddrs);
  bool is_there = false;
  bool is_up = false;
  std::string six;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (name != one->ifa_name) continue;
    is_there = true;
    is_up = is_up || (one->ifa_flags & IFF_UP) != 0;
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    if (one->ifa_addr->sa_family == AF_INET) {
      return digits_of(one->ifa_addr, sizeof(sockaddr_in));
    }
    if (one->ifa_addr->sa_family == AF_INET6 && six.empty() && !is_link_local(one->ifa_addr)) {
      six = digits_of(one->ifa_addr, sizeof(sockaddr_in6));
    }
  }
  if (!six.empty()) return six;
  throw EnvironmentError(
      fmt::format("interface {}: {}; expected one with an address (ip addr shows them)", name,
                  !is_there ? "this host has none of that name"
                  : is_up   ? "it has no address"
                            : "it is down"));
}

}  // namespace slackline::hw
