// Dynamic schedules run by real processes: what does not depend on who is faster is what simulation
// gives, and where ranks race, nothing is lost and nobody goes twice.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "hw/leader.h"
#include "hw/passing_transport.h"
#include "sched/kept_memory.h"
#include "sched/text.h"
#include "tests/hw/racing_schedules.h"
#include "tests/hw/random_words.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using sched::OpId;
using testing::MeshRanks;
using testing::start_session;
using testing::transport_named;

// Where a run is not what was simulated, in words; empty if nowhere. `attempts`: of what may race,
// only that it ran.
std::string first_difference(const sched::Schedule& schedule, const sched::Trace& run,
                             const sched::Trace& simulated, bool attempts) {
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::OpTimes& times = run.ops[i];
    if (!(times.done_s < 1e3)) return describe(schedule, OpId(i)) + " never came";
    const bool same = times.attempts == simulated.ops[i].attempts;
    if (attempts ? !same : (times.attempts == 0) != (simulated.ops[i].attempts == 0)) {
      return fmt::format("{} ran {} times; expected {}", describe(schedule, OpId(i)),
                         times.attempts, simulated.ops[i].attempts);
    }
    if (run.results[i] != simulated.results[i]) {
      return fmt::format("{} fetched {}; expected {}", describe(schedule, OpId(i)), run.results[i],
                         simulated.results[i]);
    }
  }
  if (run.memory != simulated.memory) return "other bytes than in simulation";
  return {};
}

class RegionsOn : public ::testing::TestWithParam<const char*> {
 protected:
  // libfabric looks at all its providers when it is first used: here once, for all children.
  static void SetUpTestSuite() { transport_named("shm"); }
  // ofi_rxm takes long to connect.
  static bool is_slow() { return std::string(GetParam()) == "tcp;ofi_rxm"; }
};

TEST_P(RegionsOn, RunAsTheySimulate) {
  const std::uint32_t schedules = is_slow() ? 6 : 40;
  for (std::uint32_t ranks = 2; ranks <= 4; ranks += is_slow() ? 2 : 1) {
    MeshRanks processes;
    start_session(processes, GetParam(), ranks,
                  [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
                    for (std::uint32_t seed = 0; seed < schedules; ++seed) {
                      testing::Dice dice(1000 * ranks + seed);
                      // Locks are raced for. Large messages that nobody expects stop net.
                      const bool locks = seed % 4 == 3 && GetParam() != std::string("net");
                      const std::uint32_t blocks = 2 + dice.below(8);
                      const sched::Schedule schedule =
                          locks ? testing::RandomDynamic(dice, ranks, blocks, true).build()
                                : testing::RandomWords(dice, ranks, blocks).build();
                      hw::RunOptions options;
                      options.delays.seed = seed;
                      options.waiting = static_cast<hw::Waiting>(seed % 3);
                      options.poll_for = std::chrono::milliseconds(1);
                      options.iterations = 2;
                      const hw::RunResult result = session.run(schedule, options);
                      if (mesh.rank() != 0) continue;
                      const sched::Trace simulated =
                          analysis::run_events({schedule, machine::Platform{}, options.delays});
                      say(first_difference(schedule, result.trace, simulated, !locks));
                    }
                  });
    for (std::uint32_t seed = 0; seed < schedules; ++seed) {
      ASSERT_EQ(processes.next(0), "") << GetParam() << ", ranks " << ranks << ", seed " << seed;
    }
    for (std::uint32_t r = 0; r < ranks; ++r) EXPECT_EQ(processes.next(r), "(end)");
  }
}

// What each of four ranks does to the same memory, and what must hold of it after.
struct Race {
  std::string name;
  sched::Schedule schedule;
  std::function<std::string(const sched::Schedule&, const sched::Trace&)> judge;
  std::uint32_t shared = 0;  // the buffer that all act on
};
std::vector<Race> races(std::uint32_t ranks) {
  std::vector<Race> all;
  all.push_back({"tickets", testing::tickets(ranks, 20), testing::judge_tickets, 1});
  all.push_back({"lock", testing::locked_counter(ranks, 10), testing::judge_locked_counter, 1});
  all.push_back({"bits", testing::own_bits(ranks, 10), testing::judge_own_bits, 0});
  all.push_back({"swaps", testing::swapped_counter(ranks, 10), testing::judge_swapped_counter, 0});
  return all;
}

TEST_P(RegionsOn, NothingIsLostWhereRanksRace) {
  constexpr std::uint32_t kRanks = 4;
  const std::size_t count = races(kRanks).size();
  MeshRanks processes;
  start_session(processes, GetParam(), kRanks,
                [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
                  for (const Race& race : races(kRanks)) {
                    hw::RunOptions options;
                    options.iterations = is_slow() ? 1 : 5;
                    const hw::RunResult result = session.run(race.schedule, options);
                    if (mesh.rank() != 0) continue;
                    const std::string judged = race.judge(race.schedule, result.trace);
                    say(judged.empty() ? judged : race.name + ": " + judged);
                  }
                });
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(processes.next(0), "");
}

TEST(Races, AreJudgedAlikeInSimulation) {
  for (const Race& race : races(4)) {
    const sched::Trace trace = analysis::run_events({race.schedule, machine::Platform{}});
    EXPECT_EQ(race.judge(race.schedule, trace), "") << race.name;
    // One write that is lost is noticed.
    sched::Trace broken = trace;
    const sched::KeptMemory kept(race.schedule);
    kept.of(sched::BufferId(race.shared), std::span(broken.memory)).back() ^= std::byte{1};
    EXPECT_NE(race.judge(race.schedule, broken), "") << race.name;
  }
}

// All ranks of a run that cannot go on throw the same.
void expect_ended_alike(const std::string& transport, const std::string& text,
                        const std::string& expected) {
  const sched::Schedule schedule = sched::read_text(text);
  MeshRanks processes;
  start_session(processes, transport, schedule.rank_count(),
                [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
                  try {
                    session.run(schedule, {});
                    say("no error");
                  } catch (const InputError& error) {
                    say(error.what());
                  }
                  say(session.is_broken() ? "broken" : "whole");
                  say(session.partial() ? "partial" : "nothing");
                });
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    EXPECT_EQ(processes.next(r), expected) << transport << ", rank " << r;
    EXPECT_EQ(processes.next(r), "broken");
    EXPECT_EQ(processes.next(r), "partial");
    EXPECT_EQ(processes.next(r), "(end)");
  }
}

// Ranks 0 and 2 wait for rank 1, which never gets there.
constexpr const char* kNever =
    "slackline schedule 1\nranks 3\nbuffer 0 rank 0 bytes 16\nbuffer 1 rank 1 bytes 16\n"
    "channel 0 from 1 to 0\nchannel 1 from 1 to 2\n"
    "rank 0\n  0 recv on 0\n"
    "rank 1\n  1 %s\n  2 send on 0 after done:1\n  3 send on 1 after done:2\n"
    "rank 2\n  4 recv on 1\nregion retry entry 1 count 1 attempts %s outcome actual\n";

std::string never(const std::string& op, const std::string& attempts) {
  std::string text = kNever;
  text.replace(text.find("%s"), 2, op);
  text.replace(text.find("%s"), 2, attempts);
  return text;
}

TEST_P(RegionsOn, ARetryThatCannotSucceedIsReportedByAll) {
  expect_ended_alike(
      GetParam(),
      never("compare_swap on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 9", "50 backoff 10us"),
      "region 0 (retry, from op 1 (compare_swap, rank 1)) has failed all of its 50 attempts");
}

TEST_P(RegionsOn, AnAddressThatLeavesItsBufferIsReportedByAll) {
  expect_ended_alike(
      GetParam(),
      never("fetch_add on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 9 offset attempt:1*8",
            "50"),
      "op 1 (fetch_add, rank 1) acts on 8 bytes at 0 + 16 of buffer 0, which has 16");
}

// A message waits at rank 1 until an atomic that came after it has acted. (On net, a large message
// that nobody expects holds up all that its sender sends after it.)
TEST_P(RegionsOn, AtomicsPassMessagesThatNobodyReceivesYet) {
  for (const std::uint32_t bytes : {8u, 100'000u}) {
    if (GetParam() == std::string("net") && bytes > 8) continue;
    const sched::Schedule schedule = sched::read_text(fmt::format(
        "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes {0}\nbuffer 1 rank 1 bytes {0}\n"
        "buffer 2 rank 1 bytes 8\nbuffer 3 rank 1 bytes 8\n"
        "channel 0 from 0 to 1\nchannel 1 from 0 to 1\nchannel 2 from 1 to 1\n"
        "rank 0\n  0 send on 0 reads 0[0+{0}]\n"
        "  1 fetch_add on 1 reads 2[0+8] writes 2[0+8] operand 1 after issued:0\n"
        "rank 1\n  2 get on 2 reads 2[0+8] writes 3[0+8] compare 1\n"
        "  3 recv on 0 writes 1[0+{0}] after done:2\n"
        "region retry entry 2 count 1 attempts 100000000 outcome actual\n"
        "pre 0[0+{0}] value 0\npost 1[0+{0}] value 0\n",
        bytes));
    MeshRanks processes;
    start_session(processes, GetParam(), 2,
                  [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
                    hw::RunOptions options;
                    options.stall_timeout = std::chrono::seconds(5);
                    say(session.run(schedule, options).breach.value_or(""));
                  });
    for (std::uint32_t r = 0; r < 2; ++r) EXPECT_EQ(processes.next(r), "") << bytes;
  }
}

TEST_P(RegionsOn, WhoIsLostInARegionIsNamedByAll) {
  // Without a pause between attempts, so that survivors learn of it while they are busy.
  for (const char* const backoff : {"4000000000", "4000000000 backoff 5ms"}) {
    const sched::Schedule schedule = sched::read_text(
        "slackline schedule 1\nranks 3\nbuffer 0 rank 0 bytes 8\n"
        "channel 0 from 0 to 0\nchannel 1 from 1 to 0\nchannel 2 from 2 to 0\n"
        "rank 0\n  0 compare_swap on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 9\n"
        "rank 1\n  1 compare_swap on 1 reads 0[0+8] writes 0[0+8] operand 1 compare 9\n"
        "rank 2\n  2 compare_swap on 2 reads 0[0+8] writes 0[0+8] operand 1 compare 9\n"
        "region retry entry 0 count 1 outcome actual attempts " +
        std::string(backoff) + "\nregion retry entry 1 count 1 outcome actual attempts " + backoff +
        "\nregion retry entry 2 count 1 outcome actual attempts " + backoff + "\n");
    MeshRanks processes;
    start_session(processes, GetParam(), 3,
                  [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
                    say("begins");
                    try {
                      session.run(schedule, {});
                      say("no error");
                    } catch (const hw::PeerLost& error) {
                      say(fmt::format("lost {}", error.rank()));
                    }
                  });
    for (std::uint32_t r = 0; r < 3; ++r) ASSERT_EQ(processes.next(r), "begins");
    std::this_thread::sleep_for(std::chrono::milliseconds(is_slow() ? 2000 : 300));
    testing::kill_rank(processes, 2, GetParam());
    for (const std::uint32_t r : {0u, 1u}) {
      EXPECT_EQ(processes.next(r), "lost 2") << GetParam() << ", " << backoff;
      EXPECT_EQ(processes.next(r), "(end)");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RegionsOn, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "tcp;ofi_rxm" ? "rxm" : tested.param;
                         });

// Rank 1 takes its time over a repeat, and rank 2 waits for longer than it would for nothing.
// On a busy machine a rank may in truth get nothing done for that long, so three runs are tried,
// each with more time: who goes by the time of the whole run finds each of them stuck.
TEST(Regions, WhoIsSlowIsNotTakenForStuck) {
  transport_named("shm");
  const auto is_through = [&](int times) {
    const sched::Schedule schedule = sched::read_text(
        fmt::format("slackline schedule 1\nranks 3\nchannel 0 from 1 to 2\n"
                    "rank 0\nrank 1\n  0 delay for 100ms\n  1 send on 0 after done:0\n"
                    "rank 2\n  2 recv on 0\nregion repeat entry 0 count 1 attempts {}\n",
                    45 * times));
    MeshRanks processes;
    start_session(processes, "shm", 3,
                  [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
                    hw::RunOptions options;
                    options.warm_up = 0;
                    options.stall_timeout = times * std::chrono::seconds(3);
                    say(session.run(schedule, options).breach.value_or(""));
                  });
    bool all = true;
    for (std::uint32_t r = 0; r < 3; ++r) all = processes.next(r).empty() && all;
    return all;
  };
  EXPECT_TRUE(is_through(1) || is_through(3) || is_through(8));
}

// As where others have the cores.
class SlowTransport final : public hw::PassingTransport {
 public:
  using PassingTransport::PassingTransport;
  std::size_t poll(std::span<hw::Completion> completions) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return PassingTransport::poll(completions);
  }
};

// Rank 1 has something to do before it has looked in vain very often, again and again.
TEST(Regions, WhoLooksSeldomSaysThatItMovesAllTheSame) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 3\nchannel 0 from 1 to 2\n"
      "rank 0\nrank 1\n  0 delay for 100ms\n  1 send on 0 after done:0\n"
      "rank 2\n  2 recv on 0\nregion repeat entry 0 count 1 attempts 60\n");
  transport_named("shm");
  MeshRanks processes;
  processes.start_all(3, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    std::unique_ptr<hw::Transport> transport = transport_named("shm");
    if (mesh.rank() == 1) transport = std::make_unique<SlowTransport>(std::move(transport));
    hw::Session session(mesh, *transport);
    hw::RunOptions options;
    options.warm_up = 0;
    options.stall_timeout = std::chrono::seconds(3);
    say(session.run(schedule, options).breach.value_or("through"));
  });
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(processes.next(r), "through");
}

TEST(Leader, FollowersDrawTheLeadersSeed) {
  transport_named("shm");
  MeshRanks processes;
  processes.start_all(3, [](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    const auto net = transport_named("shm");
    if (mesh.rank() != 0) {
      hw::follow(mesh, *net);
      say("told to end");
      return;
    }
    hw::Leader leader(mesh, *net);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      testing::Dice dice(5);
      const sched::Schedule schedule = testing::RandomWords(dice, 3, 12).build();
      hw::RunOptions options;
      options.delays.seed = seed;
      const hw::RunResult result = leader.run(schedule, options);
      const sched::Trace simulated =
          analysis::run_events({schedule, machine::Platform{}, options.delays});
      say(first_difference(schedule, result.trace, simulated, true));
    }
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(processes.next(0), "");
  for (std::uint32_t r = 1; r < 3; ++r) EXPECT_EQ(processes.next(r), "told to end");
}

TEST(Leader, FollowersOfARunThatCannotGoOnEnd) {
  transport_named("shm");
  MeshRanks processes;
  processes.start_all(3, [](const hw::MeshOptions& mesh_options, const MeshRanks::Say&) {
    hw::Mesh mesh(mesh_options);
    const auto net = transport_named("shm");
    if (mesh.rank() != 0) return hw::follow(mesh, *net);
    hw::Leader leader(mesh, *net);
    leader.run(sched::read_text(
                   never("compare_swap on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 9", "5")),
               {});
  });
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_THAT(processes.next(r), ::testing::StartsWith("! 2 region 0 (retry"));
  }
}

}  // namespace
}  // namespace slackline
