#include "machine/workload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "machine/workload_result.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::machine {
namespace {

using sched::RankId;
using sched::Time;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Workload read(const std::string& text) { return workload_from_toml(text, "w.toml"); }

std::string error_of(const std::string& text) {
  return testing::error_of([&] { read(text); });
}

std::vector<std::uint32_t> values(const std::vector<RankId>& ranks) {
  std::vector<std::uint32_t> result;
  for (const RankId rank : ranks) result.push_back(rank.value);
  return result;
}

const char* const kGroup = R"(
ranks = 8
[[group]]
name = "a"
ranks = [0, 3, 5, 7]
schedule = "binomial-pipeline:block=1MiB,window=2"
bytes = "3MiB"
)";

TEST(Workload, ReadsAGroup) {
  const Workload w = read(std::string(kGroup) + "messages = 3\nstart = \"5us\"\n");
  EXPECT_EQ(w.ranks, 8u);
  EXPECT_EQ(w.seed, 0u);
  ASSERT_EQ(w.groups.size(), 1u);
  EXPECT_EQ(w.groups[0].name, "a");
  EXPECT_THAT(values(w.groups[0].ranks), ElementsAre(0, 3, 5, 7));
  EXPECT_EQ(w.groups[0].root, RankId(0));
  EXPECT_TRUE(w.groups[0].closed);
  EXPECT_EQ(spec_of(w.groups[0], 5), "binomial-pipeline:ranks=4,bytes=5,window=2");
  ASSERT_EQ(w.messages.size(), 3u);
  for (const WorkloadMessage& message : w.messages) {
    EXPECT_EQ(message.group, 0u);
    EXPECT_EQ(message.arrival, Time{5'000'000});
    EXPECT_EQ(message.bytes, 3u << 20);
  }
}

TEST(Workload, TakesBytesFromTheSpec) {
  const Workload w = read(
      "ranks = 4\n[[group]]\nranks = \"1-3\"\nschedule = \"chain:root=2,bytes=7KB,block=1KB\"\n");
  EXPECT_THAT(values(w.groups[0].ranks), ElementsAre(1, 2, 3));
  EXPECT_EQ(w.groups[0].root, RankId(2));
  EXPECT_EQ(w.groups[0].pattern, "chain:root=2,block=1KB");
  ASSERT_EQ(w.messages.size(), 1u);
  EXPECT_EQ(w.messages[0].bytes, 7000u);
}

TEST(Workload, ReadsArrivalsBetweenMessages) {
  const Workload w = read(std::string(kGroup) +
                          "messages = 4\nstart = \"1us\"\n"
                          "arrivals = { distribution = \"constant\", every = \"2us\" }\n");
  EXPECT_FALSE(w.groups[0].closed);
  std::vector<std::int64_t> arrivals;
  for (const WorkloadMessage& message : w.messages) arrivals.push_back(message.arrival.count());
  EXPECT_THAT(arrivals, ElementsAre(1'000'000, 3'000'000, 5'000'000, 7'000'000));
}

TEST(Workload, DrawsArrivalsWithTheirMean) {
  for (const char* how : {R"(distribution = "exponential", mean = "3ms")",
                          R"(distribution = "uniform", low = "2ms", high = "4ms")",
                          R"(distribution = "lognormal", median = "2ms", mean = "3ms")"}) {
    const Workload w = read(fmt::format("{}messages = 20000\narrivals = {{ {} }}\n", kGroup, how));
    EXPECT_EQ(w.messages.front().arrival, Time{0});
    const double mean_s = sched::seconds(w.messages.back().arrival) / 19'999;
    EXPECT_NEAR(mean_s, 3e-3, 1e-4) << how;
    EXPECT_TRUE(std::is_sorted(w.messages.begin(), w.messages.end(),
                               [](const auto& a, const auto& b) { return a.arrival < b.arrival; }));
  }
}

const char* const kReplicas = R"(
ranks = 16
seed = 4
[[groups]]
choose = 3
from = "1-15"
root = 0
schedule = "binomial-pipeline:block=1MiB"
sizes = { distribution = "lognormal", median = "12MB", mean = "29MB", min = "100B", max = "900MB" }
writes = 20000
arrivals = { distribution = "exponential", mean = "3ms" }
)";

TEST(Workload, GeneratesEveryChoiceOfReplicas) {
  const Workload w = read(kReplicas);
  ASSERT_EQ(w.groups.size(), 455u);
  std::set<std::vector<std::uint32_t>> seen;
  for (const WorkloadGroup& group : w.groups) {
    const std::vector<std::uint32_t> ranks = values(group.ranks);
    ASSERT_EQ(ranks.size(), 4u);
    EXPECT_EQ(ranks[0], 0u);
    EXPECT_TRUE(1 <= ranks[1] && ranks[1] < ranks[2] && ranks[2] < ranks[3] && ranks[3] <= 15);
    EXPECT_TRUE(seen.insert(ranks).second);
    EXPECT_EQ(group.name, fmt::format("{}+{}+{}", ranks[1], ranks[2], ranks[3]));
  }
  ASSERT_EQ(w.messages.size(), 20'000u);
  std::vector<int> of_group(455, 0);
  std::vector<std::uint64_t> sizes;
  double sum = 0;
  for (const WorkloadMessage& message : w.messages) {
    ++of_group[message.group];
    sizes.push_back(message.bytes);
    sum += static_cast<double>(message.bytes);
  }
  // 44 on average, and a deviation of 6.6.
  EXPECT_GT(*std::min_element(of_group.begin(), of_group.end()), 44 - 5 * 6.6);
  EXPECT_LT(*std::max_element(of_group.begin(), of_group.end()), 44 + 5 * 6.6);
  std::sort(sizes.begin(), sizes.end());
  EXPECT_GE(sizes.front(), 100u);
  EXPECT_LE(sizes.back(), 900'000'000u);
  EXPECT_NEAR(static_cast<double>(sizes[10'000]), 12e6, 0.5e6);
  EXPECT_NEAR(sum / 20'000, 29e6, 2e6);  // a little is cut off at 900 MB
}

TEST(Workload, DependsOnItsSeedAlone) {
  const auto same = [](const Workload& a, const Workload& b) {
    return std::equal(a.messages.begin(), a.messages.end(), b.messages.begin(), b.messages.end(),
                      [](const WorkloadMessage& x, const WorkloadMessage& y) {
                        return x.group == y.group && x.arrival == y.arrival && x.bytes == y.bytes;
                      });
  };
  EXPECT_TRUE(same(read(kReplicas), read(kReplicas)));
  EXPECT_TRUE(same(read(kReplicas), workload_from_toml(kReplicas, "other.toml", 4)));
  EXPECT_FALSE(same(read(kReplicas), workload_from_toml(kReplicas, "w.toml", 5)));
}

// As it was first drawn: the same on every machine.
TEST(Workload, IsPinned) {
  const Workload w = read(kReplicas);
  std::uint64_t bytes = 0;
  std::uint64_t groups = 0;
  for (const WorkloadMessage& message : w.messages) {
    bytes += message.bytes;
    groups = groups * 31 + message.group;
  }
  EXPECT_EQ(bytes, 571019782499u);
  EXPECT_EQ(groups, 9202657316956091467u);
  EXPECT_EQ(w.messages.back().arrival.count(), 59489406720840);
}

TEST(Workload, TakesTurnsAtOnce) {
  const Workload w = read(R"(
ranks = 4
[[group]]
ranks = [0, 1]
schedule = "chain"
bytes = "1KB"
messages = 3
[[group]]
ranks = [0, 2]
schedule = "chain"
bytes = "2KB"
messages = 2
)");
  std::vector<std::uint32_t> order;
  for (const WorkloadMessage& message : w.messages) order.push_back(message.group);
  EXPECT_THAT(order, ElementsAre(0, 1, 0, 1, 0));
}

TEST(Workload, ReadsListsBesideItsFile) {
  const slackline::testing::TempFolder folder;
  folder.write("arrivals.txt", "# of one day\n1us\n\n  2.5us # late\r\n2500ns\n1ms");
  folder.write("sizes.txt", "1KiB\n2KiB\n7\n");
  const std::string text = R"(
ranks = 3
[[group]]
ranks = [0, 1, 2]
schedule = "chain"
sizes = { file = "sizes.txt" }
start = "1us"
arrivals = { file = "arrivals.txt" }
)";
  const Workload w = load_workload(folder.write("w.toml", text));
  std::vector<std::int64_t> arrivals;
  std::vector<std::uint64_t> sizes;
  for (const WorkloadMessage& message : w.messages) {
    arrivals.push_back(message.arrival.count());
    sizes.push_back(message.bytes);
  }
  EXPECT_THAT(arrivals, ElementsAre(2'000'000, 3'500'000, 3'500'000, 1'001'000'000));
  EXPECT_THAT(sizes, ElementsAre(1024, 2048, 7, 1024));
  EXPECT_EQ(load_workload(folder.write("w.toml", text + "messages = 2\n")).messages.size(), 2u);

  const auto fails = [&](const std::string& contents) -> std::string {
    return testing::error_of([&] { load_workload(folder.write("w.toml", contents)); });
  };
  EXPECT_THAT(fails(text + "messages = 5\n"), HasSubstr("the file has 4 times; expected 5"));
  folder.write("arrivals.txt", "1us\n3us\n2us\n");
  EXPECT_THAT(fails(text), HasSubstr("arrivals.txt:3: 2us stands after 3us; expected times in"));
  folder.write("arrivals.txt", "soon\n");
  EXPECT_THAT(fails(text), HasSubstr("arrivals.txt:1: "));
  folder.write("arrivals.txt", "# nothing\n");
  EXPECT_THAT(fails(text), HasSubstr("no time stands there"));
  folder.write("sizes.txt", "-4\n");
  EXPECT_THAT(fails(text), HasSubstr("sizes.txt:1: "));
  folder.write("sizes.txt", "");
  EXPECT_THAT(fails(text), HasSubstr("no size stands there"));
  std::filesystem::remove(folder.path("sizes.txt"));
  EXPECT_THAT(fails(text), HasSubstr("sizes.txt"));
}

struct Wrong {
  std::string text;
  std::string part;
};

TEST(Workload, SaysWhatIsWrong) {
  const std::string group = kGroup;
  const std::string ranks4 = "ranks = 4\n[[group]]\n";
  const std::string lognormal = "schedule = \"chain\"\nranks = [0, 1]\nsizes = { ";
  const std::string generator =
      "ranks = 9\n[[groups]]\nschedule = \"chain:bytes=1\"\nwrites = 3\nroot = 0\n";
  const std::vector<Wrong> table = {
      {"", "w.toml:1: no ranks stand here"},
      {"ranks = 4", "w.toml:1: no group stands here; expected tables headed [[group]]"},
      {"ranks = 0", "w.toml:1: ranks: 0; expected at least 1"},
      {"schema = 2\nranks = 4", "schema: 2 is newer than any"},
      {"ranks = 16777217", "expected a whole number from 0 to 16777216"},
      {"ranks = 4\nrank = 3\n[[group]]\n", "unknown key 'rank'"},
      {ranks4, "no ranks stand here; expected a list"},
      {ranks4 + "ranks = []", "group.ranks: no ranks; expected a list"},
      {ranks4 + "ranks = [0, 4]", "w.toml:3: group.ranks: 4 is no rank; expected 0 to 3"},
      {ranks4 + "ranks = [0, -1]", "-1 is no rank"},
      {ranks4 + "ranks = [0, 2, 0]", "rank 0 stands twice; expected it once"},
      {ranks4 + "ranks = [0, \"1\"]", "an entry is no whole number"},
      {ranks4 + "ranks = \"2-4\"", "group.ranks: '4' is not a whole number from 2 to 3"},
      {ranks4 + "ranks = \"2-1\"", "'1' is not a whole number from 2 to 3"},
      {ranks4 + "ranks = \"2\"", "'2'; expected a list such as"},
      {ranks4 + "ranks = 2", "another type of value; expected a list"},
      {ranks4 + "ranks = [0]\n", "no schedule stands here; expected a spec such as"},
      {ranks4 + "ranks = [0]\nschedule = \"chian\"", "group.schedule: unknown pattern 'chian'"},
      {ranks4 + "ranks = [0]\nschedule = \"chain:ranks=1\"", "the spec has ranks; expected none"},
      {ranks4 + "ranks = [0]\nschedule = \"chain:block=0\"", "group.schedule: block: 0 bytes"},
      {ranks4 + "ranks = [0]\nschedule = \"chain:root=1\"", "group.schedule: root: '1' is not"},
      {ranks4 + "ranks = [0]\nschedule = \"chain\"", "neither bytes nor sizes stand here"},
      {ranks4 + "ranks = [0]\nschedule = \"chain:bytes=x\"", "group.schedule: bytes: 'x' is not"},
      {ranks4 + "ranks = [0]\nschedule = \"chain:bytes=1,bytes=2\"", "bytes: given twice"},
      {ranks4 + "ranks = [0]\nschedule = \"chain:bytes=1\"\nbytes = \"2\"",
       "the spec has bytes, and so has the group"},
      {group + "sizes = { distribution = \"uniform\" }", "both bytes and sizes stand here"},
      {group + "messages = 0", "group.messages: 0; expected at least 1"},
      {group + "messages = -1", "expected a whole number from 0"},
      {group + "messages = 99999999", "expected a whole number from 0 to 4194304"},
      {group + "colour = 1", "unknown key 'colour' in [group]"},
      {group + "start = \"-1us\"", "group.start: "},
      {group + "start = \"9223372036854775807ps\"", "is too long; expected less"},
      {group + "arrivals = \"open\"", "group.arrivals: 'open'; expected \"closed\" or a table"},
      {group + "arrivals = 3", "expected a table headed [arrivals]"},
      {group + "arrivals = { mean = \"1us\" }", "neither distribution nor file stands here"},
      {group + "arrivals = { distribution = \"poisson\" }", "'poisson'; expected exponential, "},
      {group + "arrivals = { distribution = \"exponential\" }", "no mean stands here"},
      {group + "arrivals = { distribution = \"constant\", every = \"1us\", mean = \"1us\" }",
       "unknown key 'mean' in [arrivals]"},
      {group + "arrivals = { distribution = \"uniform\", low = \"2us\", high = \"1us\" }",
       "expected low at most high"},
      {group + "arrivals = { file = \"\" }", "arrivals.file: no path"},
      {group + "messages = 9\narrivals = { distribution = \"constant\", every = \"9000000s\" }",
       "messages arrive later than a time can say"},
      {ranks4 + lognormal + "distribution = \"lognormal\" }", "no median stands here"},
      {ranks4 + lognormal + "distribution = \"lognormal\", median = \"0\", mean = \"1\" }",
       "sizes.median: 0; expected at least 1 byte"},
      {ranks4 + lognormal + "distribution = \"lognormal\", median = \"2\" }",
       "neither mean nor sigma; expected one of them"},
      {ranks4 + lognormal + "distribution = \"lognormal\", median = \"2\", mean = \"1\" }",
       "the mean is below the median"},
      {ranks4 + lognormal + "distribution = \"lognormal\", median = \"2\", sigma = -1 }",
       "sizes.sigma: '-1'; expected a number"},
      {ranks4 + lognormal + "distribution = \"uniform\", min = \"2\" }", "no max stands here"},
      {ranks4 + lognormal + "distribution = \"uniform\", min = \"2\", max = \"1\" }",
       "min is above max"},
      {ranks4 + lognormal + "distribution = \"zipf\" }", "'zipf'; expected lognormal or uniform"},
      {ranks4 + lognormal + "file = \"no-such-file\" }", "no-such-file"},
      {generator, "no from stand here"},
      {generator + "from = \"1-8\"", "no choose stands here; expected a number from 1 to 8"},
      {generator + "from = \"1-8\"\nchoose = 9", "expected a whole number from 0 to 8"},
      {generator + "from = \"1-8\"\nchoose = 0", "expected a number from 1 to 8"},
      {generator + "from = \"0-8\"\nchoose = 2", "rank 0 is among those to choose from"},
      {"ranks = 99\n[[groups]]\nroot = 0\nfrom = \"1-98\"\nchoose = 49",
       "more than 1048576 groups"},
      {"ranks = 9\n[[groups]]\nroot = 0\nfrom = \"1-8\"\nchoose = 2\nschedule = \"chain:bytes=1\"",
       "no writes stand here"},
      {"ranks = 9\n[[groups]]\nfrom = \"1-8\"\nchoose = 2", "no root stands here"},
      {group + "messages = 4\nstart = \"0\"\n[[group]]\nranks = [0, 1]\nmessages = 900\n"
               "schedule = \"chain:block=1KiB,bytes=1GiB\"",
       "make more than 2147483648 operations"},
      {"ranks = 2\n[[group]]\nranks = [0, 1]\nmessages = 9\nschedule = \"chain:block=4096GiB\"\n"
       "bytes = \"2305843009213693952\"\n",
       "all messages together have more than"},
  };
  for (const Wrong& wrong : table) {
    EXPECT_THAT(error_of(wrong.text), HasSubstr(wrong.part)) << wrong.text;
    EXPECT_EQ(error_of(wrong.text).find('\n'), std::string::npos) << wrong.text;
  }
}

TEST(ComposeWorkload, KeepsTheOrderOfAGroupAndCompilesWhatIsAlikeOnce) {
  const Workload w = read(R"(
ranks = 6
[[group]]
ranks = [0, 1, 2]
schedule = "binomial-pipeline:block=1KB"
bytes = "3KB"
messages = 4
[[group]]
ranks = [5, 1, 4]
schedule = "binomial-pipeline:block=1KB"
bytes = "3KB"
messages = 2
arrivals = { distribution = "constant", every = "3us" }
)");
  const sched::Composition whole = compose_workload(w);
  EXPECT_EQ(whole.parts.count(), 6u);
  EXPECT_TRUE(verify(whole.schedule).empty());
  EXPECT_EQ(whole.schedule.message_bytes(), 18'000u);
  // A start holds back the root alone.
  std::vector<std::uint32_t> delayed;
  for (const sched::Op& op : whole.schedule.ops()) {
    if (op.kind == sched::OpKind::kDelay) delayed.push_back(op.rank.value);
  }
  EXPECT_THAT(delayed, ElementsAre(5));
}

// Times as if every operation's done were ten times its place in microseconds.
TEST(WorkloadResult, CountsFromArrivalToTheLastReceiver) {
  const Workload w = read(R"(
ranks = 3
[[group]]
name = "open"
ranks = [0, 1, 2]
schedule = "sequential:block=1KB"
bytes = "1KB"
messages = 2
arrivals = { distribution = "constant", every = "1us" }
)");
  const sched::Composition whole = compose_workload(w);
  sched::Trace trace;
  trace.ops.resize(whole.schedule.op_count());
  std::vector<double> expected(2, 0.0);
  for (std::uint32_t i = 0; i < whole.schedule.op_count(); ++i) {
    trace.ops[i].done_s = 1e-5 * (i + 1);
    const sched::Op& op = whole.schedule.ops()[i];
    if (op.kind == sched::OpKind::kRecv && op.rank != RankId(0) && op.writes.count != 0) {
      double& latest = expected[whole.parts.of_op[i]];
      latest = std::max(latest, trace.ops[i].done_s);
    }
  }
  WorkloadResult result = workload_result(w, whole.schedule, whole.parts, trace);
  ASSERT_EQ(result.messages.size(), 2u);
  EXPECT_EQ(result.messages[0].done_s, expected[0]);
  EXPECT_EQ(result.messages[1].done_s, expected[1]);
  EXPECT_EQ(result.messages[0].arrival_s, 0);
  EXPECT_EQ(result.messages[1].arrival_s, 1e-6);
  EXPECT_EQ(result.latency.count, 2u);
  EXPECT_EQ(result.span_s, std::max(expected[0], expected[1]));
  EXPECT_EQ(result.message_bytes, 2000u);
  EXPECT_EQ(result.delivered_bytes, 4000u);
  EXPECT_DOUBLE_EQ(result.delivered_bytes_per_s, 4000 / result.span_s);
  EXPECT_DOUBLE_EQ(result.message_bytes_per_s, 2000 / result.span_s);

  // A message that never came to one of its receivers is lost, and none of the others is.
  for (std::uint32_t i = 0; i < whole.schedule.op_count(); ++i) {
    const bool last = whole.parts.of_op[i] == 1 && whole.schedule.ops()[i].rank == RankId(2);
    if (last) trace.ops[i].done_s = std::numeric_limits<double>::infinity();
  }
  result = workload_result(w, whole.schedule, whole.parts, trace);
  EXPECT_EQ(result.lost, 1u);
  EXPECT_EQ(result.latency.count, 1u);
  EXPECT_EQ(result.message_bytes, 1000u);
  EXPECT_EQ(result.span_s, expected[0]);
}

TEST(WorkloadResult, AClosedGroupsMessageArrivesWhenItsRootIsFree) {
  const Workload w = read(
      "ranks = 2\n[[group]]\nranks = [1, 0]\nschedule = \"chain:bytes=9\"\nmessages = 3\n"
      "start = \"1us\"\n");
  const sched::Composition whole = compose_workload(w);
  sched::Trace trace;
  trace.ops.resize(whole.schedule.op_count());
  for (std::uint32_t i = 0; i < whole.schedule.op_count(); ++i) {
    trace.ops[i].done_s = 1e-5 * (1 + whole.parts.of_op[i]);
  }
  const WorkloadResult result = workload_result(w, whole.schedule, whole.parts, trace);
  EXPECT_EQ(result.messages[0].arrival_s, 1e-6);
  EXPECT_EQ(result.messages[1].arrival_s, 1e-5);
  EXPECT_EQ(result.messages[2].arrival_s, 2e-5);
}

TEST(WorkloadResult, OfRanksAloneTakesNoTime) {
  const Workload w = read(
      "ranks = 2\n[[group]]\nranks = [1]\nschedule = \"chain:bytes=9\"\nmessages = 2\n"
      "arrivals = { distribution = \"constant\", every = \"3us\" }\n");
  const sched::Composition whole = compose_workload(w);
  sched::Trace trace;
  trace.ops.resize(whole.schedule.op_count());
  for (sched::OpTimes& times : trace.ops) times.done_s = 3e-6;  // the second one's delay, and join
  const WorkloadResult result = workload_result(w, whole.schedule, whole.parts, trace);
  EXPECT_EQ(result.messages[0].latency_s(), 0);
  EXPECT_EQ(result.messages[1].latency_s(), 0);
  EXPECT_EQ(result.delivered_bytes, 0u);
}

TEST(LatencySummary, TakesTheLeastValueThatAShareReaches) {
  std::vector<double> values;
  for (int i = 200; i >= 1; --i) values.push_back(i);
  const LatencySummary summary = summarise_latencies(values);
  EXPECT_EQ(summary.count, 200u);
  EXPECT_EQ(summary.min_s, 1);
  EXPECT_EQ(summary.median_s, 100.5);
  EXPECT_EQ(summary.mean_s, 100.5);
  EXPECT_EQ(summary.p90_s, 180);
  EXPECT_EQ(summary.p99_s, 198);
  EXPECT_EQ(summary.max_s, 200);
  EXPECT_EQ(summarise_latencies({}).count, 0u);
  EXPECT_EQ(summarise_latencies({7.0}).p99_s, 7);
  EXPECT_EQ(summarise_latencies({7.0, std::numeric_limits<double>::infinity()}).max_s, 7);
}

}  // namespace
}  // namespace slackline::machine
