// Which operations are posted with a signal, rule by rule.
#include "machine/run/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sched/text.h"

namespace slackline::machine {
namespace {

using ::testing::ElementsAre;

// The operations with a signal of rank 0, which sends to rank 1 on channels 0 and 1. All are of
// 8 bytes where they have any.
std::vector<std::uint32_t> signalled(const std::string& ops, const std::string& channel = "",
                                     const IssueOrder& order = {}, std::uint64_t small_bytes = 4) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 64\nbuffer 1 rank 1 bytes 64\n"
      "channel 0 from 0 to 1 " +
      channel + "\nchannel 1 from 0 to 1\nrank 0\n" + ops);
  const auto of_rank = sched::OpRange::of_rank(schedule, sched::RankId(0));
  const std::vector<bool> signals =
      signalled_operations(schedule, sched::RegionTree(schedule, of_rank), order, small_bytes);
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < signals.size(); ++i) {
    if (signals[i]) found.push_back(i);
  }
  return found;
}

const std::string kPut = " put on 0 reads 0[0+8] writes 1[0+8]";

TEST(Signals, AreAskedForByTheLastOfEachChannel) {
  const std::string other = "2 put on 1 reads 0[0+8] writes 1[8+8]\n";
  EXPECT_THAT(signalled("0" + kPut + "\n1" + kPut + "\n" + other + "3" + kPut + "\n"),
              ElementsAre(2, 3));
}

TEST(Signals, AreAskedForByWhatWaits) {
  const std::string rest = "1" + kPut + "\n2" + kPut + "\n";
  EXPECT_THAT(signalled("0" + kPut + "\n" + rest + "3 calc for 1us after done:0\n"),
              ElementsAre(0, 2));
  EXPECT_THAT(signalled("0" + kPut + "\n" + rest + "3 calc for 1us after issued:0\n"),
              ElementsAre(2));
}

TEST(Signals, EndARowBeforeWhatPostsNothing) {
  EXPECT_THAT(signalled("0" + kPut + "\n1" + kPut + "\n2 put on 0\n3" + kPut + "\n"),
              ElementsAre(1, 3));
  // A message without bytes is posted.
  EXPECT_THAT(signalled("0" + kPut + "\n1 send on 0\n2" + kPut + "\n"), ElementsAre(2));
}

TEST(Signals, AreAskedForByAtomicsAndReceives) {
  EXPECT_THAT(signalled("0 fetch_add on 0 reads 1[0+8] writes 1[0+8] operand 1\n1" + kPut + "\n2" +
                        kPut + "\n"),
              ElementsAre(0, 2));
}

TEST(Signals, AreAskedForWhereMessagesGather) {
  EXPECT_THAT(signalled("0" + kPut + "\n1" + kPut + "\n2 flush on 0\n",
                        "window 4 bundle ovfl bundle_bytes 24 bundle_delay 2us"),
              ElementsAre(0, 1));
}

TEST(Signals, AreAskedForByWhatCountsForTheBound) {
  IssueOrder bound;
  bound.sends_in_flight = 2;
  const std::string puts = "0" + kPut + "\n1" + kPut + "\n2" + kPut + "\n";
  EXPECT_THAT(signalled(puts, "", bound), ElementsAre(0, 1, 2));
  EXPECT_THAT(signalled(puts, "", bound, 8), ElementsAre(2));
}

TEST(Signals, AreAskedForInRegionsAndBeforeThem) {
  EXPECT_THAT(signalled("0" + kPut + "\n1" + kPut + "\n2" + kPut + "\n3" + kPut + "\n4" + kPut +
                        "\nregion repeat entry 2 count 2 attempts 2\n"),
              ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace slackline::machine
