// Connections while the ranks of a mesh join, and the two sides of it.
#pragma once

#include <array>
#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/local_address.h"
#include "hw/mesh/join.h"

namespace slackline::hw {

inline auto into(std::error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

/// Where rank 0 is to be found. Throws InputError.
HostPort root_of(const MeshOptions& options);

/// Throws EnvironmentError if nothing is known of the host.
asio::ip::tcp::resolver::results_type resolve(asio::io_context& io, const std::string& host,
                                              const std::string& port);

/// "10.0.0.1:4711", "[::1]:4711".
std::string to_string(const asio::ip::tcp::endpoint& endpoint);

asio::ip::tcp::acceptor listen_at(asio::io_context& io, const asio::ip::tcp::endpoint& endpoint,
                                  std::error_code& error);

/// Throws EnvironmentError if a rank without a secret would listen where others than this host's
/// own processes can reach it.
void require_secret(const MeshOptions& options, const asio::ip::address& address);

/// A connection. What is sent queues up, and nothing may be before the peer has proved that it
/// knows the secret; reading is for one coroutine.
class Link : public std::enable_shared_from_this<Link> {
 public:
  explicit Link(asio::ip::tcp::socket connected) : socket(std::move(connected)) {}

  void send(std::span<const std::byte> bytes);
  /// Whether all that was sent has gone out, or never will.
  bool flushed() const { return out_.empty(); }

  /// Bytes that the peer sealed: as many as there is room for. false if the connection ends before.
  /// Throws WireError.
  asio::awaitable<bool> read(std::span<std::byte> bytes);

  asio::ip::tcp::socket socket;
  std::unique_ptr<Seal> seal;  // once it is agreed

 private:
  void write();
  std::deque<Bytes> out_;
  Bytes opened_;  // and not read yet, from begin_ on
  std::size_t begin_ = 0;
};
using LinkPtr = std::shared_ptr<Link>;

/// Closes a connection when the time is over, unless it has gone before.
class Patience {
 public:
  Patience(const LinkPtr& link, std::chrono::milliseconds time);
  ~Patience() { *waiting_ = false; }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  asio::steady_timer timer_;
  std::shared_ptr<bool> waiting_ = std::make_shared<bool>(true);
};

/// Nothing if the connection ends before. Throws WireError.
asio::awaitable<std::optional<Frame>> read_frame(LinkPtr link);

/// Nothing from what is no rank, and from those that say too little for too long.
asio::awaitable<std::optional<Hello>> read_hello(LinkPtr link);

/// Which end of a connection this is.
enum class End { kConnected, kListens };

/// What came of proving to each other that both ends know the secret.
enum class Proof {
  kGiven,    // both did; the link has its seal
  kRefused,  // the peer did not
  kNone,     // the connection ended before the peer could, or the peer took too long
};
asio::awaitable<Proof> prove(LinkPtr link, const std::optional<Secret>& secret, End end);

/// What both sides of a join have in common: it goes on until it is done, or fails.
class JoinSide {
 protected:
  using Clock = std::chrono::steady_clock;

  JoinSide(const MeshOptions& options, Hello hello);

  /// A coroutine of its own; what it throws ends the join.
  void start(asio::awaitable<void> coroutine);
  /// Until done_, or something was thrown.
  Joined run();
  /// Accepts connections, and calls greet(link) in a coroutine of its own for each whose peer knows
  /// the secret.
  asio::awaitable<void> accept(std::function<asio::awaitable<void>(LinkPtr)> greet);

  const MeshOptions& options_;
  Hello hello_;
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer deadline_;
  std::vector<LinkPtr> links_;  // by rank
  std::vector<Member> members_;
  std::optional<Verdict> verdict_;
  bool done_ = false;

  std::uint64_t strangers_ = 0;  // who tried to prove that they know the secret, and did not
  bool starved_ = false;         // somebody came when there was no descriptor left

 private:
  asio::awaitable<void> admit(LinkPtr link, std::function<asio::awaitable<void>(LinkPtr)> greet);

  std::deque<std::weak_ptr<Link>> unproved_;
  std::exception_ptr thrown_;
};

Joined join_as_root(const MeshOptions& options, const Hello& hello);
Joined join_as_other(const MeshOptions& options, const Hello& hello);

}  // namespace slackline::hw
