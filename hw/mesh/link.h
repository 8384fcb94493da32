// A connection between two ranks before a mesh takes it over: proof of the secret, and single
// frames.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

/// With a duplicate of a socket that is bound. It does not listen yet.
asio::ip::tcp::acceptor acceptor_with(asio::io_context& io, int bound, std::error_code& error);

/// Throws EnvironmentError if a rank without a secret would listen where others than this host's
/// own processes can reach it.
void require_secret(const MeshOptions& options, const asio::ip::address& address);

/// What is sent queues up, and nothing may be before the peer has proved that it
/// knows the secret; reading is for one coroutine.
class MeshLink : public std::enable_shared_from_this<MeshLink> {
 public:
  explicit MeshLink(asio::ip::tcp::socket connected) : socket(std::move(connected)) {}

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
using LinkPtr = std::shared_ptr<MeshLink>;

/// The connection itself, of which nothing is under way.
Connection taken_from(MeshLink& link);

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

/// Until all that was sent has gone out, or never will.
asio::awaitable<void> flush(LinkPtr link);

/// Nothing from what is no rank, and from those that say too little for too long.
asio::awaitable<std::optional<Hello>> read_hello(LinkPtr link);

/// Which end of a connection this is.
enum class End { kConnected, kListens };

/// What came of proving to each other that both ends know the secret.
enum class SecretProof {
  kGiven,    // both did; the link has its seal
  kRefused,  // the peer did not
  kNone,     // the connection ended before the peer could, or the peer took too long
};
asio::awaitable<SecretProof> prove(LinkPtr link, const std::optional<Secret>& secret, End end);

}  // namespace slackline::hw
