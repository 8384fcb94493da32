// Rank 0's side of a join.
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio.hpp>
#include <set>

#include "hw/mesh/join_side.h"
#include "hw/mesh/root_address.h"

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using Milliseconds = std::chrono::milliseconds;
using std::error_code;

// How long it stays to tell others why there is no run; longer if some may still come.
constexpr Milliseconds kStay{1'000};
constexpr Milliseconds kStayForOthers{3'000};

std::string named(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  if (ranks.size() > kShown) text += fmt::format(" and {} more", ranks.size() - kShown);
  return text;
}

class RootJoin : private JoinSide {
 public:
  RootJoin(const MeshOptions& options, const Hello& hello) : JoinSide(options, hello) {}
  // Others may hold the socket, too: to close it would leave it listening.
  ~RootJoin() {
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
      if (!error) late();
    });
    members_[0] = hello_.member;
    run_ = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()) ^
           (hello_.member.pid << 40);
    start(door_.accept([this](LinkPtr link) { return greet(std::move(link)); }));
    return run();
  }

 private:
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
    if (!hello || going_) co_return;  // who comes behind the word to go changes nothing
    const std::uint32_t rank = hello->rank;
    const bool counts_as_i_do = hello->protocol == kMeshProtocol && hello->ranks == options_.ranks;
    if (counts_as_i_do && rank >= options_.ranks) co_return;
    guests_.push_back(link);
    came_.insert(rank);
    if (!verdict_) judge(*hello, link);
    if (verdict_) tell(link);
    co_await listen_to(link, rank);
    closed_.insert(link.get());
    if (verdict_) {
      end_if_all_told();
    } else if (!going_) {
      decide({1, rank,
              fmt::format("rank {} was lost while the ranks joined: its connection ended", rank)});
    }
  }

  // Takes the rank in, or decides that there will be no run.
  void judge(const Hello& hello, const LinkPtr& link) {
    if (auto breach = disagreement(hello_, hello)) {
      decide(std::move(*breach));
    } else if (hello.rank == 0 || links_[hello.rank]) {
      const Member& first = members_[hello.rank];
      decide(
          {2, 0,
           fmt::format("rank {} is there twice: as process {} and as process {}{}; expected each "
                       "rank once",
                       hello.rank, first.pid, hello.member.pid,
                       first.host == hello.member.host ? "" : " of another host")});
    } else {
      links_[hello.rank] = link;
      members_[hello.rank] = hello.member;
      link->send(encode_frame(FrameKind::kWelcome, WireWriter().u64(run_).take()));
      const auto missing = std::count(links_.begin(), links_.end(), nullptr) - 1;
      if (options_.on_join) options_.on_join(options_.ranks - static_cast<std::uint32_t>(missing));
      if (missing == 0) send_table();
    }
  }

  void send_table() {
    const auto left = std::chrono::duration_cast<Milliseconds>(until_ - Clock::now());
    const Bytes table = encode_frame(
        FrameKind::kTable,
        WireWriter().u64(static_cast<std::uint64_t>(left.count())).raw(encode(members_)).take());
    for (std::uint32_t r = 1; r < options_.ranks; ++r) links_[r]->send(table);
  }

  // Until the connection ends, or the mesh takes it over.
  awaitable<void> listen_to(LinkPtr link, std::uint32_t rank) {
    try {
      for (;;) {
        // Bytes that come after the word to go are for the mesh: only look whether there are any.
        error_code error;
        co_await link->socket.async_wait(tcp::socket::wait_read, into(error));
        if (going_ || error) co_return;
        const std::optional<Frame> frame = co_await read_frame(link);
        if (!frame) co_return;
        if (frame->kind == FrameKind::kReady) {
          ready_.insert(rank);
          if (ready_.size() + 1 == options_.ranks && !verdict_) go();
        } else if (frame->kind == FrameKind::kWaiting) {
          waiting_.insert(rank);
        } else if (frame->kind == FrameKind::kVerdict) {
          decide(decode_verdict(frame->payload, options_.ranks));
        }
      }
    } catch (const WireError&) {
    }
  }

  void go() {
    going_ = true;
    for (std::uint32_t r = 1; r < options_.ranks; ++r) {
      links_[r]->send(encode_frame(FrameKind::kGo));
    }
    start(finish());
  }

  awaitable<void> finish() {
    const auto waiting = [](const LinkPtr& link) { return link && !link->flushed(); };
    error_code error;
    while (std::any_of(links_.begin(), links_.end(), waiting) && Clock::now() < until_) {
      asio::steady_timer pause(io_, Milliseconds(1));
      co_await pause.async_wait(into(error));
    }
    done_ = true;
  }

  std::vector<std::uint32_t> not_ready(bool waiting) const {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t r = 1; r < options_.ranks; ++r) {
      if (!ready_.contains(r) && waiting_.contains(r) == waiting) ranks.push_back(r);
    }
    return ranks;
  }

  void late() {
    if (going_ || verdict_) return;
    late_ = true;
    std::vector<std::uint32_t> missing;
    for (std::uint32_t r = 1; r < options_.ranks; ++r) {
      if (!links_[r]) missing.push_back(r);
    }
    const double waited = std::chrono::duration<double>(options_.join_timeout).count();
    if (!missing.empty() && door_.starved()) {
      decide({3, 0,
              fmt::format("rank 0 has no descriptor left for {}: too many open files; see `ulimit "
                          "-n`",
                          named(missing))});
      return;
    }
    if (!missing.empty()) {
      const std::string strangers =
          door_.strangers() == 0 ? ""
                                 : fmt::format(
                                       "; {} who came did not know the run's secret, for which all "
                                       "ranks need the same --secret FILE",
                                       door_.strangers());
      decide({1, missing[0],
              fmt::format("{} did not come within {} s{}", named(missing), waited, strangers)});
      return;
    }
    // Those that say they wait for others are not the ones.
    missing = not_ready(false);
    if (missing.empty()) missing = not_ready(true);
    decide({1, missing[0],
            fmt::format("{} came, but did not connect to all others within {} s", named(missing),
                        waited)});
  }

  void decide(Verdict verdict) {
    if (verdict_) return;
    verdict_ = std::move(verdict);
    for (const LinkPtr& guest : guests_) tell(guest);
    deadline_.expires_after(late_ ? kStay : kStayForOthers);
    deadline_.async_wait([this](error_code error) {
      if (!error) done_ = true;
    });
    end_if_all_told();
  }

  void tell(const LinkPtr& link) {
    if (!told_.insert(link.get()).second || !link->socket.is_open()) return;
    link->send(encode_frame(FrameKind::kVerdict, encode(*verdict_)));
  }

  // Ranks close when they were told.
  void end_if_all_told() {
    const bool all_came = late_ || came_.size() + 1 >= options_.ranks;
    if (all_came && closed_.size() == guests_.size()) done_ = true;
  }

  Clock::time_point until_;
  std::uint64_t run_ = 0;
  std::vector<LinkPtr> guests_;  // whoever said Hello
  std::set<const Link*> told_;
  std::set<const Link*> closed_;
  std::set<std::uint32_t> came_;
  std::set<std::uint32_t> ready_;
  std::set<std::uint32_t> waiting_;
  bool going_ = false;
  bool late_ = false;  // the time to join is over
};

}  // namespace

Joined join_as_root(const MeshOptions& options, const Hello& hello) {
  return RootJoin(options, hello).join();
}

}  // namespace slackline::hw
