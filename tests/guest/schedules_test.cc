// Schedules carried out over verbs by real processes: every rank proves its bytes, and the times
// are a legal order of the schedule's events.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "hw/run.h"
#include "hw/verbs/transport.h"
#include "sched/compile.h"
#include "tests/hw/dataflow.h"
#include "tests/hw/legal_order.h"
#include "tests/hw/local_ranks.h"
#include "tests/hw/racing_schedules.h"
#include "tests/support/collective_specs.h"

namespace slackline {
namespace {

void run_and_prove(const sched::Schedule& schedule) {
  const auto reports = testing::run_locally(
      schedule, [] { return hw::make_verbs_transport({}); }, std::chrono::seconds(60));
  for (std::size_t r = 0; r < reports.size(); ++r) {
    EXPECT_EQ(reports[r].error, "") << "rank " << r;
    EXPECT_EQ(reports[r].transport, r == 0 ? "verbs" : reports[0].transport);
  }
  // On a reliable connection no send is acknowledged before its receive is posted.
  if (!::testing::Test::HasFailure()) testing::expect_legal_order(schedule, reports, true);
}

void run_and_prove(const std::string& spec) {
  SCOPED_TRACE(spec);
  run_and_prove(sched::compile(sched::parse_spec(spec)));
}

constexpr const char* kPatterns[] = {"sequential",  "chain",       "binomial-tree",
                                     "binary-tree", "double-tree", "binomial-pipeline",
                                     "hybrid",      "circulant",   "scatter-allgather"};

TEST(Schedules, EveryPatternProvesItsBytesForEveryNumberOfRanks) {
  // Sizes and numbers of blocks change along the way: 1 to 32 of them, short last ones among them.
  constexpr const char* kSizes[] = {"bytes=1000,block=1000",    "bytes=1001,block=500",
                                    "bytes=12345,block=1000",   "bytes=20000,block=640",
                                    "bytes=300007,block=65536", "bytes=32,block=1"};
  std::size_t size = 0;
  for (const char* const pattern : kPatterns) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      for (int turn = 0; turn < 2; ++turn) {
        run_and_prove(std::string(pattern) + ":ranks=" + std::to_string(ranks) + "," +
                      kSizes[size++ % std::size(kSizes)]);
        if (HasFailure()) return;
      }
    }
    size += 3;
  }
}

TEST(Schedules, EveryOptionProvesItsBytes) {
  constexpr const char* kSizes[] = {"bytes=0,block=64", "bytes=1,block=64",
                                    "bytes=12345,block=1000", "bytes=200003,block=65536"};
  std::size_t size = 0;
  for (const char* const pattern : {"chain", "binomial-pipeline", "circulant", "double-tree"}) {
    for (const char* const options : {",lower=put", ",ready=write", ",lower=put,ready=write",
                                      ",ready=none", ",lower=put,ready=none", ",order=lockstep"}) {
      run_and_prove(std::string(pattern) + ":ranks=4," + kSizes[size++ % std::size(kSizes)] +
                    options);
      if (HasFailure()) return;
    }
    ++size;
  }
}

TEST(Schedules, EveryCollectiveProvesItsBytes) {
  for (const char* const spec : testing::kCollectiveSpecs) {
    run_and_prove(spec);
    if (HasFailure()) return;
  }
}

TEST(Schedules, FlagsInRingsAreUsedAgain) {
  run_and_prove("ring-buffer:ranks=4,bytes=100,messages=50,slots=4");
  run_and_prove("ring-buffer:ranks=3,bytes=5001,messages=20,slots=2,consume=in-place");
  run_and_prove("table-multicast:ranks=4,bytes=100,messages=50,slots=4,batch=2");
  run_and_prove("table-multicast:ranks=3,bytes=5001,messages=20,slots=2,delivery=stable");
  run_and_prove("table-multicast:ranks=3,bytes=100,messages=20,slots=2,senders=3,delivery=stable");
}

TEST(Schedules, GetsAtomicsAndTheirResults) { run_and_prove(testing::dataflow(sched::ValueId(0))); }

// Swaps until they succeed, tickets, a lock, and bitwise atomics, which verbs makes of swaps: ranks
// race, and nothing is lost.
TEST(Schedules, RegionsRaceForWordsAndLoseNothing) {
  constexpr std::uint32_t kRanks = 3;
  const auto run_and_judge = [](const sched::Schedule& schedule, auto&& judge) {
    const auto reports = testing::run_locally(
        schedule, [] { return hw::make_verbs_transport({}); }, std::chrono::seconds(60));
    std::vector<hw::RankRecord> records;
    for (const testing::RankReport& report : reports) {
      EXPECT_EQ(report.error, "");
      records.push_back({report.times, report.results, report.memory});
    }
    if (::testing::Test::HasFailure()) return;
    EXPECT_EQ(judge(schedule, hw::assemble_trace(schedule, "verbs", records)), "");
  };
  run_and_judge(testing::tickets(kRanks, 10), testing::judge_tickets);
  run_and_judge(testing::locked_counter(kRanks, 5), testing::judge_locked_counter);
  run_and_judge(testing::own_bits(kRanks, 5), testing::judge_own_bits);
  run_and_judge(testing::swapped_counter(kRanks, 5), testing::judge_swapped_counter);
}

TEST(Schedules, MoreIsPostedThanAQueuePairHolds) {
  run_and_prove("chain:ranks=3,bytes=20000,block=10,ready=none,in-flight=0");
  run_and_prove("chain:ranks=2,bytes=20000,block=10,lower=put,ready=none,in-flight=0");
}

}  // namespace
}  // namespace slackline
