// Which message meets which receive on channels with operations in regions.
#include "machine/meetings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sched/text.h"

namespace slackline::machine {
namespace {

using sched::OpId;

// Two sends, the second in a region, and a receive of both; beside them a pair on a channel without
// regions, and a put with a flag whose poll stands in a region.
sched::Schedule mixed(const std::string& regions) {
  return sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 8\n"
      "channel 0 from 0 to 1\nchannel 1 from 0 to 1\n"
      "rank 0\n"
      "0 send on 0\n"
      "1 send on 0\n"
      "2 send on 1\n"
      "3 put on 1 flag reads 0[0+8] writes 1[0+8]\n"
      "4 calc for 1us\n"
      "rank 1\n"
      "5 recv on 0\n"
      "6 recv on 0\n"
      "7 recv on 1\n"
      "8 poll reads 1[0+8] sees 3\n" +
      regions);
}

std::string held(const sched::Schedule& schedule) {
  const sched::RegionTree tree(schedule);
  const Meetings meetings(schedule, tree);
  std::string numbers;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    if (meetings.holds(OpId(i))) numbers += std::to_string(i);
  }
  return numbers;
}

TEST(Meetings, HoldEveryOperationOfAChannelWithRegions) {
  EXPECT_EQ(held(mixed("")), "");
  EXPECT_EQ(held(mixed("region repeat entry 4 count 1 attempts 2\n")), "");
  EXPECT_EQ(held(mixed("region repeat entry 1 count 1 attempts 2\n")), "0156");
  EXPECT_EQ(held(mixed("region repeat entry 6 count 1 attempts 2\n")), "0156");
  EXPECT_EQ(held(mixed("region repeat entry 2 count 1 attempts 2\n")), "27");
  EXPECT_EQ(held(mixed("region repeat entry 3 count 1 attempts 2\n")), "38");
  EXPECT_EQ(held(mixed("region repeat entry 8 count 1 attempts 2\n")), "38");
  EXPECT_EQ(held(mixed("region repeat entry 1 count 3 attempts 2\n")), "01235678");
}

TEST(Meetings, TheKthMessageMeetsTheKthReceive) {
  const sched::Schedule schedule = mixed("region repeat entry 0 count 2 attempts 9\n");
  const sched::RegionTree tree(schedule);
  std::mt19937_64 random(5);
  for (int n = 0; n < 200; ++n) {
    Meetings meetings(schedule, tree);
    std::deque<std::pair<std::size_t, OpId>> sent;  // the number of the message, and its source
    std::vector<double> arrival_s(20, INFINITY);
    std::vector<OpId> source(20);
    std::vector<OpId> receive(20);
    std::size_t sources = 0;
    std::size_t receives = 0;
    while (receives < 20 || sources < 20 || !sent.empty()) {
      const std::uint64_t turn = random() % 3;
      if (turn == 0 && sources < 20 && sent.size() < 2) {
        // One of the two that is not under way.
        const OpId op(sent.empty() ? static_cast<std::uint32_t>(random() % 2)
                                   : 1 - sent.front().second.value);
        meetings.initiated(op);
        source[sources] = op;
        sent.emplace_back(sources++, op);
      } else if (turn == 1 && receives < 20) {
        const OpId op(static_cast<std::uint32_t>(5 + random() % 2));
        const auto met = meetings.posted(op);
        ASSERT_EQ(met.has_value(), std::isfinite(arrival_s[receives]));
        if (met) {
          ASSERT_EQ(met->arrival_s, arrival_s[receives]);
          ASSERT_EQ(met->source, source[receives]);
        }
        receive[receives++] = op;
      } else if (turn == 2 && !sent.empty()) {
        if (random() % 2 == 0) std::swap(sent.front(), sent.back());
        const auto [number, op] = sent.front();
        sent.pop_front();
        arrival_s[number] = static_cast<double>(number) + 0.5;
        ASSERT_EQ(meetings.arrived(op, arrival_s[number]), receive[number]);
      }
    }
  }
}

TEST(Meetings, QueuesDoNotMix) {
  const sched::Schedule schedule = mixed("region repeat entry 1 count 3 attempts 2\n");
  const sched::RegionTree tree(schedule);
  Meetings meetings(schedule, tree);
  for (const std::uint32_t op : {3, 2, 0}) meetings.initiated(OpId(op));
  EXPECT_FALSE(meetings.posted(OpId(7)).has_value());
  EXPECT_EQ(meetings.arrived(OpId(3), 1), OpId::none());
  EXPECT_EQ(meetings.arrived(OpId(0), 2), OpId::none());
  EXPECT_EQ(meetings.posted(OpId(8))->source, OpId(3));
  EXPECT_EQ(meetings.posted(OpId(5))->source, OpId(0));
  EXPECT_EQ(meetings.arrived(OpId(2), 3), OpId(7));
}

}  // namespace
}  // namespace slackline::machine
