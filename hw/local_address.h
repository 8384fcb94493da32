// Which of this host's addresses others reach it at.
#pragma once

#include <cstdint>
#include <string>

namespace slackline::hw {

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

/// Reads "host:port", or "[v6]:port". Throws InputError; `what` names the text there.
HostPort parse_host_port(const std::string& text, const std::string& what);

/// The other way round: "host:port", or "[v6]:port".
std::string with_port(const std::string& host, std::uint16_t port);

/// This host's address, in digits, on the way to `host`: nothing is sent. Throws EnvironmentError
/// if the name means nothing, or no way leads there.
std::string address_towards(const std::string& host);

}  // namespace slackline::hw
