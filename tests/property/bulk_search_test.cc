// Searches by levels, exclusive blocks and contexts: what their schedules leave against plain
// programs, and how long they take against closed forms.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/mix.h"
#include "sched/compile.h"
#include "sched/verify.h"
#include "sched/workloads/tasks/breadth_first_levels.h"
#include "sched/workloads/tasks/context_cache.h"
#include "sched/workloads/tasks/graph_options.h"
#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

Schedule made(const std::string& spec) { return compile(parse_spec(spec)); }

double time_s(const Schedule& schedule, const std::string& platform) {
  return analysis::run_events({schedule, machine::load_platform(platform)}).makespan_s();
}

std::string defect(const std::string& text) {
  const Spec spec = parse_spec(text);
  const Schedule schedule = compile(spec);
  if (schedule.op_count() > most_ops(spec)) {
    return fmt::format("{}: {} operations, at most {} were announced", text, schedule.op_count(),
                       most_ops(spec));
  }
  const Diagnostics found = verify(schedule);
  return found.empty() ? "" : fmt::format("{}: {}", text, found.front().message);
}

TEST(BulkSearch, ParentsAreABreadthFirstTreeWithTheLevelsOfAPlainSearch) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    for (const std::uint32_t ranks : {1u, 2u, 3u, 7u, 16u}) {
      for (const std::uint32_t factor : {1u, 16u}) {
        const Graph graph = drawn_graph({7, factor}, seed);
        const std::uint32_t root = busiest_vertex(graph);
        const std::string text = fmt::format(
            "breadth-first-levels:ranks={},scale=7,edge-factor={},seed={}", ranks, factor, seed);
        ASSERT_EQ(defect(text), "");
        const LevelSearch search = search_levels(parse_spec(text), graph);
        ASSERT_EQ(parents_defect(graph, root, search.parents), std::nullopt) << text;
        // The contract names the record of just that parent.
        const auto level = sched::breadth_first_levels(graph, root);
        const auto reached =
            std::count_if(level.begin(), level.end(), [](auto l) { return l != kUnreached; });
        EXPECT_EQ(search.schedule.contract().post.size(), static_cast<std::size_t>(reached - 1));
        EXPECT_EQ(compile(parse_spec(text)).digest(), search.schedule.digest());
      }
    }
  }
}

// Every edge that leaves a reached vertex is one record; every message has a mark of 8 bytes.
TEST(BulkSearch, TheBytesAreThoseOfTheEdges) {
  const Graph graph = drawn_graph({9, 16}, 3);
  const std::uint32_t root = busiest_vertex(graph);
  const auto level = sched::breadth_first_levels(graph, root);
  for (const std::uint32_t ranks : {1u, 5u, 8u}) {
    std::uint64_t crossing = 0;
    std::map<std::vector<std::uint32_t>, std::uint64_t> messages;
    for (std::uint32_t u = 0; u < graph.vertices(); ++u) {
      if (level[u] == kUnreached) continue;
      for (const std::uint32_t v : graph.neighbours(u)) {
        // Words stand striped in blocks of eight.
        if (u / 8 % ranks == v / 8 % ranks) continue;
        ++crossing;
        ++messages[{level[u], u / 8 % ranks, v / 8 % ranks}];
      }
    }
    const Schedule s =
        made(fmt::format("breadth-first-levels:ranks={},scale=9,seed=3,record=24", ranks));
    std::uint64_t bytes = 0;
    std::uint64_t puts = 0;
    for (const Op& op : s.ops()) {
      // A barrier's puts have a mark alone.
      if (op.kind != OpKind::kPut || s.payload_bytes(op) == 8) continue;
      bytes += s.payload_bytes(op);
      ++puts;
    }
    EXPECT_EQ(puts, messages.size());
    EXPECT_EQ(bytes, 24 * crossing + 8 * puts);
  }
}

// By hand: of one core that scans every edge, works on every record and copies each parent's word.
TEST(BulkSearch, OneCoreTakesTheSumOfItsEdges) {
  const Graph graph = drawn_graph({8, 16}, 1);
  const auto level = sched::breadth_first_levels(graph, busiest_vertex(graph));
  double edges = 0;
  double reached = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    if (level[v] == kUnreached) continue;
    edges += static_cast<double>(graph.neighbours(v).size());
    ++reached;
  }
  const double got = time_s(made("breadth-first-levels:ranks=1,scale=8,work=5ns,handler=12ns"),
                            "star:latency=1us,copy_rate=64Gbps");
  EXPECT_NEAR(got, 17e-9 * edges + (reached - 1) * 8 / 8e9, 1e-12);
}

// What a level leaves out, or takes twice, or from the wrong record, is no breadth-first tree.
TEST(BulkSearch, SeededBugsAreNoticed) {
  const Schedule sound = made("breadth-first-levels:ranks=3,scale=5");
  std::uint32_t copies = 0;
  for (std::uint32_t i = 0; i < sound.op_count(); ++i) {
    if (sound.ops()[i].kind != OpKind::kCopy) continue;
    ++copies;
    for (const char bug : {'n', 'w'}) {
      Draft draft = Draft::from(sound);
      if (bug == 'n') {  // a vertex stays without a parent
        draft.ops[i].reads.pop_back();
        draft.ops[i].writes.pop_back();
        if (draft.ops[i].reads.empty()) continue;
      } else {  // gets the record before, or behind
        draft.ops[i].reads.back().offset += draft.ops[i].reads.back().offset == 0 ? 8 : -8;
      }
      EXPECT_TRUE(has_errors(verify(draft.build()))) << bug << " op " << i;
    }
  }
  EXPECT_GE(copies, 4u);
}

TEST(ExclusiveBlocks, AreProvedHoweverMessagesTravel) {
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    for (const char* how : {"", ",aggregation=destination,age=3us",
                            ",aggregation=hierarchical,group=2,flush=128,age=3us",
                            ",switch=0ns,handler=100ns,work=20ns,record=16"}) {
      for (const char* size : {"words=64,tasks=3", "words=16,tasks=2,cache-bytes=8,uses=3",
                               "words=40,tasks=4,cache-bytes=200,uses=1", "words=32,tasks=1"}) {
        ASSERT_EQ(defect(fmt::format("random-access:by=cached,cache=exclusive,accesses=7,"
                                     "seed={},ranks={},{}{}",
                                     ranks, ranks, size, how)),
                  "");
      }
    }
  }
}

// Every update is in its word once: the contract's sums against those of a plain program.
TEST(ExclusiveBlocks, EveryUpdateIsInItsWordOnce) {
  const Schedule s = made(
      "random-access:by=cached,cache=exclusive,ranks=3,accesses=20,tasks=4,words=64,uses=5,"
      "cache-bytes=128,seed=9");
  std::map<std::uint64_t, std::uint32_t> updates;  // by word
  for (std::uint32_t r = 0; r < 3; ++r) {
    for (std::uint32_t k = 0; k < 20; ++k) {
      const std::uint64_t block = sched::below(sched::draw(9, {7, r, k}), 3 * 64 / 16);
      for (std::uint32_t i = 0; i < 5; ++i) {
        ++updates[block * 16 + sched::below(sched::draw(9, {8, r, k, i}), 16)];
      }
    }
  }
  std::vector<std::uint32_t> expected;
  for (const auto& [word, count] : updates) expected.push_back(count + 1);
  std::vector<std::uint32_t> found;
  for (const Fact& fact : s.contract().post) {
    if (fact.terms > 1) found.push_back(fact.terms);
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
}

// An owner that begins before the one before it has written back.
TEST(ExclusiveBlocks, AnOrderThatIsLeftOutIsNoticed) {
  const Schedule sound = made(
      "random-access:by=cached,cache=exclusive,ranks=3,accesses=12,tasks=1,words=32,cache-bytes=64,"
      "handler=100ns");
  std::uint32_t orders = 0;
  std::uint32_t noticed = 0;
  for (std::size_t e = 0; e < sound.edges().size(); ++e) {
    const Edge edge = sound.edges()[e];
    // Between handlers of one block at its home.
    if (sound.op(edge.pred).kind != OpKind::kJoin || sound.op(edge.succ).kind != OpKind::kJoin)
      continue;
    ++orders;
    Draft draft = Draft::from(sound);
    draft.edges.erase(draft.edges.begin() + static_cast<std::ptrdiff_t>(e));
    noticed += has_errors(verify(draft.build())) ? 1 : 0;
  }
  EXPECT_GT(orders, 10u);
  EXPECT_GT(noticed, 0u);
  // A grant that waits for its request alone: no owner is waited for.
  Draft draft = Draft::from(sound);
  std::erase_if(draft.edges, [&](const Edge& edge) {
    return sound.op(edge.pred).kind == OpKind::kJoin && sound.op(edge.succ).kind == OpKind::kJoin;
  });
  EXPECT_TRUE(has_errors(verify(draft.build())));
}

// By hand. Rank 0, at whose home the one block is, has it first: asks itself, copies the half that
// is its own and gets the other, updates, and puts back all words, which so many uses touch. Then
// rank 1 does the same, granted by a message; the last thing is the acknowledgement of what it
// returns.
TEST(ExclusiveBlocks, TwoOwnersTakeTheirTurns) {
  const Schedule s = made(
      "random-access:by=cached,cache=exclusive,ranks=2,tasks=1,words=8,cache-bytes=128,uses=200,"
      "handler=100ns,work=50ns,switch=40ns,accesses=1");
  const double there_s = 1e-6;
  const double post_s = 300e-9;
  const double seen_s = 200e-9;
  const double switch_s = 40e-9;
  const double handler_s = 100e-9;
  const double half_s = 64 / 8e9;
  const double updates_s = 200 * (50e-9 + 2 * 8 / 8e9);  // a reduce reads both
  const double there_and_back_s = post_s + 2 * there_s + seen_s;
  const double first_s = switch_s + handler_s + switch_s + half_s + there_and_back_s + switch_s +
                         updates_s + half_s + there_and_back_s + switch_s + handler_s;
  const double grant_s = post_s + there_s + seen_s;
  const double second_s = switch_s + there_and_back_s + switch_s + updates_s + there_and_back_s +
                          switch_s + there_and_back_s;
  EXPECT_NEAR(time_s(s,
                     "star:rate=1000000Gbps,latency=1us,o_post=300ns,o_complete=200ns,"
                     "gap=0ns,copy_rate=64Gbps"),
              first_s + grant_s + second_s, 1e-10);
}

// What a block saves: more uses of it cost little, where each delegate is a round trip.
TEST(ExclusiveBlocks, PayWhereABlockIsUsedOften) {
  const auto ratio = [](std::uint32_t uses) {
    const double cached = time_s(
        made(fmt::format("random-access:by=cached,cache=exclusive,ranks=4,tasks=1,words=4096,"
                         "accesses=16,uses={}",
                         uses)),
        "fractus");
    const double delegates =
        time_s(made(fmt::format("random-access:ranks=4,tasks=1,words=4096,access=add,accesses={}",
                                16 * uses)),
               "fractus");
    return delegates / cached;
  };
  EXPECT_LT(ratio(1), 1);
  EXPECT_GT(ratio(16), 2);
}

// A core with `contexts` contexts, each access of which takes the core `busy` and then `away`.
double by_littles_law(std::uint32_t contexts, std::uint32_t accesses, double busy, double away) {
  const std::uint32_t rounds = accesses / contexts;
  if (contexts * busy >= busy + away) return accesses * busy + away;
  return (rounds - 1) * (busy + away) + contexts * busy + away;
}

// By hand: where nothing else takes time, throughput rises with the contexts until the core has no
// time left, and is flat then. Each task is switched to once more, at its end.
TEST(Contexts, HideLatencyAsLittlesLawHasIt) {
  const std::string platform =
      "star:rate=1000000Gbps,latency=1us,o_post=300ns,o_complete=200ns,gap=0ns";
  for (const int switch_ns : {0, 40}) {
    for (std::uint32_t contexts = 1; contexts <= 64; contexts *= 2) {
      const double got = time_s(
          made(fmt::format("random-access:ranks=2,by=fetch-add,home=others,address=2d,words=100000,"
                           "accesses=256,tasks={},switch={}ns,work={}ns",
                           contexts, switch_ns, 100 - switch_ns)),
          platform);
      const double expected = by_littles_law(contexts, 256, 100e-9 + 300e-9, 2 * 1e-6 + 200e-9);
      const double last_s = switch_ns * 1e-9;
      EXPECT_GE(got, expected + last_s - 1e-9) << contexts;
      EXPECT_LE(got, expected + contexts * last_s + 1e-9) << contexts;
    }
  }
}

// The cache holds those used last: all of them, or, taken in turns, none.
TEST(Contexts, ThatTheCacheDoesNotHoldCostMore) {
  const auto misses = [](std::uint32_t resident, std::uint32_t tasks) {
    const Schedule s =
        made(fmt::format("random-access:ranks=2,by=fetch-add,accesses=64,tasks={},switch=1ns,"
                         "switch-miss=7ns,resident={}",
                         tasks, resident));
    std::uint32_t found = 0;
    for (const Op& op : s.ops()) {
      const bool calc = op.kind == OpKind::kCalc;
      found += calc && op.rank == RankId(0) && s.arguments(op).duration == Time{7'000} ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(misses(8, 8), 8u);   // each once
  EXPECT_EQ(misses(9, 8), 8u);   // there is room for more
  EXPECT_EQ(misses(7, 8), 72u);  // each time: 64 accesses and 8 ends
}

// Against a plain list of what was used last.
TEST(Contexts, TheCacheKeepsWhatWasUsedLast) {
  for (std::uint32_t room = 1; room < 6; ++room) {
    sched::ContextCache cache(room, 5);
    std::vector<std::uint32_t> held;
    for (std::uint64_t n = 0; n < 300; ++n) {
      const std::uint32_t task = sched::below(sched::draw(room, {n}), 5);
      const auto found = std::find(held.begin(), held.end(), task);
      ASSERT_EQ(cache.use(task), found != held.end()) << n;
      if (found != held.end()) held.erase(found);
      held.insert(held.begin(), task);
      if (held.size() > room) held.pop_back();
    }
  }
}

TEST(Contexts, OthersWordsAreOthers) {
  const Schedule s = made("random-access:ranks=3,by=fetch-add,home=others,accesses=99,words=5");
  std::uint32_t adds = 0;
  for (const Op& op : s.ops()) {
    if (op.kind != OpKind::kFetchAdd) continue;
    ++adds;
    EXPECT_NE(s.buffers()[s.slices(op.reads).front().buffer.value].rank, op.rank);
  }
  EXPECT_EQ(adds, 297u);
}

}  // namespace
}  // namespace slackline::testing
