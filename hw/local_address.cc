#include "hw/local_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/error.h"
#include "base/number.h"

namespace slackline::hw {
namespace {

class Socket {
 public:
  Socket(int family, int type) : fd_(::socket(family, type | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

HostPort parse_host_port(const std::string& text, const std::string& what) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return InputError(fmt::format("{}: '{}'; expected host:port, or [address]:port", what, text));
  };
  if (colon == std::string::npos || colon == 0) throw wrong();
  HostPort result;
  result.host = text.substr(0, colon);
  if (result.host.front() == '[' && result.host.back() == ']') {
    result.host = result.host.substr(1, result.host.size() - 2);
  } else if (result.host.find(':') != std::string::npos) {
    throw wrong();
  }
  result.port = base::whole_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
  if (result.port == 0 || result.host.empty()) throw wrong();
  return result;
}

std::string with_port(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

std::string address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int answer = getaddrinfo(host.c_str(), "9", &hints, &found);
  if (answer != 0) {
    throw EnvironmentError(fmt::format("{}: {}", host, gai_strerror(answer)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  int reason = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    // Datagrams: to connect is to look for the way, no more.
    const Socket socket(one->ai_family, SOCK_DGRAM);
    sockaddr_storage own{};
    socklen_t bytes = sizeof own;
    if (socket.fd() < 0 || ::connect(socket.fd(), one->ai_addr, one->ai_addrlen) != 0 ||
        getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&own), &bytes) != 0) {
      reason = errno;
      continue;
    }
    std::array<char, NI_MAXHOST> digits{};
    if (getnameinfo(reinterpret_cast<sockaddr*>(&own), bytes, digits.data(), digits.size(), nullptr,
                    0, NI_NUMERICHOST) == 0) {
      return digits.data();
    }
  }
  throw EnvironmentError(fmt::format("no way leads to {}: {}", host, strerror(reason)));
}

}  // namespace slackline::hw
