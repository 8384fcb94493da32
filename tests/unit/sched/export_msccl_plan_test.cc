// How schedules are laid out on MSCCL's thread blocks and buffers, and what cannot be.
#include <gtest/gtest.h>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/export/msccl.h"
#include "sched/export/msccl_plan.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

std::string refusal(const std::string& text) {
  return testing::error_of<Unsupported>([&] { write_msccl(read_text(text)); });
}

// Rank 0 has buffers 0 and 1, rank 1 buffers 2 and 3; two channels each way.
std::string two_ranks(const std::string& rest) {
  std::string text = "slackline schedule 1\nranks 2\n";
  for (const char* buffer : {"0 rank 0", "1 rank 0", "2 rank 1", "3 rank 1"}) {
    text += std::string("buffer ") + buffer + " bytes 32\n";
  }
  return text + "channel 0 from 0 to 1\nchannel 1 from 0 to 1\nchannel 2 from 1 to 0\n" + rest;
}

TEST(MscclPlan, RefusesBlocksThatWouldWaitForEachOther) {
  // The first send of rank 0 waits for an answer to the second, which stands behind it in the
  // thread block.
  const std::string tangled = two_ranks(
      "rank 0\n"
      "0 recv on 2 writes 0[0+8]\n"
      "1 send on 0 reads 0[8+8] after done:0\n"
      "2 send on 1 reads 0[16+8]\n"
      "rank 1\n"
      "3 recv on 0 writes 2[0+8]\n"
      "4 recv on 1 writes 2[8+8]\n"
      "5 send on 2 reads 2[16+8] after done:4\n");
  EXPECT_EQ(refusal(tangled),
            "msccl-xml: op 0 (recv, rank 0) would wait for ever: thread blocks run their steps in "
            "order");
  std::string free = tangled;
  free.replace(free.find(" after done:4"), 13, "");
  EXPECT_EQ(refusal(free), "");
}

TEST(MscclPlan, ALaterStepOfTheOwnBlockCannotBeAwaited) {
  EXPECT_EQ(refusal(two_ranks("rank 0\n"
                              "0 send on 0 reads 0[8+8] after done:1\n"
                              "1 send on 1 reads 0[16+8]\n"
                              "rank 1\n"
                              "2 recv on 0 writes 2[0+8]\n"
                              "3 recv on 1 writes 2[8+8]\n")),
            "msccl-xml: op 0 (send, rank 0) waits for a later step of its own thread block");
}

TEST(MscclPlan, APairOfGpusHasOneOrder) {
  EXPECT_EQ(refusal(two_ranks("rank 0\n"
                              "0 send on 0 reads 0[8+8]\n"
                              "1 send on 1 reads 0[16+8]\n"
                              "rank 1\n"
                              "2 recv on 1 writes 2[8+8]\n"
                              "3 recv on 0 writes 2[0+8]\n")),
            "msccl-xml: op 0 (send, rank 0) is received in another order than it is sent; MSCCL "
            "keeps one order for each pair of GPUs");
}

// Rank 1 receives into one buffer and copies to another. Both have the same size.
std::string copied(const std::string& contract) {
  return two_ranks(
             "rank 0\n0 send on 0 reads 0[0+8]\n"
             "rank 1\n1 recv on 0 writes 2[0+8]\n2 copy reads 2[0+8] writes 3[8+8] after "
             "done:1\n") +
         contract;
}

TEST(MscclPlan, TheOutputIsWhatTheContractAsksFor) {
  const auto buffers = [](const std::string& contract) {
    const MscclPlan plan = plan_msccl(read_text(copied(contract)));
    const MscclStep& copy = plan.gpus[1].blocks[1].steps[0];
    return std::string{copy.source.buffer, copy.target.buffer};
  };
  EXPECT_EQ(buffers(""), "os");
  EXPECT_EQ(buffers("post 3[8+8] value 0\n"), "so");
  EXPECT_EQ(buffers("pre 3[8+8] value 0\n"), "so");
  EXPECT_EQ(buffers("pre 3[0+8] value 0\npost 3[8+8] value 0\n"), "so");
}

// The user's buffer of rank 1 stays as it is.
TEST(MscclPlan, WhatTheContractKeepsIsNotReceivedInto) {
  const MscclPlan plan = plan_msccl(
      read_text(two_ranks("rank 0\n0 send on 0 reads 0[0+8]\nrank 1\n1 recv on 0 writes 2[0+8]\n"
                          "pre 3[0+8] value 0\npost 3[0+8] value 0\n")));
  EXPECT_EQ(plan.gpus[1].blocks[0].steps[0].target.buffer, 's');
  EXPECT_EQ(plan.gpus[1].output_chunks, 0u);
}

// Scratch memory holds nothing before, and nobody gets what it holds in the end.
TEST(MscclPlan, TheContractSpeaksOfOneBufferOfARank) {
  const std::string text =
      "msccl-xml: the contract speaks of buffers {} of rank 1; an algorithm that is in place has "
      "one";
  const auto of = [&](const std::string& buffers) {
    std::string expected = text;
    return expected.replace(expected.find("{}"), 2, buffers);
  };
  EXPECT_EQ(refusal(copied("pre 2[8+8] value 0\npost 3[8+8] value 0\n")), of("3 and 2"));
  EXPECT_EQ(refusal(copied("pre 3[8+8] value 0\npost 2[8+8] value 0\n")), of("2 and 3"));
  EXPECT_EQ(refusal(copied("post 3[8+8] value 0\npost 2[8+8] value 0\n")), of("3 and 2"));
  // Rank 0 has another buffer, which no step touches.
  EXPECT_EQ(refusal(copied("pre 0[0+8] value 0\npost 1[0+8] value 1\npost 3[8+8] value 0\n")), "");
  // Each of several messages is in a buffer of its own.
  EXPECT_EQ(testing::error_of<Unsupported>([] {
              write_msccl(compile(parse_spec("chain:ranks=2,bytes=8,ready=none,messages=2")));
            }),
            "msccl-xml: the contract speaks of buffers 0 and 2 of rank 0; an algorithm that is in "
            "place has one");
}

TEST(MscclPlan, ABroadcastIsFromOneToAll) {
  const auto broadcast = [](const std::string& contract) {
    return plan_msccl(read_text(copied(contract))).broadcast;
  };
  const std::string from = "pre 0[0+32] value 0\n";
  const std::string to = "post 0[0+32] value 0\npost 3[0+32] value 0\n";
  EXPECT_TRUE(broadcast(from + to));
  EXPECT_FALSE(broadcast(from + "pre 3[0+8] value 1\n" + to));
  EXPECT_FALSE(broadcast(from + "post 3[0+32] value 0\n"));
  EXPECT_FALSE(broadcast(to));
  EXPECT_FALSE(broadcast(from + "post 0[0+16] value 0\npost 3[0+16] value 0 at 16\n"));
  EXPECT_FALSE(broadcast(from + "post 0[0+32] value 0 terms 2\npost 3[0+32] value 0 terms 2\n"));
}

// Whose user has a buffer for the whole message, and finds it there in its order.
TEST(MscclPlan, ABroadcastIsOfWholeOutputsAtTheSamePlaces) {
  const auto broadcast = [](const std::string& from, const std::string& to) {
    return plan_msccl(
               read_text(copied("pre 0[0+16] value 0\npre 0[16+" + from + "] value 1\n" + to)))
        .broadcast;
  };
  const auto at_both = [](const std::string& first, const std::string& second) {
    return "post 0" + first + " value 0\npost 0" + second + " value 1\npost 3" + first +
           " value 0\npost 3" + second + " value 1\n";
  };
  EXPECT_TRUE(broadcast("16", at_both("[0+16]", "[16+16]")));
  EXPECT_FALSE(broadcast("16", at_both("[16+16]", "[0+16]")));
  EXPECT_FALSE(broadcast("16",
                         "post 0[0+16] value 0\npost 0[16+16] value 1\n"
                         "post 3[16+16] value 0\npost 3[0+16] value 1\n"));
  EXPECT_FALSE(broadcast("8", at_both("[0+16]", "[16+8]")));
}

TEST(MscclPlan, RefusesMessagesToTheOwnGpu) {
  EXPECT_EQ(
      refusal("slackline schedule 1\nranks 1\nbuffer 0 rank 0 bytes 16\nchannel 0 from 0 to 0\n"
              "rank 0\n0 send on 0 reads 0[0+8]\n1 recv on 0 writes 0[8+8]\n"),
      "msccl-xml: op 0 (send, rank 0) is of a message to its own GPU; MSCCL's thread blocks "
      "lead to others");
}

TEST(MscclPlan, NothingIsBroadcastToOneselfAlone) {
  EXPECT_FALSE(plan_msccl(compile(parse_spec("alltoall:ranks=1,bytes=8"))).broadcast);
  EXPECT_TRUE(plan_msccl(compile(parse_spec("chain:ranks=2,bytes=8"))).broadcast);
}

TEST(MscclPlan, ChunksDivideEveryOffsetAndAllButTheLastSizes) {
  const auto chunk = [](const std::string& send, const std::string& recv) {
    return plan_msccl(read_text(two_ranks("rank 0\n0 send on 0 reads " + send +
                                          "\nrank 1\n1 recv on 0 writes " + recv + "\n")))
        .chunk_bytes;
  };
  EXPECT_EQ(chunk("0[0+32]", "2[0+32]"), 32u);
  EXPECT_EQ(chunk("0[0+8]", "2[0+8]"), 8u);
  EXPECT_EQ(chunk("0[20+12]", "2[20+12]"), 20u);  // up to the end: a last chunk may be short
  EXPECT_EQ(chunk("0[20+12]", "2[0+12]"), 4u);
  EXPECT_EQ(chunk("0[6+9]", "2[3+9]"), 3u);
}

TEST(MscclPlan, RefusesWhatHasNoStep) {
  const auto of = [](const std::string& first, const std::string& second) {
    return refusal(two_ranks("rank 0\n0 " + first + "\nrank 1\n1 " + second + "\n"));
  };
  EXPECT_EQ(of("send on 0 reads 0[0+8]", "calc for 1us"),
            "msccl-xml: op 0 (send, rank 0) has nothing that matches it");
  EXPECT_EQ(of("send on 0 reads 0[0+8]", "recv on 0 writes 2[0+16]"),
            "msccl-xml: op 0 (send, rank 0) has sides of different size; MSCCL moves whole chunks");
  EXPECT_EQ(of("send on 0 reads 0[0+8] 0[16+8]", "recv on 0 writes 2[0+16]"),
            "msccl-xml: op 0 (send, rank 0) has pieces that are not contiguous; an MSCCL step has "
            "one");
  EXPECT_EQ(of("send on 0 reads 0[0+8] 1[8+8]", "recv on 0 writes 2[0+16]"),
            "msccl-xml: op 0 (send, rank 0) has pieces that are not contiguous; an MSCCL step has "
            "one");
  const std::string count = "recv on 0 writes 2[0+8]\n2 reduce reads 2[8+8] 2[0+8] writes 2[8+8]";
  EXPECT_EQ(of("send on 0 reads 0[0+8]", count + " after done:1"), "");
  EXPECT_EQ(of("send on 0 reads 0[0+8]", count + " for 1us after done:1"),
            "msccl-xml: op 2 (reduce, rank 1) has a time of its own, as what counts has; MSCCL's "
            "`re` has none");
  EXPECT_EQ(of("send on 0 reads 0[0+8] 0[8+8]", "recv on 0 writes 2[0+16]"), "");
  EXPECT_EQ(of("put on 0 imm reads 0[0+8] writes 2[8+8]", "recv on 0"), "");
  EXPECT_EQ(of("put on 0 reads 0[0+8] writes 2[8+8]", "join"),
            "msccl-xml: op 0 (put, rank 0) has no counterpart in MSCCL");
}

TEST(MscclPlan, ReducesOneOperandIntoAnother) {
  const auto of = [](const std::string& pieces) {
    return refusal(two_ranks("rank 0\n0 reduce " + pieces + "\n"));
  };
  EXPECT_EQ(of("reads 0[0+8] 0[8+8] writes 0[0+8]"), "");
  EXPECT_EQ(of("reads 0[8+8] 0[0+8] writes 0[0+8]"), "");
  const std::string other =
      "msccl-xml: op 0 (reduce, rank 0) does not combine one operand into another in place; "
      "MSCCL's `re` does only that";
  EXPECT_EQ(of("reads 0[8+8] 0[16+8] writes 0[0+8]"), other);
  EXPECT_EQ(of("reads 0[0+8] writes 0[0+8]"), other);
  EXPECT_EQ(of("reads 0[0+8] 0[8+8] 0[16+8] writes 0[0+8]"), other);
  for (const char* pieces :
       {"reads 0[0+8] 0[8+8] writes 0[0+8]", "reads 0[8+8] 0[0+8] writes 0[0+8]"}) {
    const MscclPlan plan =
        plan_msccl(read_text(two_ranks(std::string("rank 0\n0 reduce ") + pieces + "\n")));
    EXPECT_EQ(plan.gpus[0].blocks[0].steps[0].source.offset, 1u);
    EXPECT_EQ(plan.gpus[0].blocks[0].steps[0].target.offset, 0u);
  }
}

// One message of `chunks` chunks of a byte: one of a byte goes before it.
std::string long_message(int chunks) {
  const std::string piece = "[1+" + std::to_string(chunks) + "]\n";
  return "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 100\nbuffer 1 rank 1 bytes 100\n"
         "channel 0 from 0 to 1\nrank 0\n0 send on 0 reads 0[0+1]\n1 send on 0 reads 0" +
         piece + "rank 1\n2 recv on 0 writes 1[0+1]\n3 recv on 0 writes 1" + piece;
}

TEST(MscclPlan, AStepHasSeventyOneChunks) {
  EXPECT_EQ(refusal(long_message(71)), "");
  EXPECT_EQ(refusal(long_message(72)),
            "msccl-xml: op 1 (send, rank 0) moves 72 chunks of 1 bytes in one step; MSCCL's limit "
            "is 71");
}

// A rank that sends to `peers` others.
std::string star(int peers) {
  std::string text = "slackline schedule 1\nranks " + std::to_string(peers + 1) + "\n";
  for (int r = 0; r <= peers; ++r) {
    text += "buffer " + std::to_string(r) + " rank " + std::to_string(r) + " bytes 1\n";
  }
  std::string sends = "rank 0\n";
  std::string receives;
  for (int k = 0; k < peers; ++k) {
    const std::string number = std::to_string(k);
    const std::string rank = std::to_string(k + 1);
    text += "channel " + number + " from 0 to " + rank + "\n";
    sends += number + " send on " + number + " reads 0[0+1]\n";
    receives += "rank " + rank + "\n" + std::to_string(peers + k) + " recv on " + number +
                " writes " + rank + "[0+1]\n";
  }
  return text + sends + receives;
}

TEST(MscclPlan, AGpuHasThirtyTwoBlocks) {
  EXPECT_EQ(refusal(star(32)), "");
  EXPECT_NE(refusal(star(33)), "");
}

}  // namespace
}  // namespace slackline::sched
