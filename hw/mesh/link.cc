#include "hw/mesh/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio.hpp>

#include "sched/error.h"

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using std::error_code;

// Within this time a connection must have said that it is a rank.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

HostPort parse_root(const std::string& root) {
  const std::size_t colon = root.rfind(':');
  HostPort parsed;
  if (colon != std::string::npos) {
    parsed = {root.substr(0, colon), root.substr(colon + 1)};
    if (parsed.host.size() > 2 && parsed.host.front() == '[' && parsed.host.back() == ']') {
      parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
    }
  }
  const bool digits = !parsed.port.empty() && parsed.port.size() <= 5 &&
                      std::all_of(parsed.port.begin(), parsed.port.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (parsed.host.empty() || !digits || std::stoi(parsed.port) > 65'535 ||
      std::stoi(parsed.port) == 0) {
    throw InputError(fmt::format(
        "rank 0 is to be found at \"{}\"; expected HOST:PORT, with a port from 1 to 65535", root));
  }
  return parsed;
}

tcp::resolver::results_type resolve(asio::io_context& io, const std::string& host,
                                    const std::string& port) {
  error_code error;
  auto found = tcp::resolver(io).resolve(host, port, error);
  if (error || found.empty()) {
    throw EnvironmentError(fmt::format(
        "no host \"{}\" is known here ({}); give a name or an address that every host knows", host,
        error.message()));
  }
  return found;
}

std::string to_string(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

tcp::acceptor listen_at(asio::io_context& io, const tcp::endpoint& endpoint, error_code& error) {
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  return acceptor;
}

void Link::send(Bytes bytes) {
  out_.push_back(std::move(bytes));
  if (out_.size() == 1) write();
}

void Link::write() {
  asio::async_write(socket, asio::buffer(out_.front()),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->out_.pop_front();
                      if (error) self->out_.clear();
                      if (!self->out_.empty()) self->write();
                    });
}

Patience::Patience(const LinkPtr& link, std::chrono::milliseconds time)
    : timer_(link->socket.get_executor(), time) {
  timer_.async_wait([link, waiting = waiting_](error_code error) {
    // Even cancelled, it may have been under way.
    if (!error && *waiting) link->socket.close(error);
  });
}

awaitable<std::optional<Frame>> read_frame(LinkPtr link) {
  std::array<std::byte, kHeaderBytes> bytes;
  error_code error;
  co_await asio::async_read(link->socket, asio::buffer(bytes), into(error));
  if (error) co_return std::nullopt;
  const FrameHeader header = decode_header(bytes);
  if (header.left > kPartBytes) throw WireError("a frame too long");
  Frame frame{header.kind, header.topic, Bytes(header.left)};
  co_await asio::async_read(link->socket, asio::buffer(frame.payload), into(error));
  if (error) co_return std::nullopt;
  co_return frame;
}

awaitable<std::optional<Hello>> read_hello(LinkPtr link) {
  const Patience patience(link, kPatience);
  std::array<std::byte, kPreambleBytes> bytes;
  error_code error;
  co_await asio::async_read(link->socket, asio::buffer(bytes), into(error));
  if (error) co_return std::nullopt;
  const std::optional<Preamble> preamble = decode_preamble(bytes);
  if (!preamble) co_return std::nullopt;
  Bytes payload(preamble->bytes);
  co_await asio::async_read(link->socket, asio::buffer(payload), into(error));
  if (error) co_return std::nullopt;
  try {
    co_return decode_hello(preamble->protocol, payload);
  } catch (const WireError&) {
    co_return std::nullopt;
  }
}

JoinSide::JoinSide(const MeshOptions& options, Hello hello)
    : options_(options),
      hello_(std::move(hello)),
      acceptor_(io_),
      deadline_(io_),
      links_(options.ranks),
      members_(options.ranks) {}

void JoinSide::start(awaitable<void> coroutine) {
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
  joined.members = std::move(members_);
  for (const LinkPtr& link : links_) {
    joined.sockets.emplace_back(link ? link->socket.release() : -1);
  }
  return joined;
}

}  // namespace slackline::hw
