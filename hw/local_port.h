// A port of an address of this host, kept for rank 0 of a run.
#pragma once

#include <cstdint>
#include <string>

#include "hw/descriptor.h"

namespace slackline::hw {

/// From here on nobody can listen at the port, whichever user they are, but with the socket that
/// this holds. Processes that are forked from this one inherit it.
class LocalPort {
 public:
  /// The kernel chooses; the address is in digits, of either kind. Throws EnvironmentError if there
  /// is none.
  explicit LocalPort(const std::string& address = "127.0.0.1");
  std::uint16_t port() const { return port_; }
  /// Bound, and not listening. For MeshOptions::root_socket.
  int socket() const { return socket_.get(); }
  /// "127.0.0.1:4711", "[::1]:4711".
  std::string address() const;

 private:
  std::string address_;
  Descriptor socket_;
  std::uint16_t port_ = 0;
};

}  // namespace slackline::hw
