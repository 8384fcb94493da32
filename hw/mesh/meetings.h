// How two ranks that are no neighbours connect once one has something to tell the other: it calls
// where the other listens, and says who it is; the other answers with a heartbeat, and both have a
// connection as neighbours have. Where both call at once, the higher rank's call stands: it does
// not answer the other's, and the lower rank answers instead of waiting.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/mesh/door.h"
#include "hw/mesh/join.h"

namespace slackline::hw {

class NeighbourMeetings {
 public:
  /// What it asks and tells, all in the thread of `io`.
  struct Asks {
    /// Whether a rank is neither connected, nor lost, nor has left.
    std::function<bool(std::uint32_t rank)> lacks;
    std::function<void(std::uint32_t rank, Connection connection)> met;
    /// Nobody listens there any more, and in all its patience no loss was heard of: it has left.
    std::function<void(std::uint32_t rank)> has_left;
    /// It does not answer, and why.
    std::function<void(std::uint32_t rank, std::string why)> fails;
  };

  /// `patience`: how long a call goes on, and within which losses are known. `listener`: where this
  /// rank is called; none: nobody calls it.
  NeighbourMeetings(asio::io_context& io, Hello hello, std::vector<Member> members,
                    std::optional<Secret> secret, std::chrono::steady_clock::duration patience,
                    Asks asks);

  /// Answers calls from now on.
  void answer_at(Descriptor listener);
  /// Calls a rank that is lacking, unless one of both does so already.
  void call(std::uint32_t rank);
  /// Whether a meeting is under way: with this one, with any.
  bool is_meeting(std::uint32_t rank) const { return states_[rank] != State::kNone; }
  bool is_meeting() const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { kNone, kCalls, kAnswers };

  void start(asio::awaitable<void> coroutine);
  asio::awaitable<void> keep_calling(std::uint32_t rank);
  // What kept it from being answered; nothing if it was.
  asio::awaitable<std::error_code> say_hello(LinkPtr link, asio::ip::tcp::endpoint endpoint,
                                             Clock::duration patience);
  asio::awaitable<void> answer(LinkPtr link);

  asio::io_context& io_;
  const Hello hello_;
  const std::vector<Member> members_;
  const std::optional<Secret> secret_;
  const Clock::duration patience_;
  const Asks asks_;
  std::vector<State> states_;  // by rank
  Door door_;
};

}  // namespace slackline::hw
