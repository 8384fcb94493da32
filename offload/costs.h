// What a queue program asks of each NIC.
#pragma once

#include <cstdint>
#include <vector>

#include "offload/queue_program.h"

namespace slackline::offload {

struct RankCosts {
  std::uint64_t sends = 0;             // data messages
  std::uint64_t receives = 0;          // of them
  std::uint64_t waits = 0;             // for data, but for the collector's
  std::uint64_t enables = 0;           // of data, by management queues
  std::uint64_t readiness_waits = 0;   // for handshakes or credits
  std::uint64_t grants = 0;            // handshakes or credits sent
  std::uint64_t grant_entries = 0;     // entries of the queues that send them
  std::uint64_t collector = 0;         // entries of the collector
  std::uint64_t entries = 0;           // of all queues: what the host posts
  std::uint64_t management_depth = 0;  // entries of the longest management queue but the collector
  std::uint64_t depth = 0;             // of the longest queue
  std::uint64_t pairs = 0;             // queue pairs
  std::uint64_t cqs = 0;
  std::uint64_t doorbells = 0;  // queues that the host starts
};

/// By rank.
std::vector<RankCosts> costs_of(const QueueProgram& program);

/// Of every figure the highest of any rank.
RankCosts worst(const std::vector<RankCosts>& costs);

}  // namespace slackline::offload
