// Which messages there are, what each needs and in which order they go, of schedules small enough
// to tell by hand.
#include "offload/message_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::offload {
namespace {

const std::string kHead =
    "slackline schedule 1\nranks 3\nbuffer 0 rank 0 bytes 64\nbuffer 1 rank 1 bytes 64\n"
    "buffer 2 rank 2 bytes 64\nchannel 0 from 0 to 1\nchannel 1 from 1 to 2\n";

using Numbers = std::vector<std::uint32_t>;

Numbers order_of(const MessageGraph& graph) {
  Numbers all;
  for (const MessageId id : graph.order()) all.push_back(graph.message(id).source.value);
  return all;
}

Numbers needs_of(const MessageGraph& graph, std::uint32_t op) {
  Numbers all;
  for (const sched::OpId need : graph.needs(graph.of(sched::OpId(op)))) all.push_back(need.value);
  return all;
}

// Rank 0 sends in steps `first` and `second` on one channel; rank 1 relays what came first in step
// 3, reading `reads`.
MessageGraph relay(const std::string& first, const std::string& second,
                   const std::string& reads = "1[0+8B]", const std::string& after = "") {
  return MessageGraph(sched::read_text(
      kHead + "rank 0\n  0 send step " + first + " on 0 reads 0[0+8B]\n  1 send step " + second +
          " on 0 reads 0[8+8B]\nrank 1\n  2 recv step " + first +
          " on 0 writes 1[0+8B]\n  3 recv step " + second +
          " on 0 writes 1[8+8B]\n  4 send step 3 on 1 reads " + reads + after +
          "\nrank 2\n  5 recv step 3 on 1 writes 2[0+8B]\n",
      "s"));
}

// A message goes no earlier than the one ahead of it on its channel, whatever its step says.
TEST(MessageGraph, ChannelsKeepTheirOrder) {
  EXPECT_EQ(order_of(relay("1", "2")), (Numbers{0, 1, 4}));
  EXPECT_EQ(order_of(relay("2", "4")), (Numbers{0, 4, 1}));
  EXPECT_EQ(order_of(relay("5", "1")), (Numbers{0, 4, 1}));
}

// A relay needs every receive that lands where it reads, up to the byte; of a channel the last.
TEST(MessageGraph, NeedsAreWhereItReads) {
  EXPECT_EQ(needs_of(relay("1", "2"), 4), (Numbers{2}));
  EXPECT_EQ(needs_of(relay("1", "2"), 0), Numbers{});
  EXPECT_EQ(needs_of(relay("1", "2", "1[8+8B]"), 4), (Numbers{3}));
  EXPECT_EQ(needs_of(relay("1", "2", "1[7+1B]"), 4), (Numbers{2}));
  EXPECT_EQ(needs_of(relay("1", "2", "1[7+2B]"), 4), (Numbers{3}));
  EXPECT_EQ(needs_of(relay("1", "2", "1[15+8B]"), 4), (Numbers{3}));
  EXPECT_EQ(needs_of(relay("1", "2", "1[16+8B]"), 4), Numbers{});
  // What the schedule says beside it, but not a receive that is only posted.
  EXPECT_EQ(needs_of(relay("1", "2", "1[16+8B]", " after done:2"), 4), (Numbers{2}));
  EXPECT_EQ(needs_of(relay("1", "2", "1[16+8B]", " after issued:2"), 4), Numbers{});
  EXPECT_EQ(needs_of(relay("1", "2", "1[0+8B]", " after done:3"), 4), (Numbers{3}));
}

TEST(MessageGraph, MessagesAreBothEnds) {
  const MessageGraph graph = relay("1", "2");
  ASSERT_EQ(graph.messages().size(), 3u);
  const Message& m = graph.messages()[2];
  EXPECT_EQ(m.source, sched::OpId(4));
  EXPECT_EQ(m.receive, sched::OpId(5));
  EXPECT_EQ(m.src, sched::RankId(1));
  EXPECT_EQ(m.dst, sched::RankId(2));
  EXPECT_EQ(m.step, 3u);
  EXPECT_EQ(graph.of(sched::OpId(4)), graph.of(sched::OpId(5)));
  EXPECT_FALSE(graph.previous(graph.of(sched::OpId(0))).valid());
  EXPECT_EQ(graph.previous(graph.of(sched::OpId(1))), graph.of(sched::OpId(0)));
  EXPECT_FALSE(graph.previous(graph.of(sched::OpId(4))).valid());
  // Four steps: the last may go in step 3; what comes before it, and the next of its rank, a step
  // earlier each.
  EXPECT_EQ(m.latest, 3u);
  EXPECT_EQ(graph.messages()[1].latest, 3u);
  EXPECT_EQ(graph.messages()[0].latest, 2u);
}

// Work may be grouped by step where each message needs only what came at earlier ones.
TEST(MessageGraph, SaysWhetherStepsGroupTheWork) {
  EXPECT_TRUE(relay("1", "2").by_steps());
  EXPECT_TRUE(relay("1", "1").by_steps());
  EXPECT_TRUE(relay("2", "2").by_steps());
  EXPECT_FALSE(relay("3", "3").by_steps());  // what the relay of step 3 needs
  EXPECT_FALSE(relay("2", "1").by_steps());  // behind a later one on its channel
  const auto ends = [](const std::string& receive) {
    return MessageGraph(sched::read_text(kHead + "rank 0\n  0 send step 1 on 0 reads 0[0+8B]\n" +
                                             "rank 1\n  1 recv step " + receive +
                                             " on 0 writes 1[0+8B]\n",
                                         "s"))
        .by_steps();
  };
  EXPECT_TRUE(ends("1"));
  EXPECT_FALSE(ends("2"));
  EXPECT_FALSE(ends("0"));
}

// An empty piece stands nowhere, and hides nothing that stands before it.
TEST(MessageGraph, EmptyPiecesHideNothing) {
  const auto needs = [](const std::string& reads) {
    return needs_of(
        MessageGraph(sched::read_text(
            kHead + "rank 0\n  0 send on 0 reads 0[0+8B]\n  1 send on 0 reads 0[8+0B]\nrank 1\n" +
                "  2 recv on 0 writes 1[0+8B]\n  3 recv on 0 writes 1[4+0B]\n  4 send on 1 reads " +
                reads + "\nrank 2\n  5 recv on 1 writes 2[0+8B]\n",
            "s")),
        4);
  };
  EXPECT_EQ(needs("1[0+8B]"), (Numbers{2}));
  EXPECT_EQ(needs("1[4+1B]"), (Numbers{2}));
  EXPECT_EQ(needs("1[5+1B]"), (Numbers{2}));
}

// A message of a barrier waits for sends, too; others do not, whether a join stands between or not.
TEST(MessageGraph, OnlyBarriersNeedSends) {
  const auto needs = [](const std::string& channel, const std::string& after) {
    return needs_of(
        MessageGraph(sched::read_text(
            "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 64\nbuffer 1 rank 1 bytes 64\n"
            "channel 0 from 0 to 1\nchannel 1 from 0 to 1 credit_on 1\nchannel 2 from 1 to 0\n"
            "channel 3 from 0 to 1\nrank 0\n  0 send on 0 reads 0[0+8B]\n"
            "  1 send on 0 reads 0[8+8B]\n  2 recv on 2 writes 0[32+8B]\n"
            "  3 join after done:0 done:2\n  4 send on " +
                channel + " after " + after +
                "\nrank 1\n  5 recv on 0 writes 1[0+8B]\n  6 recv on 0 writes 1[8+8B]\n"
                "  7 send on 2 reads 1[32+8B]\n  8 recv on " +
                channel + "\n",
            "s")),
        4);
  };
  EXPECT_EQ(needs("1", "done:0"), (Numbers{0}));
  EXPECT_EQ(needs("1", "done:1 done:0"), (Numbers{1}));
  EXPECT_EQ(needs("1", "issued:0"), Numbers{});
  EXPECT_EQ(needs("1", "done:3"), (Numbers{0, 2}));
  EXPECT_EQ(needs("1", "done:3 done:1"), (Numbers{1, 2}));
  EXPECT_EQ(needs("3", "done:0"), Numbers{});
  EXPECT_EQ(needs("3", "done:2"), (Numbers{2}));
  EXPECT_EQ(needs("3", "done:3"), (Numbers{2}));
}

TEST(MessageGraph, WhatWaitsInACircleIsRefused) {
  EXPECT_EQ(
      testing::error_of([&] {
        MessageGraph(sched::read_text(
            "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 64\nbuffer 1 rank 1 bytes 64\n"
            "channel 0 from 0 to 1\nchannel 1 from 1 to 0\nrank 0\n  0 recv on 1 writes 0[8+8B]\n"
            "  1 send on 0 reads 0[0+8B] after done:0\nrank 1\n  2 recv on 0 writes 1[8+8B]\n"
            "  3 send on 1 reads 1[0+8B] after done:2\n",
            "s"));
      }),
      "offload: op 1 (send, rank 0) waits in a circle; expected a schedule that check "
      "proves");
}

}  // namespace
}  // namespace slackline::offload
