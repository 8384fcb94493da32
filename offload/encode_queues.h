// A queue program as the bytes that a host puts into its NIC's rings.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "offload/queue_program.h"
#include "offload/wqe.h"

namespace slackline::offload {

/// What only a card and its driver can tell: the numbers of the objects that were made for the
/// program, and where its memory is.
struct NicNumbers {
  struct Memory {
    std::uint64_t address = 0;
    std::uint32_t local_key = 0;
    std::uint32_t remote_key = 0;
  };
  std::vector<std::uint32_t> qpn;  // by queue pair (Queue::pair), 24 bits
  std::vector<std::uint32_t> cqn;  // by completion queue, 24 bits
  std::vector<Memory> memory;      // by buffer
};

/// Numbers that stand for those: pair p is QPN 0x100000 + p, completion queue c is CQN 0x200000 +
/// c, buffer b is at (b + 1) · 2^40 with keys 0x300000 + b and 0x400000 + b.
NicNumbers placeholder_numbers(const QueueProgram& program);

struct EncodedQueue {
  QueueId queue;
  std::uint32_t stride = 0;         // bytes of an entry
  std::vector<std::uint8_t> bytes;  // all entries, from the queue's start on
  /// What starts it: the doorbell record's value and, for a send queue, the eight bytes written to
  /// the doorbell register. Nothing for managed queues, whose doorbells are never rung.
  std::optional<std::uint32_t> doorbell_record;
  std::optional<std::array<std::uint8_t, 8>> doorbell;
};

/// Every queue. Absolute counts are wrapped here and nowhere else: to 24 bits for completions,
/// "wait for n" being index n − 1, and to 16 bits for entries. Throws InputError on numbers that do
/// not fit 24 bits, Unsupported on pieces of 2^31 bytes.
std::vector<EncodedQueue> encode_queues(const QueueProgram& program, const NicNumbers& numbers);

}  // namespace slackline::offload
