// Where the pieces of encoded entries point: addresses, keys, strides, immediates; and the numbers
// that they are made of.
#include "offload/encode_queues.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "offload/queue_text.h"
#include "offload/wqe.h"
#include "tests/support/error_of.h"
#include "tests/support/wqe_reader.h"

namespace slackline::offload {
namespace {

const std::string kHead =
    "slackline queues 1\n"
    "schedule 00000000000000000000000000000000\n"
    "mode sq-wait\n"
    "ready none\n"
    "ranks 2\n"
    "buffer 0 rank 0 bytes 8589934592\n"
    "buffer 1 rank 1 bytes 8589934592\n"
    "cq 0 rank 0\n"
    "cq 1 rank 1\n";

// Rank 0 has `sends` in a queue that begins at `start`, rank 1 `receives`.
QueueProgram program_of(const std::string& sends, const std::string& receives,
                        const std::string& start = "0") {
  return read_queues(kHead + "queue 0 rank 0 send data pair 0 cq 0 peer 1 start " + start + "\n" +
                         sends + "queue 1 rank 1 receive data pair 1 cq 1 peer 0\n" + receives,
                     "f");
}

// Of two pairs, two completion queues and two buffers.
NicNumbers numbers() {
  NicNumbers all;
  all.qpn = {0x111, 0x222};
  all.cqn = {0x333, 0x444};
  all.memory = {{0x1000'0000, 0xa0, 0xb0}, {0x2000'0000, 0xa1, 0xb1}};
  return all;
}

Wqe wqe_of(const EncodedQueue& queue, std::size_t entry) {
  WqeBlock block;
  std::copy_n(queue.bytes.begin() + static_cast<std::ptrdiff_t>(entry * kWqeBytes), kWqeBytes,
              block.begin());
  return testing::decode_wqe(block);
}

TEST(EncodeQueues, PiecesPointAtTheirBytes) {
  const QueueProgram program = program_of(
      "  send 0[16+8] 0[40+0] 0[64+4]\n  write 0[8+8] 0[24+8] to 1[96+16]\n  write\n  write 0[5+0] "
      "to "
      "1[7+0]\n",
      "  recv 1[32+12]\n  recv\n  recv\n  recv\n", "65535");
  const std::vector<EncodedQueue> all = encode_queues(program, numbers());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].queue, QueueId(0));
  EXPECT_EQ(all[1].queue, QueueId(1));

  // An empty piece is left out.
  const Wqe send = wqe_of(all[0], 0);
  EXPECT_EQ(send.index, 0xffff);
  EXPECT_EQ(send.qpn, 0x111u);
  EXPECT_EQ(send.pieces, (std::vector<WqePiece>{{0x1000'0010, 0xa0, 8}, {0x1000'0040, 0xa0, 4}}));
  EXPECT_EQ(send.remote_address, 0u);

  // Gathered with the local key, written with the remote one; the immediate is the entry's index,
  // not wrapped.
  const Wqe write = wqe_of(all[0], 1);
  EXPECT_EQ(write.index, 0);
  EXPECT_EQ(write.immediate, 65536u);
  EXPECT_EQ(write.pieces, (std::vector<WqePiece>{{0x1000'0008, 0xa0, 8}, {0x1000'0018, 0xa0, 8}}));
  EXPECT_EQ(write.remote_address, 0x2000'0060u);
  EXPECT_EQ(write.remote_key, 0xb1u);
  const Wqe nowhere = wqe_of(all[0], 2);
  EXPECT_EQ(nowhere.immediate, 65537u);
  EXPECT_EQ(nowhere.remote_address, 0u);
  EXPECT_EQ(nowhere.remote_key, 0u);
  const Wqe empty = wqe_of(all[0], 3);
  EXPECT_TRUE(empty.pieces.empty());
  EXPECT_EQ(empty.remote_address, 0x2000'0007u);

  EXPECT_EQ(testing::decode_receive(std::span(all[1].bytes).first(16)),
            (std::vector<WqePiece>{{0x2000'0020, 0xa1, 12}}));
}

// As wide as the longest list of pieces asks for; empty pieces need no room.
TEST(EncodeQueues, ReceivesAreAsWideAsTheirPieces) {
  const auto stride = [](const std::string& receive) {
    const QueueProgram program = program_of("  send\n  send\n", "  recv\n  recv" + receive + "\n");
    const EncodedQueue queue = encode_queues(program, numbers())[1];
    EXPECT_EQ(queue.bytes.size(), 2 * std::size_t{queue.stride});
    return queue.stride;
  };
  EXPECT_EQ(stride(""), 16u);
  EXPECT_EQ(stride(" 1[0+4]"), 16u);
  EXPECT_EQ(stride(" 1[0+4] 1[8+4]"), 32u);
  EXPECT_EQ(stride(" 1[0+4] 1[8+0] 1[16+4]"), 32u);
  EXPECT_EQ(stride(" 1[0+4] 1[8+4] 1[16+4]"), 64u);
  EXPECT_EQ(stride(" 1[0+4] 1[8+4] 1[16+4] 1[24+4]"), 64u);
  EXPECT_THROW(stride(" 1[0+4] 1[8+4] 1[16+4] 1[24+4] 1[32+4]"), InputError);
}

TEST(EncodeQueues, PiecesStayBelowTwoGiB) {
  const auto bytes = [](const std::string& piece) {
    return wqe_of(encode_queues(program_of("  send " + piece + "\n", "  recv\n"), numbers())[0], 0)
        .pieces.front()
        .bytes;
  };
  EXPECT_EQ(bytes("0[0+2147483647]"), 2147483647u);
  EXPECT_EQ(testing::error_of<Unsupported>([&] { bytes("0[0+2147483648]"); }),
            "offload: a piece of 2147483648 bytes; expected less than 2^31");
}

TEST(EncodeQueues, NumbersAreEnoughAndApart) {
  const QueueProgram program = program_of("  nop\n", "");
  EXPECT_NO_THROW(encode_queues(program, numbers()));
  NicNumbers few = numbers();
  few.qpn.pop_back();
  EXPECT_THROW(encode_queues(program, few), InputError);
  few = numbers();
  few.cqn.pop_back();
  EXPECT_THROW(encode_queues(program, few), InputError);
  few = numbers();
  few.memory.pop_back();
  EXPECT_THROW(encode_queues(program, few), InputError);

  const NicNumbers made = placeholder_numbers(program);
  EXPECT_EQ(made.qpn, (std::vector<std::uint32_t>{0x100000, 0x100001}));
  EXPECT_EQ(made.cqn, (std::vector<std::uint32_t>{0x200000, 0x200001}));
  ASSERT_EQ(made.memory.size(), 2u);
  for (std::uint32_t b = 0; b < 2; ++b) {
    EXPECT_EQ(made.memory[b].address, (b + 1ull) << 40);
    EXPECT_EQ(made.memory[b].local_key, 0x300000 + b);
    EXPECT_EQ(made.memory[b].remote_key, 0x400000 + b);
  }
}

// What no queue is told of: the bells of queues that are empty, managed or for receiving.
TEST(EncodeQueues, BellsAreForWhatTheHostStarts) {
  const std::vector<EncodedQueue> all =
      encode_queues(program_of("  nop\n  nop signaled\n", "", "65534"), numbers());
  EXPECT_EQ(all[0].doorbell_record, 0u);
  ASSERT_TRUE(all[0].doorbell.has_value());
  EXPECT_EQ(wqe_of(all[0], 1).index, 0xffff);
  EXPECT_TRUE(std::equal(all[0].doorbell->begin(), all[0].doorbell->end(),
                         all[0].bytes.begin() + kWqeBytes));
  EXPECT_FALSE(all[1].doorbell_record.has_value());
  EXPECT_FALSE(all[1].doorbell.has_value());
}

// Each rule of the bytes by itself.
TEST(Wqe, RefusesByName) {
  const auto error_of = [](const Wqe& wqe) -> std::string {
    return testing::error_of([&] { encode_wqe(wqe); });
  };
  Wqe wait;
  wait.opcode = WqeOpcode::kWait;
  wait.max_index = (1u << 24) - 1;
  wait.target = (1u << 24) - 1;
  wait.qpn = (1u << 24) - 1;
  EXPECT_EQ(error_of(wait), "");
  wait.max_index = 1u << 24;
  EXPECT_EQ(error_of(wait), "wqe: an index that is not wrapped");
  wait.max_index = 0;
  wait.target = 1u << 24;
  EXPECT_EQ(error_of(wait), "wqe: a number above 24 bits");
  wait.target = 0;
  wait.pieces = {{0, 0, 1}};
  for (const WqeOpcode opcode :
       {WqeOpcode::kWait, WqeOpcode::kSendEnable, WqeOpcode::kRecvEnable}) {
    wait.opcode = opcode;
    EXPECT_EQ(error_of(wait), "wqe: a wait or an enable with memory");
  }
  wait.opcode = WqeOpcode::kNop;
  EXPECT_EQ(error_of(wait), "wqe: a nop with memory");
  wait.opcode = static_cast<WqeOpcode>(0x55);
  EXPECT_EQ(error_of(wait), "wqe: an opcode that is not encoded");
  Wqe write;
  write.opcode = WqeOpcode::kWriteImm;
  write.pieces = {{0, 0, 1}, {0, 0, 0x7fffffff}};
  EXPECT_EQ(error_of(write), "");
  write.pieces.back().bytes = 0x80000000;
  EXPECT_EQ(error_of(write), "wqe: a piece is empty or too long; expected 1 … 2^31 - 1 bytes");
  write.pieces = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
  EXPECT_EQ(error_of(write), "wqe: more pieces than fit one block");
}

// Any bit but those of its fields is refused, and every field comes back changed.
TEST(Wqe, EveryBitCounts) {
  Wqe write;
  write.opcode = WqeOpcode::kWriteImm;
  write.pieces = {{0x1122334455667788, 0x99, 0x11}};
  for (const Wqe& wqe : {write, Wqe{}}) {
    const WqeBlock block = encode_wqe(wqe);
    for (std::size_t bit = 0; bit < 8 * kWqeBytes; ++bit) {
      WqeBlock changed = block;
      changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1u << bit % 8);
      try {
        const Wqe read = testing::decode_wqe(changed);
        EXPECT_NE(read, wqe) << bit;
        EXPECT_EQ(encode_wqe(read), changed) << bit;
      } catch (const InputError&) {
      }
    }
  }
  for (const unsigned segments : {0u, 1u, 5u, 63u}) {
    WqeBlock block = encode_wqe(write);
    block[7] = static_cast<std::uint8_t>(segments);
    EXPECT_THROW(testing::decode_wqe(block), InputError) << segments;
  }
}

TEST(Wqe, ReceivesRefuseWhatDoesNotFit) {
  const std::vector<WqePiece> two = {{1, 2, 3}, {4, 5, 6}};
  for (const std::size_t stride : {0, 8, 15, 48, 128}) {
    EXPECT_THROW(encode_receive({}, stride), InputError) << stride;
  }
  EXPECT_THROW(encode_receive(two, 16), InputError);
  EXPECT_EQ(testing::decode_receive(encode_receive(two, 32)), two);
  EXPECT_EQ(testing::decode_receive(encode_receive(two, 64)), two);
  EXPECT_THROW(encode_receive(std::vector<WqePiece>{{1, 2, 0}}, 16), InputError);
  EXPECT_THROW(encode_receive(std::vector<WqePiece>{{1, 2, 1u << 31}}, 16), InputError);
  // Behind the piece that ends the list there is nothing.
  std::vector<std::uint8_t> bytes = encode_receive(two, 64);
  bytes.back() = 1;
  EXPECT_THROW(testing::decode_receive(bytes), InputError);
  EXPECT_THROW(testing::decode_receive(std::vector<std::uint8_t>(17)), InputError);
}

}  // namespace
}  // namespace slackline::offload
