// A port of the loopback address, kept free for somebody.
#pragma once

#include <cstdint>
#include <string>

#include "hw/descriptor.h"

namespace slackline::hw {

/// As long as this lives, the kernel gives the port to nobody who asks for any; one process may
/// listen at it (with SO_REUSEADDR).
class LocalPort {
 public:
  /// The kernel chooses. Throws EnvironmentError if there is none.
  LocalPort();
  std::uint16_t port() const { return port_; }
  /// "127.0.0.1:4711".
  std::string address() const;

 private:
  Descriptor socket_;
  std::uint16_t port_ = 0;
};

}  // namespace slackline::hw
