// The side of all ranks but rank 0 of a join: its sockets and timers. What to do with them,
// OtherProtocol decides.
#include <fmt/format.h>

#include <algorithm>
#include <asio.hpp>

#include "base/error.h"
#include "base/shown_text.h"
#include "hw/mesh/join_side.h"
#include "hw/mesh/other_protocol.h"
#include "hw/mesh/root_address.h"

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using Milliseconds = std::chrono::milliseconds;
using std::error_code;

class OtherJoin : private JoinSide, private OtherActions {
 public:
  OtherJoin(const MeshOptions& options, const Hello& hello)
      : JoinSide(options), protocol_(options, hello, *this) {}

  Joined join() {
    set_deadline(options_.join_timeout);
    start(converse());
    return run(protocol_.state());
  }

 private:
  // All that is said with the root.
  awaitable<void> converse() {
    const HostPort root = root_of(options_);
    const auto found = resolve(io_, root.host, std::to_string(root.port));
    std::optional<Frame> frame;
    do {
      root_ = co_await reach(found);
      open_acceptor();
      const SecretProof proof = co_await prove(root_, options_.secret, End::kConnected);
      refused_ = refused_ || proof == SecretProof::kRefused;
      if (proof == SecretProof::kGiven) {
        root_->send(encode(protocol_.state().hello));
        try {
          frame = co_await read_frame(root_);
        } catch (const WireError&) {
        }
      }
      // Who leaves without a word was not yet, or no more, our root.
      if (!frame) co_await pause();
    } while (!frame);
    links_[0] = root_;
    try {
      while (frame && !protocol_.state().done) {
        protocol_.heed(*frame);
        if (!protocol_.state().done) frame = co_await read_frame(root_);
      }
    } catch (const WireError&) {
    }
    if (!protocol_.state().done) protocol_.root_ended();
  }

  EnvironmentError no_descriptor(std::string_view other) const {
    return EnvironmentError(
        fmt::format("rank {} has no descriptor left for {}: too many open files; see `ulimit -n`",
                    options_.rank, other));
  }

  // Longer each time: most ranks come at once, some much later.
  awaitable<void> pause() {
    error_code error;
    pause_ = std::min(pause_ * 2, Milliseconds(200));
    asio::steady_timer timer(io_, pause_);
    co_await timer.async_wait(into(error));
  }

  // Tries until it is there; the deadline ends it. A loopback interface that is down stays so.
  awaitable<LinkPtr> reach(const tcp::resolver::results_type& found) {
    for (;;) {
      bool no_loopback = true;
      for (const auto& entry : found) {
        error_code error;
        tcp::socket socket(io_);
        co_await socket.async_connect(entry.endpoint(), into(error));
        if (error == asio::error::no_descriptors) throw no_descriptor("rank 0");
        no_loopback = no_loopback && entry.endpoint().address().is_loopback() &&
                      (error == asio::error::network_unreachable ||
                       error == std::errc::address_not_available);
        if (error) continue;
        // Asking for a free port of this host, one may be given that very port, and meet oneself.
        const tcp::endpoint here = socket.local_endpoint(error);
        const tcp::endpoint there = socket.remote_endpoint(error);
        if (!error && here != there) co_return std::make_shared<MeshLink>(std::move(socket));
      }
      if (no_loopback) {
        throw EnvironmentError(fmt::format(
            "rank {} cannot reach rank 0 at {}: no loopback interface is up here; bring "
            "it up (`ip link set lo up`), or give another --root",
            options_.rank, to_string(found.begin()->endpoint())));
      }
      co_await pause();
    }
  }

  // Listens for higher ranks, where they can reach this host.
  void open_acceptor() {
    error_code error;
    asio::ip::address address = root_->socket.local_endpoint(error).address();
    if (!options_.host.empty()) {
      address = resolve(io_, options_.host, "0")->endpoint().address();
    } else if (address.is_loopback()) {
      // Rank 0 is here: ranks of other hosts come by another way.
      address = asio::ip::make_address(own_address(root_of(options_).host), error);
    }
    require_secret(options_, address);
    tcp::acceptor acceptor = listen_at(io_, tcp::endpoint(address, 0), error);
    const tcp::endpoint endpoint = error ? tcp::endpoint() : acceptor.local_endpoint(error);
    if (error == asio::error::no_descriptors) throw no_descriptor("the ranks above it");
    if (error) {
      throw EnvironmentError(
          fmt::format("rank {} cannot listen at {}: {}; expected an address of its own host",
                      options_.rank, address.to_string(), error.message()));
    }
    protocol_.listens_at(address.to_string(), endpoint.port());
    door_.open(std::move(acceptor));
  }

  void tell_root(std::span<const std::byte> bytes) override { root_->send(bytes); }

  void set_deadline(Milliseconds time) override {
    deadline_.expires_after(time);
    deadline_.async_wait([this](error_code error) {
      if (!error) protocol_.late(refused_);
    });
  }

  void accept() override {
    start(door_.accept([this](LinkPtr link) { return greet(std::move(link)); }));
  }

  awaitable<void> greet(LinkPtr link) {
    const std::optional<Hello> hello = co_await read_hello(link);
    if (hello && protocol_.greet(*hello)) links_[hello->rank] = link;
  }

  void connect(std::uint32_t rank, Milliseconds time) override { start(reach(rank, time)); }

  awaitable<void> reach(std::uint32_t rank, Milliseconds time) {
    const Member& member = protocol_.state().members[rank];
    error_code error;
    const asio::ip::address address = asio::ip::make_address(member.address, error);
    if (error) {
      throw EnvironmentError(
          fmt::format("rank 0 says that rank {} listens at {}, which is no address", rank,
                      sched::shown(member.address)));
    }
    const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(member.port));
    const auto link = std::make_shared<MeshLink>(tcp::socket(io_));
    {
      const Patience patience(link, time);
      co_await link->socket.async_connect(endpoint, into(error));
    }
    if (!error && co_await prove(link, options_.secret, End::kConnected) != SecretProof::kGiven) {
      error = asio::error::connection_reset;
    }
    if (!error) {
      link->send(encode(protocol_.state().hello));
      links_[rank] = link;
      protocol_.connected(rank);
      co_return;
    }
    if (error == asio::error::no_descriptors) {
      throw no_descriptor(fmt::format("rank {}", rank));
    }
    const std::string why =
        error == asio::error::operation_aborted
            ? fmt::format("no answer within {:.2g} s", std::chrono::duration<double>(time).count())
            : error.message();
    // Where nobody listens any more, or what listened hangs up, somebody died; else something is
    // between the two.
    const bool gone =
        error == asio::error::connection_refused || error == asio::error::connection_reset;
    protocol_.unreachable(rank, gone, fmt::format("at {}: {}", to_string(endpoint), why));
  }

  void complain_after(Milliseconds time) override { start(complain(time)); }

  awaitable<void> complain(Milliseconds after) {
    error_code error;
    asio::steady_timer timer(io_, after);
    co_await timer.async_wait(into(error));
    if (!error) protocol_.complain();
  }

  OtherProtocol protocol_;
  LinkPtr root_;
  bool refused_ = false;  // somebody at the root's address did not know the secret
  Milliseconds pause_{1};
};

}  // namespace

Joined join_as_other(const MeshOptions& options, const Hello& hello) {
  return OtherJoin(options, hello).join();
}

}  // namespace slackline::hw
