// A port of an address of this host, kept free for somebody.
#pragma once

#include <cstdint>
#include <string>

#include "hw/descriptor.h"

namespace slackline::hw {

/// As long as this lives, the kernel gives the port to nobody who asks for any; one process may
/// listen at it (with SO_REUSEADDR).
class LocalPort {
 public:
  /// The kernel chooses; the address is in digits, of either kind. Throws EnvironmentError if there
  /// is none.
  explicit LocalPort(const std::string& address = "127.0.0.1");
  std::uint16_t port() const { return port_; }
  /// "127.0.0.1:4711", "[::1]:4711".
  std::string address() const;

 private:
  std::string address_;
  Descriptor socket_;
  std::uint16_t port_ = 0;
};

}  // namespace slackline::hw
