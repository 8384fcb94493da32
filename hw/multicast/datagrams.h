// Datagrams that a network delivers to all members of a group: at most MTU-sized, and none of them
// surely. They may be lost, come twice, or overtake each other. What makes messages of them is
// hw/multicast/receiver.h and hw/multicast/sender.h.
#pragma once

#include <cstddef>
#include <span>

#include "hw/transport.h"

namespace slackline::hw {

class Datagrams {
 public:
  virtual ~Datagrams() = default;
  Datagrams() = default;
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;

  /// The most bytes of one.
  virtual std::size_t most_bytes() const = 0;

  /// What others need to join the group that this end sends to: opaque, and always the same.
  virtual Address group() = 0;

  /// From now on what is sent to the group comes here, until this ends. The own group may be
  /// joined, too. Throws EnvironmentError where the machine or its device does not let it.
  virtual void join(const Address& group) = 0;

  /// To the own group: `head` and behind it `payload`, at most most_bytes() together. Both are read
  /// during the call only. False: there is no room at the moment.
  virtual bool send(std::span<const std::byte> head, std::span<const std::byte> payload) = 0;

  /// The next one that has come; empty if there is none. Valid until the next call. What this end
  /// has sent itself may be among them.
  virtual std::span<const std::byte> receive() = 0;
};

}  // namespace slackline::hw
