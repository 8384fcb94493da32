// Rank 0's side of a join: its sockets and timers. What to do with them, RootProtocol decides.
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio.hpp>

#include "base/error.h"
#include "hw/mesh/join_side.h"
#include "hw/mesh/root_address.h"
#include "hw/mesh/root_protocol.h"

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using Milliseconds = std::chrono::milliseconds;
using std::error_code;

class RootJoin : private JoinSide, private RootActions {
 public:
  RootJoin(const MeshOptions& options, const Hello& hello)
      : JoinSide(options), protocol_(options, hello, new_run(hello), *this) {}
  // Others may hold the socket, too: to close it would leave it listening.
  ~RootJoin() override {
    const Descriptor socket = door_.close();
    if (socket) shutdown(socket.get(), SHUT_RDWR);
  }
  RootJoin(const RootJoin&) = delete;
  RootJoin& operator=(const RootJoin&) = delete;

  Joined join() {
    open();
    until_ = Clock::now() + options_.join_timeout;
    deadline_.expires_at(until_);
    deadline_.async_wait([this](error_code error) {
      if (!error) protocol_.late(door_.starved(), door_.strangers());
    });
    start(door_.accept([this](LinkPtr link) { return greet(std::move(link)); }));
    return run(protocol_.state());
  }

 private:
  static std::uint64_t new_run(const Hello& hello) {
    return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()) ^
           (hello.member.pid << 40);
  }

  void open() {
    const HostPort root = root_of(options_);
    error_code error;
    if (options_.root_socket >= 0) {
      tcp::acceptor acceptor = acceptor_with(io_, options_.root_socket, error);
      const tcp::endpoint here = error ? tcp::endpoint() : acceptor.local_endpoint(error);
      if (!error) require_secret(options_, here.address());
      if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
      if (!error) return door_.open(std::move(acceptor));
    } else {
      for (const std::string& address : listening_addresses(root.host)) {
        const asio::ip::address at = asio::ip::make_address(address, error);
        if (!error) require_secret(options_, at);
        tcp::acceptor acceptor(io_);
        if (!error) acceptor = listen_at(io_, tcp::endpoint(at, root.port), error);
        if (!error) return door_.open(std::move(acceptor));
      }
    }
    if (error == asio::error::no_descriptors) {
      throw EnvironmentError(
          "rank 0 has no descriptor left to listen with: too many open files; see `ulimit -n`");
    }
    if (error == asio::error::address_in_use) {
      throw EnvironmentError(
          fmt::format("rank 0 cannot listen at {}: port {} is in use; end what uses it (ss -ltnp "
                      "shows it), or give all ranks another port",
                      options_.root, root.port));
    }
    throw EnvironmentError(fmt::format(
        "rank 0 cannot listen at {}: {}; expected an address of the host that rank 0 runs on",
        options_.root, error.message()));
  }

  awaitable<void> greet(LinkPtr link) {
    const std::optional<Hello> hello = co_await read_hello(link);
    if (!hello || !protocol_.hears(*hello)) co_return;
    const std::size_t guest = guests_.size();
    guests_.push_back(link);
    const auto left = std::chrono::duration_cast<Milliseconds>(until_ - Clock::now());
    if (protocol_.greet(*hello, left)) links_[hello->rank] = link;
    co_await listen_to(link, guest);
    protocol_.ended(guest);
  }

  // Until the connection ends, or the mesh takes it over.
  awaitable<void> listen_to(LinkPtr link, std::size_t guest) {
    try {
      for (;;) {
        // Bytes that come after the word to go are for the mesh: only look whether there are any.
        error_code error;
        co_await link->socket.async_wait(tcp::socket::wait_read, into(error));
        if (protocol_.going() || error) co_return;
        const std::optional<Frame> frame = co_await read_frame(link);
        if (!frame) co_return;
        protocol_.heed(guest, *frame);
      }
    } catch (const WireError&) {
    }
  }

  void send(std::size_t guest, std::span<const std::byte> bytes) override {
    guests_[guest]->send(bytes);
  }

  void finish() override { start(await_sent()); }

  awaitable<void> await_sent() {
    const auto waiting = [](const LinkPtr& link) { return link && !link->flushed(); };
    error_code error;
    while (std::any_of(links_.begin(), links_.end(), waiting) && Clock::now() < until_) {
      asio::steady_timer pause(io_, Milliseconds(1));
      co_await pause.async_wait(into(error));
    }
    protocol_.sent();
  }

  void stay(Milliseconds time) override {
    deadline_.expires_after(time);
    deadline_.async_wait([this](error_code error) {
      if (!error) protocol_.stayed();
    });
  }

  RootProtocol protocol_;
  Clock::time_point until_;
  std::vector<LinkPtr> guests_;  // as the protocol numbers them
};

}  // namespace

Joined join_as_root(const MeshOptions& options, const Hello& hello) {
  return RootJoin(options, hello).join();
}

}  // namespace slackline::hw
