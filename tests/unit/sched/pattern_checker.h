// Holds a Plan to what every multicast pattern promises.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// `blocks` blocks, the last one a byte shorter where blocks have two.
inline MulticastOptions options_of(std::uint32_t ranks, std::uint32_t blocks,
                                   std::uint32_t root = 0) {
  MulticastOptions options;
  options.ranks = ranks;
  options.bytes = 2 * std::uint64_t{blocks} - 1;
  options.block_bytes = 2;
  options.root = RankId(root);
  return options;
}

/// The first promise that the plan breaks; empty if it keeps all.
inline std::string broken_promise(const Plan& plan) {
  constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t root = plan.root.value;
  std::vector<std::uint32_t> held_from(std::size_t{plan.ranks} * plan.blocks, kNever);
  for (std::uint32_t block = 0; block < plan.blocks; ++block) {
    held_from[std::size_t{root} * plan.blocks + block] = 0;
  }
  std::vector<std::uint32_t> blocks_held(plan.ranks, 0);
  blocks_held[root] = plan.blocks;
  std::vector<std::uint32_t> next_send(plan.ranks, 0);
  std::vector<std::uint32_t> next_receive(plan.ranks, 0);
  const Transfer* previous = nullptr;
  for (const Transfer& transfer : plan.transfers) {
    const auto [step, src, dst, block] = transfer;
    const auto broken = [&transfer](const char* what) {
      return fmt::format("{}: step {}, {} -> {}, block {}", what, transfer.step, transfer.src.value,
                         transfer.dst.value, transfer.block);
    };
    if (src.value >= plan.ranks || dst.value >= plan.ranks || src == dst) return broken("ranks");
    if (block >= plan.blocks) return broken("no such block");
    if (step >= plan.steps) return broken("past the last step");
    if (previous != nullptr && !(*previous < transfer)) return broken("out of order");
    previous = &transfer;
    if (held_from[std::size_t{src.value} * plan.blocks + block] > step) return broken("not held");
    if (plan.relay_whole_message && blocks_held[src.value] != plan.blocks) {
      return broken("sent before the whole message is there");
    }
    std::uint32_t& arrival = held_from[std::size_t{dst.value} * plan.blocks + block];
    if (arrival != kNever) return broken("delivered twice");
    arrival = step + 1;
    ++blocks_held[dst.value];
    if (next_send[src.value] > step) return broken("second send in a step");
    next_send[src.value] = step + 1;
    if (next_receive[dst.value] > step) return broken("second receive in a step");
    next_receive[dst.value] = step + 1;
  }
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    if (blocks_held[rank] != plan.blocks) return fmt::format("rank {} lacks blocks", rank);
  }
  if (plan.steps != (previous == nullptr ? 0 : previous->step + 1)) return "idle steps at the end";
  return "";
}

}  // namespace slackline::sched
