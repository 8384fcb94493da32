// Reads back what offload/wqe.h encodes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "offload/wqe.h"

namespace slackline::testing {

using offload::Wqe;
using offload::WqeBlock;
using offload::WqeOpcode;
using offload::WqePiece;

inline constexpr std::size_t kSegment = 16;

inline void require(bool holds, std::string_view what) {
  if (!holds) throw InputError(fmt::format("wqe: {}", what));
}

template <class Number>
Number get(std::span<const std::uint8_t> at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value = static_cast<Number>(std::uint64_t{value} << 8 | at[i]);
  }
  return value;
}

inline WqePiece get_piece(std::span<const std::uint8_t> at) {
  return {get<std::uint64_t>(at.subspan(8)), get<std::uint32_t>(at.subspan(4)),
          get<std::uint32_t>(at)};
}

inline bool crosses(WqeOpcode opcode) {
  return opcode == WqeOpcode::kWait || opcode == WqeOpcode::kSendEnable ||
         opcode == WqeOpcode::kRecvEnable;
}

inline bool is_known(WqeOpcode opcode) {
  return crosses(opcode) || opcode == WqeOpcode::kNop || opcode == WqeOpcode::kSend ||
         opcode == WqeOpcode::kWriteImm;
}

/// Throws InputError on bytes that encode_wqe() does not write.
inline Wqe decode_wqe(const WqeBlock& block) {
  const std::span bytes(block);
  Wqe wqe;
  const auto first = get<std::uint32_t>(bytes);
  wqe.opcode = static_cast<WqeOpcode>(first & 0xff);
  require(is_known(wqe.opcode), fmt::format("opcode {:#04x} is not known", first & 0xff));
  wqe.index = static_cast<std::uint16_t>(first >> 8);
  const auto second = get<std::uint32_t>(bytes.subspan(4));
  wqe.qpn = second >> 8;
  const std::size_t segments = second & 0x3f;
  wqe.signaled = (block[11] & 0x08) != 0;
  std::size_t used = 1;
  if (crosses(wqe.opcode)) {
    wqe.max_index = get<std::uint32_t>(bytes.subspan(24));
    wqe.target = get<std::uint32_t>(bytes.subspan(28));
    used = 2;
  } else if (wqe.opcode == WqeOpcode::kWriteImm) {
    wqe.immediate = get<std::uint32_t>(bytes.subspan(12));
    wqe.remote_address = get<std::uint64_t>(bytes.subspan(16));
    wqe.remote_key = get<std::uint32_t>(bytes.subspan(24));
    used = 2;
  }
  require(segments >= used && segments <= offload::kWqeBytes / kSegment,
          fmt::format("{} segments, which its opcode does not have", segments));
  for (; used < segments; ++used) {
    wqe.pieces.push_back(get_piece(bytes.subspan(used * kSegment, kSegment)));
  }
  require(offload::encode_wqe(wqe) == block, "bytes beside the fields of its opcode");
  return wqe;
}

/// The pieces of an entry of a receive queue. Throws InputError on bytes that encode_receive() does
/// not write.
inline std::vector<WqePiece> decode_receive(std::span<const std::uint8_t> bytes) {
  std::vector<WqePiece> pieces;
  for (std::size_t at = 0; at + kSegment <= bytes.size(); at += kSegment) {
    const WqePiece piece = get_piece(bytes.subspan(at, kSegment));
    if (piece.bytes == 0 && piece.key == 0x100) break;
    pieces.push_back(piece);
  }
  require(std::ranges::equal(offload::encode_receive(pieces, bytes.size()), bytes),
          "bytes beside a receive's pieces");
  return pieces;
}

}  // namespace slackline::testing
