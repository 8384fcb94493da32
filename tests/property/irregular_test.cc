// Irregular patterns: proved in all their forms, the same everywhere, and what they promise held in
// runs; and that seeded bugs are noticed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "sched/compile.h"
#include "sched/verify.h"
#include "sched/workloads/run_check.h"
#include "sched/workloads/tasks/access_stream.h"
#include "sched/workloads/tasks/breadth_first_search.h"
#include "sched/workloads/tasks/kronecker.h"
#include "sched/workloads/tasks/uts_tree.h"
#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

Schedule made(const std::string& spec) { return compile(parse_spec(spec)); }

std::string defect(const std::string& text) {
  const Spec spec = parse_spec(text);
  const Schedule schedule = compile(spec);
  // Failed steals are not known beforehand.
  if (spec.pattern != "tree-search" && schedule.op_count() > most_ops(spec)) {
    return fmt::format("{}: {} operations, at most {} were announced", text, schedule.op_count(),
                       most_ops(spec));
  }
  const Diagnostics found = verify(schedule);
  return found.empty() ? "" : fmt::format("{}: {}", text, found.front().message);
}

const std::vector<std::string> kTransports = {"",
                                              ",aggregation=destination",
                                              ",aggregation=destination,flush=128,age=3us",
                                              ",aggregation=hierarchical,group=2",
                                              ",aggregation=hierarchical,group=2,cores=2,flush=128",
                                              ",switch=0ns,handler=100ns,record=16"};

TEST(Irregular, RandomAccessIsProvedHoweverItIsDone) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 8u}) {
    for (const std::string& transport : kTransports) {
      for (const char* what :
           {"access=fetch-add", "access=add", "access=read", "access=write", "by=fetch-add",
            "by=cached,cache=read-write", "by=cached,cache=read-only", "by=cached,cache=write-only",
            "access=fetch-add,address=2d", "by=cached,cache-bytes=200"}) {
        const std::string base = fmt::format("random-access:ranks={},{}{}", ranks, what, transport);
        ASSERT_EQ(defect(base + ",accesses=13,tasks=3,words=5"), "");
        ASSERT_EQ(defect(base + ",accesses=3,tasks=5,words=1,seed=9"), "");
      }
    }
  }
}

TEST(Irregular, SearchesAreProved) {
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    for (const std::string& transport : kTransports) {
      for (const char* what :
           {"tree-search:tasks=3,depth=3,work=300ns,", "tree-search:tree=T5,depth=3,tasks=1,",
            "breadth-first-search:scale=5,tasks=3,", "breadth-first-search:scale=4,threshold=1,",
            "hex-search:rollouts=20,tasks=2,playouts=2,work=1us,"}) {
        ASSERT_EQ(defect(fmt::format("{}ranks={}{}", what, ranks, transport)), "");
      }
    }
  }
}

TEST(Irregular, TheSameSpecAndSeedMakeTheSameSchedule) {
  for (const char* spec :
       {"random-access:ranks=4,accesses=50,aggregation=destination", "tree-search:ranks=4,depth=4",
        "breadth-first-search:ranks=4,scale=6", "hex-search:ranks=4,rollouts=30"}) {
    EXPECT_EQ(made(spec).digest(), made(spec).digest());
    EXPECT_NE(made(spec).digest(), made(std::string(spec) + ",seed=2").digest());
  }
}

// How often every kind of operation stands there.
std::uint32_t count(const Schedule& schedule, OpKind kind) {
  return static_cast<std::uint32_t>(
      std::count_if(schedule.ops().begin(), schedule.ops().end(),
                    [kind](const Op& op) { return op.kind == kind; }));
}

TEST(Irregular, RunsDoEverythingOnce) {
  const machine::Platform platform = machine::load_platform("fractus");
  for (const std::string& transport : kTransports) {
    for (const char* what :
         {"random-access:accesses=40,words=7,tasks=5,", "tree-search:tasks=4,depth=4,",
          "breadth-first-search:scale=6,tasks=4,", "hex-search:rollouts=30,"}) {
      const Schedule s = made(fmt::format("{}ranks=6{}", what, transport));
      Trace trace = analysis::run_events({s, platform});
      EXPECT_THAT(sched::check_ran_once(s, trace), ::testing::IsEmpty()) << s.title();
      trace.ops[s.op_count() / 2].attempts = 2;
      EXPECT_EQ(sched::check_ran_once(s, trace).size(), 1u);
      trace.ops[s.op_count() / 3].attempts = 0;
      EXPECT_EQ(sched::check_ran_once(s, trace).size(), 2u);
    }
  }
}

// The words' sums, in the run's own memory, are those of the stream; the check sees each bug.
TEST(Irregular, FetchAddsLoseNoUpdate) {
  const Schedule s = made("random-access:ranks=4,accesses=100,words=6,by=fetch-add");
  Trace trace = analysis::run_events({s, machine::load_platform("fractus")});
  ASSERT_THAT(sched::check_fetch_adds(s, trace), ::testing::IsEmpty());
  EXPECT_EQ(count(s, OpKind::kFetchAdd), 400u);
  std::map<std::uint64_t, std::uint64_t> sums;
  for (std::uint32_t r = 0; r < 4; ++r) {
    for (std::uint32_t k = 0; k < 100; ++k) {
      const WordAccess a = access_of(1, r, k, 24);
      sums[a.word] += a.value;
    }
  }
  std::multiset<std::uint64_t> expected;
  for (const auto& [word, sum] : sums) expected.insert(sum);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> totals;
  for (const Op& op : s.ops()) {
    if (op.kind != OpKind::kFetchAdd) continue;
    const Slice& at = s.slices(op.reads).front();
    totals[{at.buffer.value, at.offset}] += s.arguments(op).operand.value;
  }
  std::multiset<std::uint64_t> got;
  for (const auto& [word, sum] : totals) got.insert(sum);
  EXPECT_EQ(got, expected);
  std::uint32_t noticed = 0;
  for (std::uint32_t i = 0; i < s.op_count(); ++i) {
    if (s.ops()[i].kind != OpKind::kFetchAdd) continue;
    Trace broken = trace;
    broken.results[i] -= 1;  // another's update was not seen
    noticed += sched::check_fetch_adds(s, broken).size() == 1 ? 1 : 0;
  }
  EXPECT_EQ(noticed, 400u);
}

// A handler that does not run, or twice, or that is not ordered after the one before it.
TEST(Irregular, SeededBugsOfHandlersAreNoticed) {
  const Schedule sound = made("random-access:ranks=3,accesses=6,words=1,tasks=2,access=add");
  std::uint32_t handlers = 0;
  for (std::uint32_t i = 0; i < sound.op_count(); ++i) {
    if (sound.ops()[i].kind != OpKind::kReduce) continue;
    ++handlers;
    for (const char bug : {'n', 't', 'l'}) {
      Draft draft = Draft::from(sound);
      std::vector<Slice>& reads = draft.ops[i].reads;
      if (bug == 'n') reads.pop_back();               // does not add
      if (bug == 't') reads.push_back(reads.back());  // adds twice
      if (bug == 'l') reads.erase(reads.begin());     // overwrites what others added
      const Diagnostics found = verify(draft.build());
      ASSERT_FALSE(found.empty()) << bug << " op " << i;
      EXPECT_EQ(found.front().code, Code::kPost) << bug;
    }
  }
  EXPECT_EQ(handlers, 18u);
  std::uint32_t orders = 0;
  for (std::size_t e = 0; e < sound.edges().size(); ++e) {
    const Edge edge = sound.edges()[e];
    if (sound.op(edge.pred).kind != OpKind::kReduce || sound.op(edge.succ).kind != OpKind::kReduce)
      continue;
    Draft draft = Draft::from(sound);
    draft.edges.erase(draft.edges.begin() + static_cast<std::ptrdiff_t>(e));
    orders += has_errors(verify(draft.build())) ? 1 : 0;
  }
  EXPECT_GT(orders, 5u);  // the others follow from their tasks' own order
}

TEST(Irregular, EveryVertexOfATreeIsVisitedOnce) {
  for (const std::uint32_t depth : {1u, 3u, 5u}) {
    UtsParameters parameters = *uts_sample("T1");
    parameters.depth = depth;
    const auto vertices = UtsTree(parameters).measure().vertices;
    for (const std::uint32_t ranks : {1u, 3u, 8u}) {
      const Schedule s = made(fmt::format("tree-search:ranks={},depth={}", ranks, depth));
      EXPECT_EQ(count(s, OpKind::kReduce), vertices);
      std::uint64_t counted = 0;
      for (const Fact& fact : s.contract().post) counted += fact.terms == 2 ? 1 : 0;
      EXPECT_EQ(counted, vertices);
    }
  }
}

// Without work to begin with, every other core steals some.
TEST(Irregular, WorkIsStolenByAllCores) {
  const Schedule s = made("tree-search:ranks=8,depth=6,work=200ns");
  std::vector<std::uint32_t> worked(8, 0);
  for (const Op& op : s.ops()) {
    const bool is_work = op.kind == OpKind::kCalc && s.arguments(op).duration == Time{200'000};
    worked[op.rank.value] += is_work ? 1 : 0;
  }
  const auto [least, most] = std::minmax_element(worked.begin(), worked.end());
  EXPECT_GT(*least, 0u);
  EXPECT_LT(*most, 3 * 16000 / 8u);
}

TEST(Irregular, ParentsAreABreadthFirstTree) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Graph graph = graph_of(1u << 7, kronecker_edges(7, 16, seed));
    for (const char* transport : {"", ",aggregation=destination"}) {
      for (const std::uint32_t ranks : {1u, 4u, 7u}) {
        const Spec spec = parse_spec(
            fmt::format("breadth-first-search:ranks={},scale=7,seed={}{}", ranks, seed, transport));
        const auto parents = breadth_first_parents(spec);
        EXPECT_EQ(parents_defect(graph, busiest_vertex(graph), parents), std::nullopt);
        const auto level = breadth_first_levels(graph, busiest_vertex(graph));
        const std::uint32_t reached = static_cast<std::uint32_t>(
            std::count_if(level.begin(), level.end(), [](auto l) { return l != kUnreached; }));
        std::uint32_t claimed = 0;
        const Schedule s = compile(spec);
        for (const Fact& fact : s.contract().post) claimed += fact.slice.bytes == 8 ? 1 : 0;
        EXPECT_EQ(claimed, reached - 1);
      }
    }
  }
}

// A queue is sent when it is full, and not before it is old.
TEST(Irregular, AggregatesLeaveFullOrOld) {
  const machine::Platform platform = machine::load_platform("fractus");
  const auto run = [&](const std::string& more) {
    const Schedule s = made(
        "random-access:ranks=2,accesses=256,tasks=256,address=2d,words=64,"
        "aggregation=destination" +
        more);
    std::uint32_t largest = 0;
    for (const Op& op : s.ops()) {
      if (op.kind != OpKind::kPut) continue;
      largest = std::max(largest, static_cast<std::uint32_t>(s.payload_bytes(op)));
    }
    return std::pair{analysis::run_events({s, platform}).makespan_s(), largest};
  };
  const auto [time_s, largest] = run("");
  EXPECT_LE(largest, 4096u);
  EXPECT_GT(largest, 4096u - 40);
  EXPECT_GT(time_s, 1e-3);  // the last of them waits
  EXPECT_LT(run(",age=10us").first, 1e-4);
  EXPECT_LE(run(",flush=256").second, 256u);
}

// What one task waits for, others work through.
TEST(Irregular, MoreTasksHideMoreLatency) {
  const machine::Platform platform = machine::load_platform("fractus");
  const auto time_s = [&](const char* by, std::uint32_t tasks) {
    return analysis::run_events(
               {made(fmt::format("random-access:ranks=4,accesses=256,{},tasks={}", by, tasks)),
                platform})
        .makespan_s();
  };
  for (const char* by : {"by=delegate", "by=fetch-add", "by=cached"}) {
    EXPECT_GT(time_s(by, 1), 2 * time_s(by, 8)) << by;
  }
}

TEST(Irregular, BundledChannelsAreWhatWasAskedFor) {
  const Schedule s = made("hex-search:ranks=3,rollouts=8,bundle=ovfl,flush=2KiB,age=5us");
  for (const Channel& channel : s.channels()) {
    EXPECT_EQ(channel.bundle, Bundle::kOverflow);
    EXPECT_EQ(channel.bundle_bytes, 2048u);
    EXPECT_EQ(channel.bundle_delay, Time{5'000'000});
    EXPECT_GT(channel.window, 0u);
  }
}

}  // namespace
}  // namespace slackline::testing
