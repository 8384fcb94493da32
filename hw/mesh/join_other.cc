// The side of all ranks but rank 0 of a join.
#include <fmt/format.h>

#include <algorithm>
#include <asio.hpp>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "hw/mesh/join_side.h"
#include "hw/mesh/neighbours.h"
#include "hw/mesh/root_address.h"

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using Milliseconds = std::chrono::milliseconds;
using std::error_code;

// How much longer than rank 0 itself this rank waits for rank 0's word.
constexpr Milliseconds kGrace{2'000};

// More than any rank waits for others: a day.
constexpr std::uint64_t kMostJoin_ms = 86'400'000;

class OtherJoin : private JoinSide {
 public:
  OtherJoin(const MeshOptions& options, const Hello& hello) : JoinSide(options, hello) {}

  Joined join() {
    set_deadline(options_.join_timeout, "did not come");
    start(converse());
    return run();
  }

 private:
  void set_deadline(Milliseconds time, const char* what) {
    deadline_.expires_after(time);
    deadline_.async_wait([this, what](error_code error) {
      if (error) return;
      const double waited = std::chrono::duration<double>(options_.join_timeout).count();
      end({1, 0,
           fmt::format("rank 0 {} within {} s{}", what, waited,
                       refused_
                           ? fmt::format("; what listens at {} did not take this rank's proof of "
                                         "the secret: all ranks need the same --secret FILE",
                                         options_.root)
                           : "")});
    });
  }

  void end(Verdict verdict) {
    if (!verdict_) verdict_ = std::move(verdict);
    done_ = true;
  }

  // All that is said with the root.
  awaitable<void> converse() {
    const HostPort root = root_of(options_);
    const auto found = resolve(io_, root.host, std::to_string(root.port));
    std::optional<Frame> frame;
    do {
      root_ = co_await reach(found);
      open_acceptor();
      const Proof proof = co_await prove(root_, options_.secret, End::kConnected);
      refused_ = refused_ || proof == Proof::kRefused;
      if (proof == Proof::kGiven) {
        root_->send(encode(hello_));
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
      while (frame && !done_) {
        heed(*frame);
        if (!done_) frame = co_await read_frame(root_);
      }
    } catch (const WireError&) {
      frame.reset();
    }
    if (done_) co_return;
    end(problem_.value_or(
        Verdict{1, 0, "rank 0 was lost while the ranks joined: its connection ended"}));
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

  // Tries until it is there; the deadline ends it.
  awaitable<LinkPtr> reach(const tcp::resolver::results_type& found) {
    for (;;) {
      for (const auto& entry : found) {
        error_code error;
        tcp::socket socket(io_);
        co_await socket.async_connect(entry.endpoint(), into(error));
        if (error == asio::error::no_descriptors) throw no_descriptor("rank 0");
        if (error) continue;
        // Asking for a free port of this host, one may be given that very port, and meet oneself.
        const tcp::endpoint here = socket.local_endpoint(error);
        const tcp::endpoint there = socket.remote_endpoint(error);
        if (!error && here != there) co_return std::make_shared<Link>(std::move(socket));
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
    hello_.member.address = address.to_string();
    hello_.member.port = endpoint.port();
    door_.open(std::move(acceptor));
  }

  void heed(const Frame& frame) {
    WireReader reader(frame.payload);
    if (frame.kind == FrameKind::kWelcome) {
      if (std::exchange(welcome_, true)) throw WireError("a second welcome");
      hello_.run = reader.u64();
      reader.end();
      // Rank 0's clock counts from here on.
      set_deadline(options_.join_timeout + kGrace, "fell silent; the ranks did not join");
      start(door_.accept([this](LinkPtr link) { return greet(std::move(link)); }));
    } else if (frame.kind == FrameKind::kTable) {
      if (!welcome_ || std::exchange(has_table_, true)) throw WireError("a table too many");
      const std::uint64_t told_ms = reader.u64();
      const auto most = static_cast<std::uint64_t>(options_.join_timeout.count());
      if (told_ms > std::max(most, kMostJoin_ms)) throw WireError("a time that is none");
      const Milliseconds left(told_ms);
      members_ = decode_members(std::span(frame.payload).subspan(8));
      if (members_.size() != options_.ranks) throw WireError("a table of other ranks");
      for (std::uint32_t r = 1; r < options_.rank; ++r) {
        if (is_neighbour(r)) start(connect(r, left * 4 / 5));
      }
      start(complain(left * 9 / 10));
      ready_if_all_there();
    } else if (frame.kind == FrameKind::kVerdict) {
      end(decode_verdict(frame.payload, options_.ranks));
    } else if (frame.kind == FrameKind::kGo) {
      reader.end();
      if (!ready_) throw WireError("the word to go before this rank is ready");
      done_ = true;
    }
  }

  awaitable<void> greet(LinkPtr link) {
    const std::optional<Hello> hello = co_await read_hello(link);
    if (!hello || hello->protocol != kMeshProtocol || hello->run != hello_.run) co_return;
    if (hello->rank <= options_.rank || hello->rank >= options_.ranks) co_return;
    if (!is_neighbour(hello->rank) || links_[hello->rank]) co_return;
    links_[hello->rank] = link;
    ready_if_all_there();
  }

  awaitable<void> connect(std::uint32_t rank, Milliseconds time) {
    const Member& member = members_[rank];
    error_code error;
    const asio::ip::address address = asio::ip::make_address(member.address, error);
    if (error) {
      throw EnvironmentError(
          fmt::format("rank 0 says that rank {} listens at {}, which is no address", rank,
                      sched::shown(member.address)));
    }
    const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(member.port));
    const auto link = std::make_shared<Link>(tcp::socket(io_));
    {
      const Patience patience(link, time);
      co_await link->socket.async_connect(endpoint, into(error));
    }
    if (!error && co_await prove(link, options_.secret, End::kConnected) != Proof::kGiven) {
      error = asio::error::connection_reset;
    }
    if (!error) {
      link->send(encode(hello_));
      links_[rank] = link;
      ready_if_all_there();
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
    problem_ = Verdict{
        gone ? 1u : 3u, rank,
        fmt::format("rank {} cannot reach rank {} at {}: {}{}", options_.rank, rank,
                    to_string(endpoint), why,
                    gone ? "" : "; look at routes and firewalls, or give the address to use")};
    root_->send(encode_frame(FrameKind::kVerdict, encode(*problem_)));
  }

  // So that the root blames those who say nothing.
  awaitable<void> complain(Milliseconds after) {
    error_code error;
    asio::steady_timer timer(io_, after);
    co_await timer.async_wait(into(error));
    if (!error && !ready_) root_->send(encode_frame(FrameKind::kWaiting));
  }

  void ready_if_all_there() {
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      if (is_neighbour(r) && !links_[r]) return;
    }
    if (ready_) return;
    ready_ = true;
    root_->send(encode_frame(FrameKind::kReady));
  }

  bool is_neighbour(std::uint32_t rank) const {
    return are_neighbours(options_.rank, rank, options_.ranks, options_.full_up_to);
  }

  LinkPtr root_;
  std::optional<Verdict> problem_;  // told to the root, who decides
  bool welcome_ = false;            // rank 0 has taken this rank in
  bool has_table_ = false;          // and said where the others listen
  bool ready_ = false;              // connected to all neighbours
  bool refused_ = false;            // somebody at the root's address did not know the secret
  Milliseconds pause_{1};
};

}  // namespace

Joined join_as_other(const MeshOptions& options, const Hello& hello) {
  return OtherJoin(options, hello).join();
}

}  // namespace slackline::hw
