#include "hw/local_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "hw/local_address.h"

namespace slackline::hw {

// Without SO_REUSEADDR: beside a socket that has it and does not listen, any user may bind another
// and listen first.
LocalPort::LocalPort(const std::string& address) : address_(address) {
  const auto refuse = [&](const char* why) {
    throw EnvironmentError(fmt::format(
        "no free port at {}: {}; expected an address of this host (look at `ip address`)", address,
        why));
  };
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int answer = getaddrinfo(address.c_str(), "0", &hints, &found);
  if (answer != 0) refuse(gai_strerror(answer));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> any_port(found, freeaddrinfo);
  socket_.reset(::socket(any_port->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage bound = {};
  socklen_t length = sizeof bound;
  if (!socket_ || bind(socket_.get(), any_port->ai_addr, any_port->ai_addrlen) != 0 ||
      getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    refuse(std::strerror(errno));
  }
  port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                            : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

std::string LocalPort::address() const { return with_port(address_, port_); }

}  // namespace slackline::hw
