#include "hw/mesh/join_side.h"

#include <asio.hpp>
#include <utility>

namespace slackline::hw {

JoinSide::JoinSide(const MeshOptions& options, Hello hello)
    : options_(options),
      hello_(std::move(hello)),
      door_(io_, options.secret, options.ranks,
            [this](asio::awaitable<void> coroutine) { start(std::move(coroutine)); }),
      deadline_(io_),
      links_(options.ranks),
      members_(options.ranks) {}

void JoinSide::start(asio::awaitable<void> coroutine) {
  asio::co_spawn(io_, std::move(coroutine), [this](std::exception_ptr thrown) {
    if (thrown && !thrown_) thrown_ = thrown;
  });
}

Joined JoinSide::run() {
  while (!done_ && !thrown_ && io_.run_one() != 0) {
  }
  if (thrown_) std::rethrow_exception(thrown_);
  if (verdict_) throw_verdict(*verdict_);
  Joined joined;
  joined.hello = std::move(hello_);
  joined.members = std::move(members_);
  const bool all_met = options_.ranks <= options_.full_up_to || options_.rank == 0;
  if (!all_met) joined.listener = door_.close();
  for (const LinkPtr& link : links_) {
    joined.connections.push_back(link ? taken_from(*link) : Connection{});
  }
  return joined;
}

}  // namespace slackline::hw
