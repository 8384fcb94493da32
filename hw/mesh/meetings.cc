#include "hw/mesh/meetings.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio.hpp>
#include <utility>

#include "base/shown_text.h"

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using std::error_code;
using std::chrono::milliseconds;

constexpr milliseconds kShortestPause{1};
constexpr milliseconds kLongestPause{50};

}  // namespace

NeighbourMeetings::NeighbourMeetings(asio::io_context& io, Hello hello, std::vector<Member> members,
                                     std::optional<Secret> secret, Clock::duration patience,
                                     Asks asks)
    : io_(io),
      hello_(std::move(hello)),
      members_(std::move(members)),
      secret_(std::move(secret)),
      patience_(patience),
      asks_(std::move(asks)),
      states_(members_.size(), State::kNone),
      door_(io, secret_, static_cast<std::uint32_t>(members_.size()),
            [this](awaitable<void> coroutine) { start(std::move(coroutine)); }) {}

void NeighbourMeetings::start(awaitable<void> coroutine) {
  // What it throws ends io_context::run(), where somebody heeds it.
  asio::co_spawn(io_, std::move(coroutine), [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
}

void NeighbourMeetings::answer_at(Descriptor listener) {
  if (!listener) return;
  error_code error;
  tcp::acceptor acceptor(io_);
  const bool is_ipv6 = members_[hello_.rank].address.find(':') != std::string::npos;
  acceptor.assign(is_ipv6 ? tcp::v6() : tcp::v4(), listener.release(), error);
  if (error) return;
  door_.open(std::move(acceptor));
  start(door_.accept([this](LinkPtr link) { return answer(std::move(link)); }));
}

bool NeighbourMeetings::is_meeting() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](State state) { return state != State::kNone; });
}

void NeighbourMeetings::call(std::uint32_t rank) {
  if (is_meeting(rank) || !asks_.lacks(rank)) return;
  states_[rank] = State::kCalls;
  start(keep_calling(rank));
}

awaitable<void> NeighbourMeetings::keep_calling(std::uint32_t rank) {
  const Clock::time_point until = Clock::now() + patience_;
  const Member& member = members_[rank];
  const auto calls = [&] { return states_[rank] == State::kCalls && asks_.lacks(rank); };
  asio::steady_timer timer(io_);
  milliseconds pause = kShortestPause;
  error_code error;
  const tcp::endpoint endpoint(asio::ip::make_address(member.address, error),
                               static_cast<std::uint16_t>(member.port));
  if (error) {
    states_[rank] = State::kNone;
    asks_.fails(rank, fmt::format("rank 0 says that it listens at {}, which is no address",
                                  sched::shown(member.address)));
    co_return;
  }
  while (calls() && (!error || Clock::now() < until)) {
    // Where nobody listens, nobody will.
    if (error != asio::error::connection_refused) {
      const auto link = std::make_shared<MeshLink>(tcp::socket(io_));
      error = co_await say_hello(link, endpoint, until - Clock::now());
      if (!error && states_[rank] == State::kCalls) {
        states_[rank] = State::kNone;
        asks_.met(rank, taken_from(*link));
        co_return;
      }
      if (!error) co_return;
    }
    error_code ignored;
    timer.expires_after(pause);
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    pause = std::min(2 * pause, kLongestPause);
  }
  if (states_[rank] != State::kCalls) co_return;
  states_[rank] = State::kNone;
  if (!asks_.lacks(rank)) co_return;
  if (error == asio::error::connection_refused) {
    asks_.has_left(rank);
  } else {
    asks_.fails(rank, fmt::format("rank {} cannot reach it at {}: {}", hello_.rank,
                                  to_string(endpoint), error.message()));
  }
}

awaitable<error_code> NeighbourMeetings::say_hello(LinkPtr link, tcp::endpoint endpoint,
                                                   Clock::duration patience) {
  const Patience limit(link, std::chrono::duration_cast<milliseconds>(patience));
  error_code error;
  co_await link->socket.async_connect(endpoint, into(error));
  if (error) co_return error;
  error = asio::error::timed_out;
  if (co_await prove(link, secret_, End::kConnected) != SecretProof::kGiven) co_return error;
  link->send(encode(hello_));
  try {
    const std::optional<Frame> answer = co_await read_frame(link);
    if (answer && answer->kind == FrameKind::kHeartbeat) error.clear();
  } catch (const WireError&) {
  }
  co_return error;
}

awaitable<void> NeighbourMeetings::answer(LinkPtr link) {
  const std::optional<Hello> hello = co_await read_hello(link);
  if (!hello || hello->protocol != kMeshProtocol || hello->run != hello_.run) co_return;
  const std::uint32_t rank = hello->rank;
  if (rank >= members_.size() || rank == hello_.rank || !asks_.lacks(rank)) co_return;
  if (states_[rank] == State::kAnswers) co_return;
  if (states_[rank] == State::kCalls && hello_.rank > rank) co_return;
  states_[rank] = State::kAnswers;
  link->send(encode_frame(FrameKind::kHeartbeat));
  co_await flush(link);
  states_[rank] = State::kNone;
  if (asks_.lacks(rank)) asks_.met(rank, taken_from(*link));
}

}  // namespace slackline::hw
