#include "hw/mesh/root_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "hw/interface_address.h"
#include "hw/local_address.h"

namespace slackline::hw {
namespace {

bool is_digits(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1 ||
         host.find('%') != std::string::npos;
}

// Names that mean loopback on every host.
bool is_name_of_loopback(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == "localhost" || name.starts_with("localhost.") || name.ends_with(".localhost") ||
         name == "localhost4" || name == "localhost6" || name == "ip6-localhost" ||
         name == "ip6-loopback";
}

bool is_loopback(std::string_view digits) {
  return digits.starts_with("127.") || digits == "::1" || digits.starts_with("::ffff:127.");
}

bool means_this_host_only_here(const std::string& host) {
  return !is_digits(host) && !is_name_of_loopback(host);
}

// Of the first interface that others may reach; empty if there is none.
std::string address_of_an_interface() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(list, freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const bool fits = one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
                      (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (fits) return digits_of(one->ifa_addr, sizeof(sockaddr_in));
  }
  return "";
}

}  // namespace

std::vector<std::string> listening_addresses(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int answer = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (answer != 0) {
    throw EnvironmentError(fmt::format(
        "no host \"{}\" is known here ({}); give a name or an address that every host knows", host,
        gai_strerror(answer)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    std::string address = digits_of(one->ai_addr, one->ai_addrlen);
    if (address.empty()) continue;
    if (means_this_host_only_here(host) && is_loopback(address)) {
      address = one->ai_family == AF_INET ? "0.0.0.0" : "::";
    }
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(std::move(address));
    }
  }
  return addresses;
}

std::string own_address(const std::string& host) {
  std::string address = address_towards(host);
  if (!is_loopback(address) || !means_this_host_only_here(host)) return address;
  std::string outward = address_for_others();
  return outward.empty() ? address : outward;
}

std::string address_for_others() {
  try {
    // An address of the range kept for documents: nobody has it, and nothing is sent.
    const std::string address = address_towards("192.0.2.1");
    if (!is_loopback(address)) return address;
  } catch (const EnvironmentError&) {
    // No such way.
  }
  return address_of_an_interface();
}

}  // namespace slackline::hw
