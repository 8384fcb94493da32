#include "hw/local_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "sched/error.h"

namespace slackline::hw {

// Bound and never listening: Linux lets another socket with SO_REUSEADDR bind and listen there.
LocalPort::LocalPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int yes = 1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket_ || setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      bind(socket_.get(), generic, length) != 0 ||
      getsockname(socket_.get(), generic, &length) != 0) {
    throw EnvironmentError(fmt::format("no free port at 127.0.0.1: {}; look at `ip link show lo`",
                                       std::strerror(errno)));
  }
  port_ = ntohs(address.sin_port);
}

std::string LocalPort::address() const { return fmt::format("127.0.0.1:{}", port_); }

}  // namespace slackline::hw
