// Send-based messages to other ranks' service threads, and their answers, over the transport of
// calls (Seriema, section 4.3). They need no setup: nothing is agreed on between two ranks but
// receives, which stand ready before any rank sends. So they can ask for the memory that one-sided
// calls are written into.
//
// Each pair of ranks has a channel each way, for these alone: small messages, which do not wait
// behind large writes. A rank asks another for one thing at a time, so that at most a request and
// an answer are under way on a channel; receives for both stand there, and are posted again before
// what they brought is handed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "hw/call/port.h"
#include "hw/mesh.h"
#include "hw/pages.h"
#include "hw/transport.h"

namespace slackline::hw {

/// By any threads.
class ServiceWire {
 public:
  enum class Kind : std::uint8_t { kRequest, kAnswer };
  struct Message {
    std::uint32_t from = 0;
    Bytes bytes;
  };

  /// Of a message.
  static constexpr std::size_t kMostBytes = kSmallMessage - 1;

  /// Of one of `ranks` ranks. `first_channel`: the number of the first of its channels, of which
  /// there are ranks². The port must outlive this, and this all use of the transport.
  ServiceWire(CallPort& port, std::uint32_t rank, std::uint32_t ranks, std::uint32_t first_channel);
  ServiceWire(const ServiceWire&) = delete;
  ServiceWire& operator=(const ServiceWire&) = delete;

  /// Of all its channels.
  std::vector<ChannelEnd> ends() const;
  /// Once they are connected, and before any peer sends.
  void start();

  /// To another rank; at most kMostBytes. What finds no room is posted by tend(). Throws as
  /// CallPort::post() does.
  void send(std::uint32_t to, Kind kind, std::span<const std::byte> bytes);
  /// Posts what found no room; answers whether anything was.
  bool tend();
  /// A completion of a request of this wire's. Throws EnvironmentError for what is no message.
  void complete(const Completion& completion);

  std::optional<Message> take_request();
  bool has_request() const;
  std::optional<Bytes> take_answer(std::uint32_t from);
  /// Whether all that was sent from here has come to where it goes.
  bool is_quiet() const;

 private:
  struct Outgoing {
    std::uint32_t to = 0;
    Bytes bytes;
  };

  std::span<std::byte> slot(std::size_t place) const;
  WorkRequest receive_into(std::size_t place) const;

  CallPort& port_;
  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  const std::uint32_t first_channel_;
  // Slots: by peer, what its messages come into; then what is sent from.
  Pages pages_;
  LocalMemory registered_;

  mutable std::mutex mutex_;
  std::deque<std::size_t> unposted_;  // slots whose receives are to be posted
  std::deque<Outgoing> outgoing_;
  std::vector<std::size_t> unused_;  // slots to send from
  std::deque<Message> requests_;
  std::vector<std::deque<Bytes>> answers_;  // by peer
};

}  // namespace slackline::hw
