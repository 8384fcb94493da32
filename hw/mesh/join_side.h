// What both sides of a join have in common: their sockets, and that it goes on until it is done.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <vector>

#include "hw/mesh/door.h"
#include "hw/mesh/join.h"
#include "hw/mesh/join_state.h"
#include "hw/mesh/link.h"

namespace slackline::hw {

class JoinSide {
 protected:
  using Clock = std::chrono::steady_clock;

  explicit JoinSide(const MeshOptions& options);

  /// A coroutine of its own; what it throws ends the join.
  void start(asio::awaitable<void> coroutine);
  /// Until `state` is done, or something was thrown.
  Joined run(const JoinState& state);

  const MeshOptions& options_;
  asio::io_context io_;
  Door door_;
  asio::steady_timer deadline_;
  std::vector<LinkPtr> links_;  // by rank

 private:
  std::exception_ptr thrown_;
};

Joined join_as_root(const MeshOptions& options, const Hello& hello);
Joined join_as_other(const MeshOptions& options, const Hello& hello);

}  // namespace slackline::hw
