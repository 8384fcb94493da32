#include "hw/mesh/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio.hpp>
#include <cerrno>

#include "base/error.h"

namespace slackline::hw {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using std::error_code;

// Within this time a connection must have proved that it is a rank.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

HostPort root_of(const MeshOptions& options) {
  return parse_host_port(options.root, "where rank 0 is to be found");
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

tcp::acceptor acceptor_with(asio::io_context& io, int bound, error_code& error) {
  tcp::acceptor acceptor(io);
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  Descriptor own(fcntl(bound, F_DUPFD_CLOEXEC, 0));
  if (!own || getsockname(bound, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
    error = error_code(errno, asio::error::get_system_category());
    return acceptor;
  }
  acceptor.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), own.get(), error);
  if (!error) own.release();
  return acceptor;
}

void require_secret(const MeshOptions& options, const asio::ip::address& address) {
  if (options.secret || address.is_loopback()) return;
  throw EnvironmentError(
      fmt::format("rank {} would listen at {}, where anybody may come, and has no secret by which "
                  "to know the other ranks; give all ranks the same --secret FILE, or an address "
                  "of loopback",
                  options.rank, address.to_string()));
}

void MeshLink::send(std::span<const std::byte> bytes) {
  if (!seal) throw InternalError("a word to a peer that has not proved who it is");
  out_.emplace_back();
  seal->append(bytes, {}, out_.back());
  if (out_.size() == 1) write();
}

void MeshLink::write() {
  asio::async_write(socket, asio::buffer(out_.front()),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->out_.pop_front();
                      if (error) self->out_.clear();
                      if (!self->out_.empty()) self->write();
                    });
}

awaitable<bool> MeshLink::read(std::span<std::byte> bytes) {
  error_code error;
  while (!bytes.empty()) {
    if (begin_ == opened_.size()) {
      std::array<std::byte, kRecordHeaderBytes> header;
      co_await asio::async_read(socket, asio::buffer(header), into(error));
      if (error) co_return false;
      opened_.resize(Seal::rest_of(header));
      begin_ = 0;
      co_await asio::async_read(socket, asio::buffer(opened_), into(error));
      if (error) co_return false;
      opened_.resize(seal->open(header, opened_).size());
    }
    const std::size_t count = std::min(bytes.size(), opened_.size() - begin_);
    std::copy_n(opened_.begin() + static_cast<std::ptrdiff_t>(begin_), count, bytes.begin());
    begin_ += count;
    bytes = bytes.subspan(count);
  }
  co_return true;
}

Connection taken_from(MeshLink& link) {
  return {Descriptor(link.socket.release()), std::move(link.seal)};
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
  if (!co_await link->read(bytes)) co_return std::nullopt;
  const FrameHeader header = decode_header(bytes);
  if (header.left > kPartBytes) throw WireError("a frame too long");
  Frame frame{header.kind, header.topic, Bytes(header.left)};
  if (!co_await link->read(frame.payload)) co_return std::nullopt;
  co_return frame;
}

awaitable<void> flush(LinkPtr link) {
  asio::steady_timer pause(link->socket.get_executor());
  error_code error;
  while (!link->flushed()) {
    pause.expires_after(std::chrono::milliseconds(1));
    co_await pause.async_wait(into(error));
  }
}

awaitable<std::optional<Hello>> read_hello(LinkPtr link) {
  const Patience patience(link, kPatience);
  std::array<std::byte, kPreambleBytes> bytes;
  try {
    if (!co_await link->read(bytes)) co_return std::nullopt;
    const std::optional<Preamble> preamble = decode_preamble(bytes);
    if (!preamble) co_return std::nullopt;
    Bytes payload(preamble->bytes);
    if (!co_await link->read(payload)) co_return std::nullopt;
    co_return decode_hello(preamble->protocol, payload);
  } catch (const WireError&) {
    co_return std::nullopt;
  }
}

awaitable<SecretProof> prove(LinkPtr link, const std::optional<Secret>& secret, End end) {
  const Patience patience(link, kPatience);
  const bool connected = end == End::kConnected;
  const KeyExchange greeting(secret);
  std::array<std::byte, kKeyHalfBytes> its;
  error_code error;
  const auto tell = [&] {
    return asio::async_write(link->socket, asio::buffer(greeting.mine().data(), kKeyHalfBytes),
                             into(error));
  };
  if (connected) co_await tell();
  if (error) co_return SecretProof::kNone;
  co_await asio::async_read(link->socket, asio::buffer(its), into(error));
  if (error) co_return SecretProof::kNone;
  if (!connected) co_await tell();
  if (error) co_return SecretProof::kNone;
  std::unique_ptr<Seal> seal = greeting.agree(its, connected);
  if (!seal) co_return SecretProof::kRefused;
  Bytes proof;
  seal->append({}, {}, proof);
  if (connected) co_await asio::async_write(link->socket, asio::buffer(proof), into(error));
  if (error) co_return SecretProof::kNone;
  std::array<std::byte, kProofBytes> record;
  co_await asio::async_read(link->socket, asio::buffer(record), into(error));
  // Who hangs up on the proof did not take it for one.
  if (error)
    co_return connected&& error != asio::error::operation_aborted ? SecretProof::kRefused
                                                                  : SecretProof::kNone;
  try {
    const auto header = std::span(record).first<kRecordHeaderBytes>();
    const auto rest = std::span(record).subspan(kRecordHeaderBytes);
    if (Seal::rest_of(header) != rest.size()) co_return SecretProof::kRefused;
    seal->open(header, rest);
  } catch (const WireError&) {
    co_return SecretProof::kRefused;
  }
  if (!connected) co_await asio::async_write(link->socket, asio::buffer(proof), into(error));
  if (error) co_return SecretProof::kNone;
  link->seal = std::move(seal);
  co_return SecretProof::kGiven;
}

}  // namespace slackline::hw
