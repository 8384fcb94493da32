// Sockets of loopback as somebody uses them who speaks to a mesh, and is no rank of it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hw/descriptor.h"
#include "hw/local_port.h"
#include "hw/mesh/seal.h"
#include "hw/mesh/wire.h"

namespace slackline::testing {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Waits until somebody listens there, at most 15 s: then none.
inline hw::Descriptor connected_to(std::uint16_t port) {
  const sockaddr_in address = loopback(port);
  for (int i = 0; i < 3000; ++i) {
    hw::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (connect(socket.get(), generic, sizeof address) == 0) return socket;
    usleep(5'000);
  }
  return {};
}

/// The next that connects.
inline hw::Descriptor accepted(const hw::LocalPort& port) {
  return hw::Descriptor(accept(port.socket(), nullptr, nullptr));
}

inline void put(const hw::Descriptor& socket, std::span<const std::byte> bytes) {
  send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

inline void put(const hw::Descriptor& socket, std::string_view text) {
  put(socket, std::as_bytes(std::span(text)));
}

/// Fewer if the connection ends before.
inline hw::Bytes get(const hw::Descriptor& socket, std::size_t count) {
  hw::Bytes bytes(count);
  const ssize_t got = recv(socket.get(), bytes.data(), count, MSG_WAITALL);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

/// An end of a connection that knows the secret.
class Insider {
 public:
  /// `connected`: it is the end that connected.
  Insider(hw::Descriptor socket, const std::optional<hw::Secret>& secret, bool connected = true)
      : socket_(std::move(socket)) {
    const hw::KeyExchange greeting(secret);
    testing::put(socket_, greeting.mine());
    const hw::Bytes its = testing::get(socket_, hw::kKeyHalfBytes);
    if (its.size() != hw::kKeyHalfBytes) return;
    seal_ = greeting.agree(std::span(its).first<hw::kKeyHalfBytes>(), connected);
    if (!seal_) return;
    hw::Bytes proof;
    seal_->append({}, {}, proof);
    testing::put(socket_, proof);
    if (!next()) seal_.reset();
  }

  /// Whether both ends have proved that they know the same secret.
  bool known() const { return seal_ != nullptr; }
  void put(std::span<const std::byte> bytes) {
    hw::Bytes records;
    seal_->append(bytes, {}, records);
    testing::put(socket_, records);
  }
  /// What the next record seals; nothing if the connection ends.
  std::optional<hw::Bytes> next() {
    const hw::Bytes header = testing::get(socket_, hw::kRecordHeaderBytes);
    if (header.size() != hw::kRecordHeaderBytes) return std::nullopt;
    const auto fixed = std::span(header).first<hw::kRecordHeaderBytes>();
    hw::Bytes rest = testing::get(socket_, hw::Seal::rest_of(fixed));
    if (rest.size() != hw::Seal::rest_of(fixed)) return std::nullopt;
    const std::span<std::byte> plain = seal_->open(fixed, rest);
    return hw::Bytes(plain.begin(), plain.end());
  }
  void leave() { socket_.reset(); }

 private:
  hw::Descriptor socket_;
  std::unique_ptr<hw::Seal> seal_;
};

/// What a rank is told that has said Hello to rank 0: the run's number, and where the others
/// listen. Without members if the connection ends before.
struct RootsWord {
  std::uint64_t run = 0;
  std::vector<hw::Member> members;
};
inline RootsWord told_by_root(Insider& rank) {
  RootsWord told;
  while (told.members.empty()) {
    const auto frame = rank.next();
    if (!frame) return told;
    const auto bytes = std::span(*frame);
    const auto kind = hw::decode_header(bytes.first<hw::kHeaderBytes>()).kind;
    hw::WireReader payload(bytes.subspan(hw::kHeaderBytes));
    if (kind == hw::FrameKind::kWelcome) told.run = payload.u64();
    if (kind == hw::FrameKind::kTable) {
      told.members = hw::decode_members(bytes.subspan(hw::kHeaderBytes + 8));
    }
  }
  return told;
}

}  // namespace slackline::testing
