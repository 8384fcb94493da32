#include "hw/mesh/door.h"

#include <asio.hpp>
#include <utility>

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using std::error_code;

// At most so many connections that have not proved it yet, and two for each rank.
constexpr std::size_t kUnproved = 64;

}  // namespace

Door::Door(asio::io_context& io, std::optional<Secret> secret, std::uint32_t ranks, Start start)
    : secret_(std::move(secret)), ranks_(ranks), start_(std::move(start)), acceptor_(io) {}

awaitable<void> Door::accept(Greet greet) {
  for (;;) {
    error_code error;
    tcp::socket socket = co_await acceptor_.async_accept(into(error));
    if (!error) {
      start_(admit(std::make_shared<MeshLink>(std::move(socket)), greet));
      continue;
    }
    // Too many open files, say: some will be closed. If not, that is why ranks did not come.
    starved_ = starved_ || error == asio::error::no_descriptors;
    asio::steady_timer pause(acceptor_.get_executor(), std::chrono::milliseconds(20));
    co_await pause.async_wait(into(error));
  }
}

awaitable<void> Door::admit(LinkPtr link, Greet greet) {
  std::erase_if(unproved_, [](const std::weak_ptr<MeshLink>& other) {
    const LinkPtr known = other.lock();
    return !known || known->seal;
  });
  if (unproved_.size() >= kUnproved + 2 * std::size_t{ranks_}) {
    error_code error;
    unproved_.front().lock()->socket.close(error);
    unproved_.pop_front();
  }
  unproved_.push_back(link);
  const SecretProof proof = co_await prove(link, secret_, End::kListens);
  if (proof == SecretProof::kRefused) ++strangers_;
  if (proof == SecretProof::kGiven) co_await greet(link);
}

Descriptor Door::close() {
  error_code error;
  if (!acceptor_.is_open()) return {};
  const int fd = acceptor_.release(error);
  return Descriptor(error ? -1 : fd);
}

}  // namespace slackline::hw
