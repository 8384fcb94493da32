// Work queue entries as mlx5 NICs read them: big-endian, each in one 64-byte block, so that entries
// and blocks count alike. Indices are given as they stand in the bytes, wrapped.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace slackline::offload {

enum class WqeOpcode : std::uint8_t {
  kNop = 0x00,
  kWriteImm = 0x09,
  kSend = 0x0a,
  kWait = 0x0f,
  kRecvEnable = 0x16,
  kSendEnable = 0x17,
};

inline constexpr std::size_t kWqeBytes = 64;
using WqeBlock = std::array<std::uint8_t, kWqeBytes>;

/// Memory that a NIC gathers from or scatters to.
struct WqePiece {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;  // 1 … 2^31 − 1; an empty piece is left out, since 0 would mean 2^31
  friend bool operator==(const WqePiece&, const WqePiece&) = default;
};

/// What an entry of a send queue says.
struct Wqe {
  WqeOpcode opcode = WqeOpcode::kNop;
  std::uint16_t index = 0;      // of the entry in its queue
  std::uint32_t qpn = 0;        // 24 bits: of its own queue pair
  bool signaled = false;        // a completion in any case; otherwise on errors only
  std::uint32_t immediate = 0;  // write with immediate
  std::uint32_t max_index = 0;  // wait: the last completion's index, 24 bits; enable: the index up
                                // to which entries may go, exclusive, 16 bits
  std::uint32_t target = 0;     // wait: CQN; enable: QPN; 24 bits
  std::uint64_t remote_address = 0;  // write
  std::uint32_t remote_key = 0;      // write
  std::vector<WqePiece> pieces;      // send: at most 3; write: at most 2
  friend bool operator==(const Wqe&, const Wqe&) = default;
};

/// Throws InputError, naming the field, on what does not fit.
WqeBlock encode_wqe(const Wqe& wqe);

/// An entry of a receive queue with `stride` bytes (16, 32 or 64): its pieces, then, if there is
/// room, the one that ends the list (key 0x100). Throws InputError on what does not fit.
std::vector<std::uint8_t> encode_receive(std::span<const WqePiece> pieces, std::size_t stride);

}  // namespace slackline::offload
