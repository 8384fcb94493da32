#include "hw/mesh/join_side.h"

#include <asio.hpp>
#include <utility>

namespace slackline::hw {

JoinSide::JoinSide(const MeshOptions& options)
    : options_(options),
      door_(io_, options.secret, options.ranks,
            [this](asio::awaitable<void> coroutine) { start(std::move(coroutine)); }),
      deadline_(io_),
      links_(options.ranks) {}

void JoinSide::start(asio::awaitable<void> coroutine) {
  asio::co_spawn(io_, std::move(coroutine), [this](std::exception_ptr thrown) {
    if (thrown && !thrown_) thrown_ = thrown;
  });
}

Joined JoinSide::run(const JoinState& state) {
  while (!state.done && !thrown_ && io_.run_one() != 0) {
  }
  if (thrown_) std::rethrow_exception(thrown_);
  if (state.verdict) throw_verdict(*state.verdict);
  Joined joined;
  joined.hello = state.hello;
  joined.members = state.members;
  const bool all_met = options_.ranks <= options_.full_up_to || options_.rank == 0;
  if (!all_met) joined.listener = door_.close();
  for (const LinkPtr& link : links_) {
    joined.connections.push_back(link ? taken_from(*link) : Connection{});
  }
  return joined;
}

}  // namespace slackline::hw
