// The address of a network interface of this host, by its name; and addresses in digits.
#pragma once

#include <sys/socket.h>

#include <string>

namespace slackline::hw {

/// Empty if it has none.
std::string digits_of(const sockaddr* address, socklen_t bytes);

/// Its first IPv4 address in digits or, if it has none, its first IPv6 address that is of more than
/// its own link. Throws EnvironmentError if there is no such interface, if it is down, or if it has
/// no address.
std::string address_of_interface(const std::string& name);

}  // namespace slackline::hw
