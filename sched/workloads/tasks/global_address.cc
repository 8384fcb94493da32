#include "sched/workloads/tasks/global_address.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kTop = 1ull << 63;

}  // namespace

GlobalAddress GlobalAddress::linear(std::uint64_t byte) {
  if (byte >= kTop) {
    throw InputError(fmt::format("linear address {}: expected less than 2^63", byte));
  }
  return GlobalAddress(byte);
}

GlobalAddress GlobalAddress::two_dimensional(std::uint32_t rank, std::uint64_t offset) {
  if (rank >= kEndPoints) {
    throw InputError(
        fmt::format("2D address of rank {}: it has 15 bits for the rank; expected at "
                    "most {} end points",
                    rank, kEndPoints));
  }
  if (offset >= kLocalBytes) {
    throw InputError(
        fmt::format("2D address {} at rank {}: expected less than 2^48", offset, rank));
  }
  return GlobalAddress(kTop | std::uint64_t{rank} << 48 | offset);
}

std::vector<LocalPiece> GlobalAddress::pieces(std::uint64_t bytes, std::uint32_t ranks) const {
  if (!is_linear()) {
    return {{static_cast<std::uint32_t>(bits_ >> 48 & (kEndPoints - 1)), bits_ & (kLocalBytes - 1),
             bytes}};
  }
  std::vector<LocalPiece> found;
  for (std::uint64_t at = bits_; at < bits_ + bytes;) {
    const std::uint64_t block = at / kGlobalBlock;
    const std::uint64_t end = std::min((block + 1) * kGlobalBlock, bits_ + bytes);
    found.push_back({static_cast<std::uint32_t>(block % ranks),
                     block / ranks * kGlobalBlock + at % kGlobalBlock, end - at});
    at = end;
  }
  return found;
}

LocalPiece GlobalAddress::delegated(std::uint64_t bytes, std::uint32_t ranks) const {
  if (is_linear() && bits_ % kGlobalBlock + bytes > kGlobalBlock) {
    throw InputError(
        fmt::format("delegate: {} bytes at linear address {} leave their block; expected all of "
                    "them in one block of {}",
                    bytes, bits_, kGlobalBlock));
  }
  if (!is_linear()) return pieces(bytes, ranks).front();
  if (bytes == 0) return {};
  const std::uint64_t block = bits_ / kGlobalBlock;
  return {static_cast<std::uint32_t>(block % ranks),
          block / ranks * kGlobalBlock + bits_ % kGlobalBlock, bytes};
}

std::uint64_t striped_share(std::uint64_t bytes, std::uint32_t ranks) {
  const std::uint64_t blocks = bytes == 0 ? 0 : (bytes - 1) / kGlobalBlock + 1;
  return blocks == 0 ? 0 : ((blocks - 1) / ranks + 1) * kGlobalBlock;
}

}  // namespace slackline::sched
