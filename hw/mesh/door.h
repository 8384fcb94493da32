// Where a rank listens: who comes must prove that it knows the run's secret before it is heard.
//
// Strangers (whoever does not) are let go without a word. Until it has proved it, a connection
// holds a few dozen bytes and has 5 s, and at most 64 and two for each rank are heard at once: the
// oldest makes room for the next.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "hw/descriptor.h"
#include "hw/mesh/link.h"
#include "hw/mesh/secret.h"

namespace slackline::hw {

class Door {
 public:
  /// Begins a coroutine, and heeds what it throws.
  using Start = std::function<void(asio::awaitable<void>)>;
  /// Hears who has proved it.
  using Greet = std::function<asio::awaitable<void>(LinkPtr)>;

  /// Closed. `ranks`: how many there are.
  Door(asio::io_context& io, std::optional<Secret> secret, std::uint32_t ranks, Start start);

  void open(asio::ip::tcp::acceptor acceptor) { acceptor_ = std::move(acceptor); }
  bool is_open() const { return acceptor_.is_open(); }
  /// Accepts connections, for ever. The door is open.
  asio::awaitable<void> accept(Greet greet);
  /// What it listened with, for another door; −1 if it was not open. It is closed then.
  Descriptor close();

  /// How many tried to prove that they know the secret, and did not.
  std::uint64_t strangers() const { return strangers_; }
  /// Whether somebody came when there was no descriptor left.
  bool starved() const { return starved_; }

 private:
  asio::awaitable<void> admit(LinkPtr link, Greet greet);

  const std::optional<Secret> secret_;
  const std::uint32_t ranks_;
  const Start start_;
  asio::ip::tcp::acceptor acceptor_;
  std::deque<std::weak_ptr<MeshLink>> unproved_;
  std::uint64_t strangers_ = 0;
  bool starved_ = false;
};

}  // namespace slackline::hw
