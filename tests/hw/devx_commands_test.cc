// The commands that make objects on an mlx5 NIC, byte by byte, from the manual's tables by hand.
#include "hw/verbs/devx_commands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace slackline::hw {
namespace {

// The words that are not 0, as "offset:word" in hexadecimal.
std::string words(const Mailbox& box) {
  std::string text;
  for (std::size_t at = 0; at + 4 <= box.size(); at += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) word = word << 8 | box[at + i];
    if (word != 0) text += fmt::format("{}{:03x}:{:08x}", text.empty() ? "" : " ", at, word);
  }
  return text;
}

TEST(DevxCommands, Questions) {
  EXPECT_EQ(words(question(DevxQuestion::kGeneral)), "000:01000000 004:00000001");
  EXPECT_EQ(words(question(DevxQuestion::kRoce)), "000:01000000 004:00000009");
  EXPECT_EQ(words(question(DevxQuestion::kPort)), "000:07540000");
  for (const DevxQuestion about :
       {DevxQuestion::kGeneral, DevxQuestion::kRoce, DevxQuestion::kPort}) {
    EXPECT_EQ(question(about).size(), 16u);
  }
  EXPECT_EQ(answer_bytes(DevxQuestion::kGeneral), 0x1010u);
  EXPECT_EQ(answer_bytes(DevxQuestion::kRoce), 0x1010u);
  EXPECT_EQ(answer_bytes(DevxQuestion::kPort), 0x110u);
}

// The answer to a question in which nothing but one bit of one byte is set.
Mailbox answer(DevxQuestion to, std::size_t at = 0, unsigned value = 0) {
  Mailbox box(answer_bytes(to), 0);
  box[at] = static_cast<std::uint8_t>(value);
  return box;
}

TEST(DevxCommands, Answers) {
  const auto general = [](std::size_t at, unsigned value) {
    return answer(DevxQuestion::kGeneral, at, value);
  };
  EXPECT_TRUE(ignores_overrun(general(0x54, 0x80)));       // cq_oi
  EXPECT_TRUE(offers_cross_channel(general(0x55, 0x08)));  // cd
  EXPECT_TRUE(offers_roce(general(0x53, 0x04)));           // roce
  for (const auto asked : {ignores_overrun, offers_cross_channel, offers_roce}) {
    EXPECT_FALSE(asked(general(0, 0)));
    EXPECT_FALSE(asked({}));
  }
}

// As rdma-core has it: what counts is the bit for RoCE as it is, in use or not.
TEST(DevxCommands, LoopBackDependsOnRoce) {
  const Mailbox none;
  const Mailbox plain = answer(DevxQuestion::kGeneral);
  const Mailbox when_disabled = answer(DevxQuestion::kGeneral, 0x59, 0x80);
  EXPECT_FALSE(loops_back(plain, none, none));
  EXPECT_TRUE(loops_back(when_disabled, none, none));
  const Mailbox in_use = answer(DevxQuestion::kPort, 0x13, 0x01);
  const Mailbox unused = answer(DevxQuestion::kPort);
  const Mailbox roce_disabled = answer(DevxQuestion::kRoce, 0x10, 0x04);
  const Mailbox roce_enabled = answer(DevxQuestion::kRoce, 0x10, 0x02);
  EXPECT_TRUE(loops_back(plain, roce_enabled, in_use));
  EXPECT_FALSE(loops_back(plain, roce_enabled, unused));
  EXPECT_TRUE(loops_back(plain, roce_disabled, unused));
  EXPECT_FALSE(loops_back(when_disabled, roce_disabled, in_use));
  EXPECT_TRUE(loops_back(when_disabled, answer(DevxQuestion::kRoce), unused));
}

TEST(DevxCommands, CompletionQueue) {
  DevxCompletionQueue queue;
  queue.log_entries = 7;
  queue.uar = 0x1234;
  queue.event_queue = 0x15;
  queue.entries = {0xab, 0x1'0000'2000};
  queue.doorbell_record = {0xac, 0x3040};
  const Mailbox box = create_completion_queue(queue);
  EXPECT_EQ(box.size(), 0x110u);
  // The context at 0x10: doorbell record in user memory (bit 25), overrun ignored (bit 17); then
  // that memory's id, the size over the doorbell page, the event queue, the record's place.
  EXPECT_EQ(words(box),
            "000:04000000 010:02020000 014:000000ac 01c:07001234 024:00000015 04c:00003040 "
            "050:00000001 054:00002000 058:000000ab 05c:80000000");
}

TEST(DevxCommands, QueuePair) {
  DevxQueuePair pair;
  pair.domain = 0x77;
  pair.uar = 0x1234;
  pair.send_completions = 0x401;
  pair.receive_completions = 0x402;
  pair.log_send_blocks = 10;
  pair.receives = true;
  pair.log_receives = 9;
  pair.log_receive_bytes = 6;
  pair.entries = {0xab, 0x5000};
  pair.doorbell_record = {0xac, 0x40};
  const Mailbox box = create_queue_pair(pair);
  EXPECT_EQ(box.size(), 0x110u);
  // The context at 0x18: path migrated (3 at bit 11); domain; 2^9 receives (bit 19) of 64 bytes (2
  // at bit 16), 2^10 blocks (bit 11); doorbell page; CQs at 0x7c and 0x9c; the record at 0xa0, its
  // memory valid at 0xd0 and named at 0xe4.
  const std::string plain =
      "000:05000000 018:00001800 01c:00000077 020:004a5000 024:00001234 094:00000401 {}"
      "0b4:00000402 0bc:00000040 0e8:10000000 0fc:000000ac 104:00005000 108:000000ab 10c:80000000";
  EXPECT_EQ(words(box), fmt::format(fmt::runtime(plain), ""));
  // Cross-channel: dword 0x90 of the context, bits 2, 1, 0.
  pair.role = {.master = true, .slave_send = false, .slave_receive = false};
  EXPECT_EQ(words(create_queue_pair(pair)), fmt::format(fmt::runtime(plain), "0a8:00000001 "));
  pair.role = {.master = false, .slave_send = true, .slave_receive = false};
  EXPECT_EQ(words(create_queue_pair(pair)), fmt::format(fmt::runtime(plain), "0a8:00000002 "));
  pair.role = {.master = false, .slave_send = false, .slave_receive = true};
  EXPECT_EQ(words(create_queue_pair(pair)), fmt::format(fmt::runtime(plain), "0a8:00000004 "));
}

TEST(DevxCommands, QueuePairWithoutReceives) {
  DevxQueuePair pair;
  pair.log_send_blocks = 4;
  // Receive queue type 3: none.
  EXPECT_EQ(words(create_queue_pair(pair)),
            "000:05000000 018:00001800 020:00002000 0c4:03000000 0e8:10000000 10c:80000000");
}

TEST(DevxCommands, States) {
  // The path to the peer at 0x30 of the command, its port at 0x54; peers may write: bit 14 at 0xa8.
  EXPECT_EQ(words(pair_to_init(0x123456, 2)),
            "000:05020000 008:00123456 018:00001800 054:00020000 0a8:00004000");
  // MTU 5 (4096 bytes, bit 29), messages up to 2^30 (bit 24); the peer; looped back (bit 31); the
  // port; the timer for receives that are not there (bit 24 at 0xac).
  EXPECT_EQ(words(pair_to_receive(0x123456,
                                  {.qpn = 0xabcdef, .port = 1, .mtu = 5, .not_ready_timer = 1})),
            "000:05030000 008:00123456 020:be000000 02c:00abcdef 030:80000000 054:00010000 "
            "0ac:01000000");
  // The timeout at bit 27 of the path's third word; retries at bits 16 and 13 of 0x88.
  EXPECT_EQ(words(pair_to_send(0x123456, {.timeout = 17, .retries = 6, .not_ready = 7})),
            "000:05040000 008:00123456 038:88000000 088:0006e000");
}

TEST(DevxCommands, FieldsStayInTheirBits) {
  // Numbers of 24 bits do not spill, whatever is above.
  DevxQueuePair pair;
  pair.domain = 0xff000001;
  EXPECT_EQ(words(create_queue_pair(pair)).find("01c:00000001") != std::string::npos, true);
  const Mailbox box = pair_to_init(0xff000002, 0xff);
  EXPECT_EQ(box[8], 0);
  EXPECT_EQ(box[11], 2);
}

TEST(DevxCommands, NumbersOfWhatWasMade) {
  Mailbox answer(kDevxAnswerBytes, 0);
  answer[8] = 0x99;  // reserved
  answer[9] = 0x12;
  answer[10] = 0x34;
  answer[11] = 0x56;
  EXPECT_EQ(devx_number(answer), 0x123456u);
}

}  // namespace
}  // namespace slackline::hw
