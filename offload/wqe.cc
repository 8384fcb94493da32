#include "offload/wqe.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::offload {
namespace {

constexpr std::uint8_t kCompletionAlways = 0x08;
constexpr std::uint32_t kNoKey = 0x100;  // ends a receive's list
constexpr std::size_t kSegment = 16;

template <class Number>
void put(std::span<std::uint8_t> at, Number value) {
  for (std::size_t i = sizeof(Number); i-- > 0; value = static_cast<Number>(value >> 4 >> 4)) {
    at[i] = static_cast<std::uint8_t>(value);
  }
}

void require(bool holds, std::string_view what) {
  if (!holds) throw InputError(fmt::format("wqe: {}", what));
}

void put_piece(std::span<std::uint8_t> at, const WqePiece& piece) {
  require(piece.bytes != 0 && piece.bytes < 1u << 31,
          "a piece is empty or too long; expected 1 … 2^31 - 1 bytes");
  put<std::uint32_t>(at, piece.bytes);
  put<std::uint32_t>(at.subspan(4), piece.key);
  put<std::uint64_t>(at.subspan(8), piece.address);
}

bool crosses(WqeOpcode opcode) {
  return opcode == WqeOpcode::kWait || opcode == WqeOpcode::kSendEnable ||
         opcode == WqeOpcode::kRecvEnable;
}

bool is_known(WqeOpcode opcode) {
  return crosses(opcode) || opcode == WqeOpcode::kNop || opcode == WqeOpcode::kSend ||
         opcode == WqeOpcode::kWriteImm;
}

}  // namespace

WqeBlock encode_wqe(const Wqe& wqe) {
  require(is_known(wqe.opcode), "an opcode that is not encoded");
  require(wqe.qpn < 1u << 24 && wqe.target < 1u << 24, "a number above 24 bits");
  require(wqe.max_index < (wqe.opcode == WqeOpcode::kWait ? 1u << 24 : 1u << 16),
          "an index that is not wrapped");
  WqeBlock block{};
  const std::span bytes(block);
  std::size_t used = kSegment;
  if (crosses(wqe.opcode)) {
    require(wqe.pieces.empty(), "a wait or an enable with memory");
    put<std::uint32_t>(bytes.subspan(used + 8), wqe.max_index);
    put<std::uint32_t>(bytes.subspan(used + 12), wqe.target);
    used += kSegment;
  } else if (wqe.opcode == WqeOpcode::kWriteImm) {
    put<std::uint64_t>(bytes.subspan(used), wqe.remote_address);
    put<std::uint32_t>(bytes.subspan(used + 8), wqe.remote_key);
    used += kSegment;
  } else {
    require(wqe.opcode != WqeOpcode::kNop || wqe.pieces.empty(), "a nop with memory");
  }
  require(used + wqe.pieces.size() * kSegment <= kWqeBytes, "more pieces than fit one block");
  for (const WqePiece& piece : wqe.pieces) {
    put_piece(bytes.subspan(used, kSegment), piece);
    used += kSegment;
  }
  put<std::uint32_t>(bytes, std::uint32_t{wqe.index} << 8 | static_cast<std::uint8_t>(wqe.opcode));
  put<std::uint32_t>(bytes.subspan(4), wqe.qpn << 8 | static_cast<std::uint32_t>(used / kSegment));
  block[11] = wqe.signaled ? kCompletionAlways : 0;
  if (wqe.opcode == WqeOpcode::kWriteImm) put<std::uint32_t>(bytes.subspan(12), wqe.immediate);
  return block;
}

std::vector<std::uint8_t> encode_receive(std::span<const WqePiece> pieces, std::size_t stride) {
  require(stride == 16 || stride == 32 || stride == 64, "a stride other than 16, 32 or 64 bytes");
  require(pieces.size() * kSegment <= stride, "more pieces than fit the stride");
  std::vector<std::uint8_t> bytes(stride, 0);
  const std::span all(bytes);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    put_piece(all.subspan(i * kSegment, kSegment), pieces[i]);
  }
  if (pieces.size() * kSegment < stride) {
    put<std::uint32_t>(all.subspan(pieces.size() * kSegment + 4), kNoKey);
  }
  return bytes;
}

}  // namespace slackline::offload
