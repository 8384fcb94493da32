// How long queues are cut: to the last entry that fits, in every mode.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "offload/compile_queues.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::offload {
namespace {

using sched::Schedule;

struct Cut {
  std::vector<std::uint32_t> messages;  // of each data send queue
  std::vector<std::uint32_t> entries;   // of each management queue but collectors
  std::vector<std::uint64_t> enabled;   // by those that a management queue goes on in
};

Schedule blocks(int count) {
  return sched::compile(sched::parse_spec(
      fmt::format("chain:ranks=2,bytes={},block=16,ready=none,in-flight=0", 16 * count)));
}

QueueOptions options_of(Mode mode, Readiness readiness, std::uint32_t depth) {
  QueueOptions options;
  options.mode = mode;
  options.readiness = readiness;
  options.window = 1;
  options.limits.queue_depth = depth;
  return options;
}

Cut cut(int count, const QueueOptions& options, std::uint32_t rank = 0) {
  const QueueProgram program = compile_queues(blocks(count), options);
  Cut all;
  for (const Queue& q : program.queues()) {
    EXPECT_LE(q.count, options.limits.queue_depth);
    if (q.rank.value != rank) continue;
    if (q.kind == QueueKind::kSend && q.purpose == Purpose::kData) {
      std::uint32_t messages = 0;
      for (const Entry& entry : program.entries(q)) messages += is_message(entry.kind) ? 1 : 0;
      all.messages.push_back(messages);
    }
    if (q.purpose == Purpose::kOrder) {
      all.entries.push_back(q.count);
      const Entry& last = program.entries(q).back();
      if (is_enable(last.kind) && program.queues()[last.target].kind == QueueKind::kManagement) {
        all.enabled.push_back(last.count);
      }
    }
  }
  return all;
}

using Counts = std::vector<std::uint32_t>;

// Each further part waits once for the part before, in the send queue itself.
TEST(Splitting, ChannelsAreCutWhereTheQueueIsFull) {
  const auto parts = [](int count, Mode mode, Readiness readiness, std::uint32_t depth) {
    return cut(count, options_of(mode, readiness, depth)).messages;
  };
  EXPECT_EQ(parts(4, Mode::kSqWait, Readiness::kNone, 4), (Counts{4}));
  EXPECT_EQ(parts(9, Mode::kSqWait, Readiness::kNone, 4), (Counts{4, 3, 2}));
  EXPECT_EQ(parts(4, Mode::kSqWait, Readiness::kHandshake, 4), (Counts{2, 1, 1}));
  EXPECT_EQ(parts(5, Mode::kSqWait, Readiness::kHandshake, 5), (Counts{2, 2, 1}));
  EXPECT_EQ(parts(3, Mode::kSqWait, Readiness::kWindow, 4), (Counts{1, 1, 1}));
  EXPECT_EQ(parts(5, Mode::kSqWait, Readiness::kWindow, 6), (Counts{2, 1, 1, 1}));
  EXPECT_EQ(parts(5, Mode::kSqWait, Readiness::kWindow, 7), (Counts{2, 2, 1}));
  EXPECT_EQ(parts(9, Mode::kMqEnable, Readiness::kHandshake, 4), (Counts{4, 4, 1}));
  EXPECT_EQ(parts(5, Mode::kMqEnable, Readiness::kWindow, 6), (Counts{2, 2, 1}));
  EXPECT_EQ(parts(5, Mode::kMqEnable, Readiness::kWindow, 5), (Counts{1, 1, 1, 1, 1}));
  EXPECT_EQ(parts(9, Mode::kRdmcMq, Readiness::kNone, 4), (Counts{4, 4, 1}));
}

// An enable and a wait for each block; the last entry of a full queue enables the next.
TEST(Splitting, ManagementQueuesGoOnInOthers) {
  const auto rdmc = [](int count, std::uint32_t depth) {
    return cut(count, options_of(Mode::kRdmcMq, Readiness::kNone, depth));
  };
  EXPECT_EQ(rdmc(2, 4).entries, (Counts{4}));
  EXPECT_EQ(rdmc(3, 4).entries, (Counts{4, 3}));
  EXPECT_EQ(rdmc(3, 4).enabled, (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(rdmc(4, 4).entries, (Counts{4, 4, 2}));
  EXPECT_EQ(rdmc(4, 4).enabled, (std::vector<std::uint64_t>{4, 2}));
  EXPECT_EQ(rdmc(4, 7).entries, (Counts{7, 2}));
  EXPECT_EQ(rdmc(4, 8).entries, (Counts{8}));
}

TEST(Splitting, WhatIsTooLongIsRefusedByName) {
  const auto refusal = [](const Schedule& schedule, const QueueOptions& options) -> std::string {
    return testing::error_of<Unsupported>([&] { compile_queues(schedule, options); });
  };
  QueueOptions options = options_of(Mode::kSqWait, Readiness::kNone, 4);
  options.split = false;
  EXPECT_EQ(refusal(blocks(4), options), "");
  EXPECT_EQ(refusal(blocks(5), options),
            "offload: op 4 (send, rank 0): its channel takes more than the 4 entries of a queue, "
            "and splitting is off");
  options = options_of(Mode::kRdmcMq, Readiness::kNone, 6);
  options.split = false;
  EXPECT_EQ(refusal(blocks(3), options), "");
  EXPECT_EQ(refusal(blocks(4), options),
            "offload: the order queue of rank 0 has 8 entries, more than the 6 of a queue, and "
            "splitting is off");
  options = {};
  options.limits.message_bytes = 16;
  EXPECT_EQ(refusal(blocks(2), options), "");
  options.limits.message_bytes = 15;
  EXPECT_EQ(refusal(blocks(2), options), "offload: op 0 (send, rank 0): a message has at most 15");

  // Rank 2 sends on what it has of two ranks: two waits, one for the handshake, and the message.
  const Schedule gathered = sched::read_text(
      "slackline schedule 1\nranks 4\nbuffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 8\n"
      "buffer 2 rank 2 bytes 16\nbuffer 3 rank 3 bytes 16\nchannel 0 from 0 to 2\n"
      "channel 1 from 1 to 2\nchannel 2 from 2 to 3\nrank 0\n  0 send on 0 reads 0[0+8]\n"
      "rank 1\n  1 send on 1 reads 1[0+8]\nrank 2\n  2 recv on 0 writes 2[0+8]\n"
      "  3 recv on 1 writes 2[8+8]\n  4 send step 1 on 2 reads 2[0+16] after done:2 done:3\n"
      "rank 3\n  5 recv step 1 on 2 writes 3[0+16]\npre 0[0+8] value 0\npre 1[0+8] value 1\n",
      "gathered");
  EXPECT_EQ(refusal(gathered, options_of(Mode::kSqWait, Readiness::kHandshake, 5)), "");
  EXPECT_EQ(refusal(gathered, options_of(Mode::kSqWait, Readiness::kHandshake, 4)),
            "offload: op 4 (send, rank 2): it waits for more than a queue holds");
  EXPECT_EQ(refusal(gathered, options_of(Mode::kSqWait, Readiness::kNone, 4)), "");
  EXPECT_EQ(refusal(gathered, options_of(Mode::kMqEnable, Readiness::kHandshake, 4)), "");
}

}  // namespace
}  // namespace slackline::offload
