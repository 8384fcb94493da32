// Synthesized schedules: proved on every kind of network, and held against an exhaustive search on
// the smallest.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/advice/advise.h"
#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/synthesis/greedy.h"
#include "analysis/synthesis/named_moves.h"
#include "analysis/synthesis/synthesize.h"
#include "analysis/synthesis/ways.h"
#include "base/mix.h"
#include "sched/compile.h"
#include "sched/pattern/pattern.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"

namespace slackline::analysis {
namespace {

using machine::Platform;
using machine::Wiring;
using sched::RankId;

constexpr Collective kCollectives[] = {Collective::kMulticast, Collective::kAllgather,
                                       Collective::kReduceScatter, Collective::kAllreduce};

struct Case {
  std::string name;
  Platform platform;
  Wiring wiring;
};

Case on(const std::string& spec, std::uint32_t ranks) {
  Platform platform = machine::load_platform(spec);
  Wiring wiring(platform, ranks);
  return {spec, std::move(platform), std::move(wiring)};
}

// A star whose odd hosts have a tenth of the rate.
Case with_slow_hosts(std::uint32_t ranks) {
  Case star = on("star:rate=100Gbps,latency=1us", ranks);
  std::vector<machine::Link> links(star.wiring.links().begin(), star.wiring.links().end());
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i / 2 % 2 == 1) links[i].rate = sched::Rate{10'000'000'000};
  }
  std::vector<Wiring::FixedRoute> routes;
  for (std::uint32_t s = 0; s < ranks; ++s) {
    for (std::uint32_t d = 0; d < ranks; ++d) {
      routes.push_back({RankId(s), RankId(d), star.wiring.route(RankId(s), RankId(d))});
    }
  }
  return {"slow hosts", star.platform, star.wiring.with(std::move(links), std::move(routes))};
}

std::vector<Case> cases(std::uint32_t ranks) {
  std::vector<Case> all;
  all.push_back(on("star:rate=100Gbps,latency=1us", ranks));
  all.push_back(on("fractus", ranks));
  all.push_back(on("torus:dims=4x4,latency=500ns,hop_latency=100ns", ranks));
  all.push_back(on("two-level:racks=4,hosts=4,oversubscription=4,placement=round-robin", ranks));
  all.push_back(on("star:ranks_per_node=4,latency=1us", ranks));
  all.push_back(with_slow_hosts(ranks));
  return all;
}

SynthesisRequest request(Collective collective, std::uint32_t ranks, std::uint64_t bytes,
                         std::vector<std::uint64_t> blocks, std::uint32_t attempts = 3,
                         std::uint32_t improvements = 5) {
  SynthesisRequest request;
  request.task = {collective, ranks, bytes};
  request.blocks = std::move(blocks);
  request.attempts = attempts;
  request.improvements = improvements;
  return request;
}

TEST(Synthesis, IsProvedOnEveryNetwork) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 13u, 16u}) {
    for (const Case& at : cases(ranks)) {
      for (const Collective collective : kCollectives) {
        SCOPED_TRACE(at.name + ", " + std::string(name_of(collective)) + " of " +
                     std::to_string(ranks));
        const Synthesized found = synthesize(request(collective, ranks, 100'003, {30'000, 200'000}),
                                             at.platform, at.wiring);
        for (const sched::Diagnostic& d : sched::verify(found.schedule)) ADD_FAILURE() << d.message;
        EXPECT_TRUE(ranks == 1 || !found.schedule.contract().post.empty());
        EXPECT_LE(found.makespan_s, found.greedy_s);
        const machine::Setting setting(found.schedule, at.platform, at.wiring);
        EXPECT_EQ(run_flows(setting).makespan_s(), found.makespan_s);
        EXPECT_GE(found.makespan_s * (1 + 1e-9), makespan_floor_s(setting));
      }
    }
  }
}

TEST(Synthesis, TakesSharesOfNoBytesAndNoBytesAtAll) {
  for (const Collective collective : kCollectives) {
    for (const std::uint64_t bytes : {0, 1, 3}) {
      const Case star = on("star:latency=1us", 5);
      const Synthesized found =
          synthesize(request(collective, 5, bytes, {1}), star.platform, star.wiring);
      for (const sched::Diagnostic& d : sched::verify(found.schedule)) ADD_FAILURE() << d.message;
    }
  }
}

TEST(Synthesis, DependsOnItsRequestAlone) {
  const Case at = on("two-level:racks=3,hosts=3,oversubscription=2", 9);
  SynthesisRequest of = request(Collective::kAllreduce, 9, 1 << 20, {32 << 10, 128 << 10}, 6, 30);
  const Synthesized first = synthesize(of, at.platform, at.wiring);
  of.jobs = 3;
  const Synthesized again = synthesize(of, at.platform, at.wiring);
  EXPECT_EQ(first.schedule.digest(), again.schedule.digest());
  EXPECT_EQ(first.makespan_s, again.makespan_s);
  EXPECT_EQ(first.schedule.title(),
            "synthesized:allreduce,ranks=9,bytes=1MiB,block=" +
                std::string(first.block_bytes == 32 << 10 ? "32KiB" : "128KiB") + ",seed=0");
  EXPECT_EQ(first.attempts, 12u);
}

TEST(Synthesis, RefusesWhatMakesTooManyMoves) {
  const Case at = on("star", 8);
  SynthesisRequest of = request(Collective::kAllgather, 8, 1000, {10, 500});
  of.most_moves = 8 * 7 * 2;
  EXPECT_EQ(synthesize(of, at.platform, at.wiring).sizes_left, 1u);
  of.most_moves = 8 * 7 * 2 - 1;
  EXPECT_THAT(slackline::testing::error_of([&] { synthesize(of, at.platform, at.wiring); }),
              ::testing::HasSubstr("112 moves"));
}

// Every taste spreads everything, and each rank gets a unit once.
TEST(Greedy, SpreadsAllWhateverTheTaste) {
  for (const Case& at : cases(7)) {
    const Ways ways(at.platform, at.wiring);
    const Ways backwards = ways.backwards();
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      CollectiveTask task{seed % 2 == 0 ? Collective::kMulticast : Collective::kAllgather, 7,
                          seed * 1000, 1000};
      const Spreading spreading = spreading_of(task);
      const GreedyTaste taste = GreedyTaste::drawn(seed);
      const Moves moves = greedy_moves(spreading, seed % 3 == 0 ? backwards : ways, taste, seed);
      EXPECT_TRUE(spreads(spreading, moves)) << at.name << ", seed " << seed;
    }
  }
}

// An allreduce whose ranks keep two sums each.
bool keeps_two_sums(Collective collective, std::string_view name, std::uint32_t ranks) {
  return collective == Collective::kAllreduce && name == "bruck" && !std::has_single_bit(ranks) &&
         ranks > 1;
}

// What every named pattern does can be said in moves, unless ranks keep two sums. They keep the
// collective's promises, and take the time that the pattern takes.
TEST(NamedMoves, AreProvedAndTakeTheirPatternsTime) {
  const Platform platform = machine::load_platform("star:latency=1us");
  std::uint32_t as_sums = 0;
  for (const Collective collective : kCollectives) {
    const bool multicast = collective == Collective::kMulticast;
    for (const std::string_view name : patterns_for(multicast ? "" : name_of(collective))) {
      if (multicast && sched::find_plan_pattern(name) == nullptr) continue;
      for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 6u, 7u, 8u, 12u}) {
        for (const std::uint64_t block : {100u, 300u, 5000u}) {
          SCOPED_TRACE(std::string(name_of(collective)) + " by " + std::string(name) + ", " +
                       std::to_string(ranks) + " ranks, blocks of " + std::to_string(block));
          const sched::Spec spec = sched::parse_spec(fmt::format(
              "{}:ranks={},bytes=1003,block={}{}{}", multicast ? name : name_of(collective), ranks,
              block, multicast ? "" : ",by=", multicast ? "" : name));
          const sched::MulticastOptions& options = spec.multicast;
          CollectiveTask task{collective, ranks, options.bytes, options.block_bytes};
          const auto found = named_moves(task, options, std::string(name), 100'000);
          ASSERT_NE(found.has_value(), keeps_two_sums(collective, name, ranks));
          if (!found) continue;
          task.shares = found->shares;
          as_sums += found->moves.summing.empty() ? 0 : 1;
          EXPECT_TRUE(carries_out(task, found->moves));
          const sched::Schedule schedule = schedule_of(task, found->moves, "");
          for (const sched::Diagnostic& d : sched::verify(schedule)) ADD_FAILURE() << d.message;
          const Wiring wiring(platform, ranks);
          const sched::Schedule pattern = sched::compile(spec);
          // With more than one message in a step, what a rank does first may differ.
          const double more = block > options.bytes ? 1e-9 : 0.03;
          EXPECT_LE(run_flows({schedule, platform, wiring}).makespan_s(),
                    run_flows({pattern, platform, wiring}).makespan_s() * (1 + more));
        }
      }
    }
  }
  EXPECT_GE(as_sums, 50u);
}

// A star whose links have rates and ranks at random.
Case at_random(std::uint64_t seed) {
  const auto below = [&](std::uint64_t what, std::uint32_t bound) {
    return sched::below(sched::draw(seed, {what}), bound);
  };
  const std::uint32_t ranks = 2 + below(0, 8);
  Case star = on(fmt::format("star:rate=100Gbps,latency={}ns", 100 * (1 + below(1, 30))), ranks);
  std::vector<machine::Link> links(star.wiring.links().begin(), star.wiring.links().end());
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i].rate = sched::Rate{10'000'000'000ull * (1 + below(2 + i, 10))};
  }
  std::vector<Wiring::FixedRoute> routes;
  for (std::uint32_t s = 0; s < ranks; ++s) {
    for (std::uint32_t d = 0; d < ranks; ++d) {
      routes.push_back({RankId(s), RankId(d), star.wiring.route(RankId(s), RankId(d))});
    }
  }
  return {"at random", star.platform, star.wiring.with(std::move(links), std::move(routes))};
}

TEST(Synthesis, IsNeverSlowerThanTheBestNamedPattern) {
  std::uint32_t faster = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Case at = at_random(seed);
    const std::uint32_t ranks = at.wiring.rank_count();
    const std::uint64_t bytes = std::uint64_t{8} << (3 * (seed % 6));
    for (const Collective collective : kCollectives) {
      const bool multicast = collective == Collective::kMulticast;
      SynthesisRequest of = request(collective, ranks, bytes, {bytes}, 2, 10);
      of.whole_blocks = {bytes};
      double named_s = std::numeric_limits<double>::infinity();
      for (const std::string_view name : patterns_for(multicast ? "" : name_of(collective))) {
        if (multicast && sched::find_plan_pattern(name) == nullptr) continue;
        if (keeps_two_sums(collective, name, ranks)) continue;
        const sched::Spec spec = sched::parse_spec(
            fmt::format("{}:ranks={},bytes={},block={}{}{}", multicast ? name : name_of(collective),
                        ranks, bytes, bytes, multicast ? "" : ",by=", multicast ? "" : name));
        const sched::Schedule schedule = sched::compile(spec);
        named_s = std::min(named_s, run_flows({schedule, at.platform, at.wiring}).makespan_s());
        CollectiveTask task = of.task;
        task.block_bytes = bytes;
        auto found = named_moves(task, spec.multicast, std::string(name), 8192);
        ASSERT_TRUE(found);
        of.starts.push_back({std::string(name), bytes, std::move(found->moves), found->shares});
      }
      const Synthesized found = synthesize(of, at.platform, at.wiring);
      EXPECT_LE(found.makespan_s, named_s * (1 + 1e-9))
          << name_of(collective) << ", " << ranks << " ranks, seed " << seed;
      for (const sched::Diagnostic& d : sched::verify(found.schedule)) ADD_FAILURE() << d.message;
      faster += found.makespan_s < named_s * (1 - 1e-9) ? 1 : 0;
    }
  }
  EXPECT_GE(faster, 4u);
}

// The fewest rounds in which every rank can have everything, where a rank sends one unit a round
// and receives one, and `link(s, d)` says who reaches whom.
template <class Link>
std::uint32_t fewest_rounds(const Spreading& task, const Link& link) {
  using State = std::uint64_t;  // a bit for each rank and unit
  const std::uint32_t n = task.ranks, units = task.units();
  const auto bit = [&](std::uint32_t r, std::uint32_t u) { return State{1} << (r * units + u); };
  State start = 0;
  for (std::uint32_t u = 0; u < units; ++u) start |= bit(task.owner[u].value, u);
  const State end = (State{1} << (n * units)) - 1;
  std::set<State> now = {start};
  for (std::uint32_t rounds = 0;; ++rounds) {
    if (now.contains(end)) return rounds;
    std::set<State> next;
    for (const State state : now) {
      // Each receiver in turn takes a unit from a sender that is free, or nothing.
      const auto choose = [&](const auto& self, std::uint32_t d, std::uint32_t senders,
                              State got) -> void {
        if (d == n) {
          next.insert(got);
          return;
        }
        bool any = false;
        for (std::uint32_t s = 0; s < n; ++s) {
          if (s == d || (senders >> s & 1) != 0 || !link(s, d)) continue;
          for (std::uint32_t u = 0; u < units; ++u) {
            if ((state & bit(s, u)) == 0 || (state & bit(d, u)) != 0) continue;
            any = true;
            self(self, d + 1, senders | 1u << s, got | bit(d, u));
          }
        }
        // To have less helps nobody, but what another receiver needs of the sender may.
        if (!any || n > 2) self(self, d + 1, senders, got);
      };
      choose(choose, 0, 0, state);
    }
    // Drop what another state has as well.
    std::vector<State> kept;
    for (auto it = next.rbegin(); it != next.rend(); ++it) {
      const bool covered =
          std::any_of(kept.begin(), kept.end(), [&](State other) { return (*it & ~other) == 0; });
      if (!covered) kept.push_back(*it);
    }
    now = {kept.begin(), kept.end()};
  }
}

// Without latency a round takes the time of a unit.
std::uint32_t rounds_of(const Synthesized& found, std::uint64_t unit_bytes) {
  const double unit_s = static_cast<double>(unit_bytes) / 12.5e9;
  return static_cast<std::uint32_t>(found.makespan_s / unit_s + 0.5);
}

TEST(Synthesis, NeedsAsFewRoundsAsAnyScheduleOnTinyNetworks) {
  struct Tiny {
    Collective collective;
    std::uint32_t ranks;
    std::uint32_t units;  // of the message, or of a share
    bool ring;
  };
  constexpr std::uint64_t kUnit = 100'000;
  for (const auto& [collective, ranks, units, ring] :
       {Tiny{Collective::kMulticast, 4, 1, false}, Tiny{Collective::kMulticast, 4, 3, false},
        Tiny{Collective::kMulticast, 5, 2, false}, Tiny{Collective::kMulticast, 4, 2, true},
        Tiny{Collective::kAllgather, 3, 2, false}, Tiny{Collective::kAllgather, 4, 1, false},
        Tiny{Collective::kAllgather, 4, 1, true}}) {
    SCOPED_TRACE(std::string(name_of(collective)) + " of " + std::to_string(ranks) + ", " +
                 std::to_string(units) + (ring ? ", ring" : ", star"));
    const Case at = on(
        ring ? "torus:dims=" + std::to_string(ranks) + ",latency=0" : std::string("star:latency=0"),
        ranks);
    SynthesisRequest of = request(collective, ranks, units * kUnit, {kUnit}, 24, 50);
    const Synthesized found = synthesize(of, at.platform, at.wiring);
    CollectiveTask task = of.task;
    task.block_bytes = kUnit;
    const std::uint32_t n = ranks;
    const auto fewest = [&](bool neighbours) {
      return fewest_rounds(spreading_of(task), [&](std::uint32_t s, std::uint32_t d) {
        return !neighbours || (s + 1) % n == d || (d + 1) % n == s;
      });
    };
    // On a ring it may also send beyond its neighbours.
    EXPECT_LE(rounds_of(found, kUnit), fewest(ring));
    EXPECT_GE(rounds_of(found, kUnit), fewest(false));
  }
}

}  // namespace
}  // namespace slackline::analysis
