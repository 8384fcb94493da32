// Datagrams within one process that are lost, repeated and held back, as a seed says.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "base/error.h"
#include "hw/multicast/datagrams.h"

namespace slackline::testing {

class LossyDatagrams;

/// What the datagrams of all ranks share: who is in which group, and what becomes of a delivery.
struct LossyNetwork {
  std::uint32_t lost = 0;      // of 1000 deliveries
  std::uint32_t repeated = 0;  // of 1000: once more
  std::uint32_t held = 0;      // of 1000: come behind the next ones
  bool floods = false;         // a stranger's datagrams come without end between the others
  std::mt19937_64 draws{1};
  std::map<hw::Address, std::vector<LossyDatagrams*>> members;

  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;  // what is lost included
  std::uint64_t dropped = 0;

  bool strikes(std::uint32_t of_1000) { return draws() % 1000 < of_1000; }
};

class LossyDatagrams final : public hw::Datagrams {
 public:
  /// `room`: sends between two calls of receive().
  LossyDatagrams(LossyNetwork& network, std::size_t most_bytes, std::size_t room = 64)
      : network_(network), most_bytes_(most_bytes), room_(room), left_(room) {}

  std::size_t most_bytes() const override { return most_bytes_; }
  hw::Address group() override {
    hw::Address name(sizeof(this));
    const LossyDatagrams* const self = this;
    std::memcpy(name.data(), &self, sizeof self);
    return name;
  }
  void join(const hw::Address& group) override { network_.members[group].push_back(this); }

  bool send(std::span<const std::byte> head, std::span<const std::byte> payload) override {
    if (head.size() + payload.size() > most_bytes_) throw InternalError("a datagram too large");
    if (left_ == 0) return false;
    --left_;
    ++network_.sent;
    std::vector<std::byte> bytes(head.begin(), head.end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    for (LossyDatagrams* const member : network_.members[group()]) member->deliver(bytes);
    return true;
  }

  std::span<const std::byte> receive() override {
    left_ = room_;
    if (!held_.empty() && (queue_.empty() || network_.strikes(300))) {
      queue_.push_back(held_.front());
      held_.pop_front();
    }
    if (queue_.empty() && network_.floods) now_.assign(28, std::byte{0});
    if (queue_.empty()) return network_.floods ? now_ : std::span<const std::byte>();
    now_ = queue_.front();
    queue_.pop_front();
    return now_;
  }

 private:
  void deliver(const std::vector<std::byte>& bytes) {
    ++network_.delivered;
    if (network_.strikes(network_.lost)) {
      ++network_.dropped;
      return;
    }
    if (network_.strikes(network_.repeated)) queue_.push_back(bytes);
    (network_.strikes(network_.held) ? held_ : queue_).push_back(bytes);
  }

  LossyNetwork& network_;
  const std::size_t most_bytes_;
  const std::size_t room_;
  std::size_t left_;
  std::deque<std::vector<std::byte>> queue_;
  std::deque<std::vector<std::byte>> held_;
  std::vector<std::byte> now_;
};

}  // namespace slackline::testing
