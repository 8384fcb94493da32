// The bytes of every kind of entry, written down by hand from the format.
#include "offload/wqe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/error.h"
#include "offload/compile_queues.h"
#include "offload/encode_queues.h"
#include "sched/compile.h"
#include "tests/support/wqe_reader.h"

namespace slackline::offload {
namespace {

// Words of four bytes, up to the last that is not 0.
std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{}{:02x}", i % 4 == 0 && i != 0 ? " " : "", bytes[i]);
  }
  while (text.ends_with(" 00000000")) text.resize(text.size() - 9);
  return text;
}

TEST(Wqe, WaitIsAsDocumented) {
  Wqe wait;
  wait.opcode = WqeOpcode::kWait;
  wait.index = 5;
  wait.qpn = 0x123456;
  wait.target = 0xabcd;
  wait.max_index = 0x010203;
  EXPECT_EQ(hex(encode_wqe(wait)),
            "0000050f 12345602 00000000 00000000 00000000 00000000 00010203 0000abcd");
}

TEST(Wqe, EveryKindHasItsBytes) {
  Wqe nop;
  nop.index = 0xffff;
  nop.qpn = 0x000007;
  nop.signaled = true;
  EXPECT_EQ(hex(encode_wqe(nop)), "00ffff00 00000701 00000008");

  Wqe send;
  send.opcode = WqeOpcode::kSend;
  send.index = 0x0102;
  send.qpn = 0xabcdef;
  EXPECT_EQ(hex(encode_wqe(send)), "0001020a abcdef01");
  send.pieces = {{0x1122334455667788, 0x99aabbcc, 0x00100000}};
  send.signaled = true;
  EXPECT_EQ(hex(encode_wqe(send)),
            "0001020a abcdef02 00000008 00000000 00100000 99aabbcc 11223344 55667788");

  Wqe write;
  write.opcode = WqeOpcode::kWriteImm;
  write.index = 1;
  write.qpn = 2;
  write.immediate = 0xdeadbeef;
  write.remote_address = 0x0102030405060708;
  write.remote_key = 0x0a0b0c0d;
  write.pieces = {{0x10, 0x20, 0x30}};
  EXPECT_EQ(hex(encode_wqe(write)),
            "00000109 00000203 00000000 deadbeef 01020304 05060708 0a0b0c0d 00000000 00000030 "
            "00000020 00000000 00000010");

  Wqe enable;
  enable.opcode = WqeOpcode::kSendEnable;
  enable.index = 3;
  enable.qpn = 0x000100;
  enable.target = 0x000200;
  enable.max_index = 0xfffe;
  EXPECT_EQ(hex(encode_wqe(enable)),
            "00000317 00010002 00000000 00000000 00000000 00000000 0000fffe 00000200");
  enable.opcode = WqeOpcode::kRecvEnable;
  EXPECT_EQ(hex(encode_wqe(enable)),
            "00000316 00010002 00000000 00000000 00000000 00000000 0000fffe 00000200");
}

TEST(Wqe, ReceivesHaveTheirBytes) {
  EXPECT_EQ(hex(encode_receive({}, 16)), "00000000 00000100");
  const std::vector<WqePiece> one = {{0x0102030405060708, 0x0a0b0c0d, 0x40}};
  EXPECT_EQ(hex(encode_receive(one, 16)), "00000040 0a0b0c0d 01020304 05060708");
  EXPECT_EQ(hex(encode_receive(one, 32)), "00000040 0a0b0c0d 01020304 05060708 00000000 00000100");
  EXPECT_EQ(testing::decode_receive(encode_receive(one, 64)), one);
  EXPECT_EQ(testing::decode_receive(encode_receive({}, 16)), std::vector<WqePiece>());
}

TEST(Wqe, ComesBackAsItWas) {
  std::mt19937_64 draw(7);
  for (int i = 0; i < 20000; ++i) {
    Wqe wqe;
    constexpr std::array kOpcodes = {WqeOpcode::kNop,        WqeOpcode::kWriteImm,
                                     WqeOpcode::kSend,       WqeOpcode::kWait,
                                     WqeOpcode::kRecvEnable, WqeOpcode::kSendEnable};
    wqe.opcode = kOpcodes[draw() % kOpcodes.size()];
    wqe.index = static_cast<std::uint16_t>(draw());
    wqe.qpn = draw() & 0xffffff;
    wqe.signaled = draw() % 2 == 0;
    std::size_t pieces = 0;
    switch (wqe.opcode) {
      case WqeOpcode::kWait:
        wqe.max_index = draw() & 0xffffff;
        wqe.target = draw() & 0xffffff;
        break;
      case WqeOpcode::kRecvEnable:
      case WqeOpcode::kSendEnable:
        wqe.max_index = draw() & 0xffff;
        wqe.target = draw() & 0xffffff;
        break;
      case WqeOpcode::kWriteImm:
        wqe.immediate = static_cast<std::uint32_t>(draw());
        wqe.remote_address = draw();
        wqe.remote_key = static_cast<std::uint32_t>(draw());
        pieces = draw() % 3;
        break;
      case WqeOpcode::kSend:
        pieces = draw() % 4;
        break;
      case WqeOpcode::kNop:
        break;
    }
    for (; pieces > 0; --pieces) {
      wqe.pieces.push_back({draw(), static_cast<std::uint32_t>(draw()),
                            static_cast<std::uint32_t>(draw() % 0x7fffffff + 1)});
    }
    const WqeBlock block = encode_wqe(wqe);
    EXPECT_EQ(testing::decode_wqe(block), wqe);
    WqeBlock changed = block;
    changed[12 + draw() % 4] ^= 1;  // the immediate, which only writes have
    if (wqe.opcode != WqeOpcode::kWriteImm) {
      EXPECT_THROW(testing::decode_wqe(changed), InputError);
    }
  }
}

TEST(Wqe, RefusesWhatDoesNotFit) {
  Wqe wqe;
  wqe.qpn = 1u << 24;
  EXPECT_THROW(encode_wqe(wqe), InputError);
  wqe.qpn = 0;
  wqe.opcode = WqeOpcode::kSendEnable;
  wqe.max_index = 1u << 16;
  EXPECT_THROW(encode_wqe(wqe), InputError);
  wqe.max_index = 0;
  wqe.opcode = WqeOpcode::kSend;
  wqe.pieces = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
  EXPECT_NO_THROW(encode_wqe(wqe));
  wqe.pieces.push_back({0, 0, 1});
  EXPECT_THROW(encode_wqe(wqe), InputError);
  wqe.pieces = {{0, 0, 0}};
  EXPECT_THROW(encode_wqe(wqe), InputError);
  WqeBlock block{};
  block[3] = 0x55;
  EXPECT_THROW(testing::decode_wqe(block), InputError);
}

// Every entry of a program comes back from its bytes, its counts as the hardware wraps them.
TEST(EncodeQueues, ComesBackAsItWas) {
  bool wrapped = false;
  for (const char* more : {"", ",lower=put"}) {
    for (const Mode mode : {Mode::kSqWait, Mode::kMqEnable, Mode::kRdmcMq}) {
      const sched::Schedule schedule = sched::compile(
          sched::parse_spec(fmt::format("binomial-pipeline:ranks=6,bytes=1000,block=64{}", more)));
      QueueOptions options;
      options.mode = mode;
      options.readiness = default_readiness(mode);
      options.queue_start = (1u << 16) - 3;
      options.cq_start = (1u << 24) - 2;
      const QueueProgram program = compile_queues(schedule, options);
      const NicNumbers numbers = placeholder_numbers(program);
      for (const EncodedQueue& encoded : encode_queues(program, numbers)) {
        const Queue& q = program.queue(encoded.queue);
        ASSERT_EQ(encoded.bytes.size(), std::size_t{encoded.stride} * q.count);
        ASSERT_EQ(encoded.doorbell_record.has_value(), !q.managed && q.count != 0);
        // How many entries there have been, as the hardware wraps it.
        if (encoded.doorbell_record) {
          EXPECT_EQ(*encoded.doorbell_record, (q.start + q.count) % 65536);
          wrapped = wrapped || *encoded.doorbell_record < q.start;
        }
        const bool rings = encoded.doorbell_record && q.kind != QueueKind::kReceive;
        ASSERT_EQ(encoded.doorbell.has_value(), rings);
        if (rings) {
          const auto last = std::span(encoded.bytes).last(kWqeBytes).first(8);
          EXPECT_TRUE(std::ranges::equal(*encoded.doorbell, last));
        }
        for (std::uint32_t e = 0; e < q.count; ++e) {
          const Entry& entry = program.entries(q)[e];
          const auto bytes = std::span(encoded.bytes).subspan(e * encoded.stride, encoded.stride);
          if (q.kind == QueueKind::kReceive) {
            std::uint64_t total = 0;
            for (const WqePiece& piece : testing::decode_receive(bytes)) total += piece.bytes;
            EXPECT_EQ(total, program.bytes(entry.local));
            continue;
          }
          WqeBlock block;
          std::copy(bytes.begin(), bytes.end(), block.begin());
          const Wqe wqe = testing::decode_wqe(block);
          EXPECT_EQ(wqe.index, (q.start + e) % 65536);
          EXPECT_EQ(wqe.qpn, numbers.qpn[q.pair]);
          EXPECT_EQ(wqe.signaled, entry.signaled);
          if (entry.kind == EntryKind::kWait) {
            EXPECT_EQ(wqe.opcode, WqeOpcode::kWait);
            EXPECT_EQ(wqe.max_index, (entry.count - 1) % (1u << 24));
            EXPECT_EQ(wqe.target, numbers.cqn[entry.target]);
          } else if (is_enable(entry.kind)) {
            EXPECT_EQ(wqe.opcode, entry.kind == EntryKind::kSendEnable ? WqeOpcode::kSendEnable
                                                                       : WqeOpcode::kRecvEnable);
            EXPECT_EQ(wqe.max_index, entry.count % 65536);
            EXPECT_EQ(wqe.target, numbers.qpn[program.queues()[entry.target].pair]);
          } else if (is_message(entry.kind)) {
            EXPECT_EQ(wqe.opcode,
                      entry.kind == EntryKind::kSend ? WqeOpcode::kSend : WqeOpcode::kWriteImm);
            std::uint64_t total = 0;
            for (const WqePiece& piece : wqe.pieces) total += piece.bytes;
            EXPECT_EQ(total, program.bytes(entry.local));
          } else {
            EXPECT_EQ(wqe.opcode, WqeOpcode::kNop);
          }
        }
      }
    }
  }
  EXPECT_TRUE(wrapped);
}

}  // namespace
}  // namespace slackline::offload
