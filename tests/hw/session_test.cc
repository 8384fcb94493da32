// Sessions of real processes: what a run gives, for every pattern on every provider.
#include "hw/session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "sched/builder.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using sched::OpId;
using sched::OpKind;
using sched::RankId;
using testing::compiled;
using testing::first_fault;
using testing::MeshRanks;
using testing::start_session;
using testing::transport_named;

// Runs the specs in one session; what rank 0 says of each.
void run_all(const std::string& transport, std::uint32_t ranks,
             const std::vector<std::string>& specs, const hw::RunOptions& options) {
  MeshRanks processes;
  processes.start_all(ranks, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    const auto net = transport_named(transport);
    hw::Session session(mesh, *net);
    for (const std::string& spec : specs) {
      const sched::Schedule schedule = compiled(spec);
      const hw::RunResult result = session.run(schedule, options);
      if (mesh.rank() == 0) say(first_fault(schedule, options, result));
      if (mesh.rank() != 0) say(result.breach.value_or(""));
    }
  });
  for (const std::string& spec : specs) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      ASSERT_EQ(processes.next(r), "") << transport << " " << spec << ", rank " << r;
    }
  }
  for (std::uint32_t r = 0; r < ranks; ++r) EXPECT_EQ(processes.next(r), "(end)");
}

class SessionOn : public ::testing::TestWithParam<const char*> {
 protected:
  // libfabric looks at all its providers when it is first used: here once, for all children.
  static void SetUpTestSuite() { transport_named("shm"); }
};

TEST_P(SessionOn, EveryPatternRunsInLegalOrder) {
  std::mt19937 random(4711);
  const auto below = [&](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  // ofi_rxm takes long to connect.
  const std::uint32_t step = GetParam() == std::string("tcp;ofi_rxm") ? 5 : 1;
  for (std::uint32_t ranks = 1; ranks <= 16; ranks += step) {
    std::vector<std::string> specs;
    for (const char* const pattern :
         {"sequential", "chain", "binomial-tree", "binary-tree", "double-tree", "binomial-pipeline",
          "hybrid", "circulant", "scatter-allgather"}) {
      if (ranks > 3 && below(3) != 0) continue;
      const std::uint32_t blocks = 1 + below(32);
      const std::uint32_t block = 1 + below(3000);
      // A short last block, mostly; sometimes nothing at all.
      const std::uint32_t bytes = below(8) == 0 ? 0 : block * blocks - below(block);
      const char* const lowered[] = {"", ",lower=put", ",ready=write", ",ready=none"};
      specs.push_back(fmt::format("{}:ranks={},bytes={},block={}{}", pattern, ranks, bytes, block,
                                  lowered[below(4)]));
    }
    hw::RunOptions options;
    options.iterations = 1 + below(2);
    options.warm_up = below(2);
    options.waiting = static_cast<hw::Waiting>(below(3));
    options.poll_for = std::chrono::milliseconds(1);
    run_all(GetParam(), ranks, specs, options);
    if (HasFatalFailure()) return;
  }
}

// Rank 0 sends `messages` of so many bytes on one channel, then one on each of `others`; rank 1
// receives the latter first.
sched::Schedule early(std::uint32_t messages, std::uint64_t bytes, std::uint32_t others) {
  testing::Draft draft;
  draft.ranks = 2;
  const sched::ChannelId first = draft.channel(0, 1);
  const sched::BufferId from = draft.buffer(0, bytes);
  const sched::BufferId to = draft.buffer(1, bytes * (messages + others));
  const auto all = [&](std::uint64_t message) { return sched::Slice{to, bytes * message, bytes}; };
  for (std::uint32_t i = 0; i < messages; ++i) draft.send(first, {{from, 0, bytes}});
  std::vector<sched::ChannelId> behind;
  for (std::uint32_t c = 0; c < others; ++c) {
    behind.push_back(draft.channel(0, 1));
    draft.send(behind.back(), {{from, 0, bytes}});
  }
  std::vector<OpId> received;
  for (std::uint32_t c = 0; c < others; ++c) received.push_back(draft.recv(behind[c], {all(c)}));
  for (std::uint32_t i = 0; i < messages; ++i) {
    const OpId late = draft.recv(first, {all(others + i)});
    if (i == 0) {
      for (const OpId before : received) draft.edge(before, late);
    } else {
      draft.edge(received.front(), late);
    }
  }
  draft.pre.push_back({{from, 0, bytes}, sched::ValueId(0), 0});
  for (std::uint64_t m = 0; m < messages + others; ++m) {
    draft.post.push_back({all(m), sched::ValueId(0), 0});
  }
  return draft.build();
}

// Messages of one channel wait for the last that its rank sends. shm has room for 992.
TEST_P(SessionOn, EarlyMessagesOfOneChannelHoldUpNoOther) {
  const bool keeps_small_ones_alone = GetParam() == std::string("net");
  MeshRanks processes;
  const std::vector<sched::Schedule> schedules = {early(2000, 8, 1), early(2000, 1000, 1),
                                                  early(1500, 10'000, 1), early(5, 8, 900)};
  const auto is_run = [=](std::size_t i) { return !keeps_small_ones_alone || i % 3 == 0; };
  start_session(processes, GetParam(), 2,
                [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
                  hw::RunOptions options;
                  options.stall_timeout = std::chrono::seconds(20);
                  for (std::size_t i = 0; i < schedules.size(); ++i) {
                    if (!is_run(i)) continue;
                    const hw::RunResult result = session.run(schedules[i], options);
                    say(mesh.rank() == 0 ? first_fault(schedules[i], options, result) : "");
                  }
                });
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    if (!is_run(i)) continue;
    for (std::uint32_t r = 0; r < 2; ++r) ASSERT_EQ(processes.next(r), "") << i << ", rank " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SessionOn, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "tcp;ofi_rxm" ? "rxm" : tested.param;
                         });

// Each takes room for a receive.
TEST(Session, MoreReceivingChannelsThanShmHasRoomForAreRefusedBeforeTheRun) {
  const std::vector<sched::Schedule> schedules = {early(1, 8, 992), early(1, 8, 3)};
  MeshRanks processes;
  start_session(processes, "shm", 2,
                [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
                  for (const sched::Schedule& schedule : schedules) {
                    try {
                      say(session.run(schedule, {}).breach.value_or("proved"));
                    } catch (const Unsupported& error) {
                      say(error.what());
                    }
                  }
                });
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_EQ(processes.next(r),
              "shm: a rank receives messages on 993 channels; expected 992 at most: take "
              "--transport tcp, or fewer channels");
    EXPECT_EQ(processes.next(r), "proved");
  }
}

TEST(Session, WrongBytesAreToldAtEveryRank) {
  // The contract promises rank 1 another value than it is sent.
  sched::ScheduleBuilder builder(2);
  sched::Channel channel;
  channel.src = RankId(0);
  channel.dst = RankId(1);
  const sched::ChannelId way = builder.add_channel(channel);
  const sched::BufferId from = builder.add_buffer(RankId(0), 8);
  const sched::BufferId to = builder.add_buffer(RankId(1), 8);
  sched::Op op;
  op.kind = OpKind::kSend;
  op.rank = RankId(0);
  op.channel = way;
  op.reads = builder.add_slice({from, 0, 8});
  builder.add(op);
  op.kind = OpKind::kRecv;
  op.rank = RankId(1);
  op.reads = {};
  op.writes = builder.add_slice({to, 0, 8});
  builder.add(op);
  builder.add_pre({{from, 0, 8}, sched::ValueId(0), 0});
  builder.add_post({{to, 0, 8}, sched::ValueId(1), 0});
  const sched::Schedule schedule = builder.build();
  MeshRanks processes;
  start_session(processes, "shm", 2,
                [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
                  hw::RunOptions options;
                  say(session.run(schedule, options).breach.value_or("none"));
                  options.prove = false;
                  say(session.run(schedule, options).breach.value_or("none"));
                });
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_THAT(processes.next(r),
                ::testing::StartsWith("iteration 0: rank 1: byte 0 of buffer 1"));
    EXPECT_EQ(processes.next(r), "none");
  }
}

// The others were told something else.
TEST(Session, RankZeroSaysHowOftenAndForHowLong) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  constexpr std::chrono::milliseconds kDuration{60};
  MeshRanks processes;
  start_session(processes, "shm", 3,
                [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
                  hw::RunOptions options;
                  options.warm_up = 1 + mesh.rank();
                  options.iterations = 4 + mesh.rank();
                  say(fmt::format("{}", session.run(schedule, options).makespans_s.size()));
                  options.warm_up = mesh.rank() == 0 ? 0 : 2;
                  if (mesh.rank() != 1) options.duration = kDuration;
                  std::uint32_t passed_ms = 0;
                  std::uint32_t of_ms = 0;
                  const auto begun = std::chrono::steady_clock::now();
                  const hw::RunResult result =
                      session.run(schedule, options, [&](std::uint32_t done, std::uint32_t all) {
                        passed_ms = done;
                        of_ms = all;
                      });
                  const auto took = std::chrono::steady_clock::now() - begun;
                  say(fmt::format("{}", result.makespans_s.size()));
                  if (mesh.rank() != 0) return;
                  say(result.breach.value_or(took >= kDuration ? "long enough" : "too short"));
                  say(fmt::format("{} of {}", passed_ms, of_ms));
                });
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(processes.next(r), "4");
  const std::string told = processes.next(0);
  EXPECT_GE(std::stoi(told), 2);
  EXPECT_EQ(processes.next(1), told);
  EXPECT_EQ(processes.next(2), told);
  EXPECT_EQ(processes.next(0), "long enough");
  EXPECT_EQ(processes.next(0), "60 of 60");
}

TEST(Session, DurationsThatNobodyWaitsForAreRefused) {
  MeshRanks processes;
  start_session(processes, "shm", 2, [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say&) {
    hw::RunOptions options;
    options.duration = hw::kLongestDuration + std::chrono::milliseconds(1);
    session.run(compiled("chain:ranks=2,bytes=1000"), options);
  });
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_EQ(processes.next(r), "! 2 duration: 600001 ms; expected 0 to 600000");
  }
}

TEST(Session, WhatANetworkCannotBeToldIsRefusedAndTheSessionGoesOn) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  MeshRanks processes;
  start_session(processes, "shm", 3,
                [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
                  const auto attempt = [&](const hw::RunOptions& options) {
                    try {
                      say(first_fault(schedule, options, session.run(schedule, options)));
                    } catch (const InputError& error) {
                      say(error.what());
                    } catch (const Unsupported& error) {
                      say(error.what());
                    }
                  };
                  hw::RunOptions options;
                  options.delays.pairs.push_back({RankId(0), RankId(1), sched::Rate{1000}});
                  attempt(options);
                  options.delays = {};
                  options.delays.failures.push_back({"", RankId(2), sched::Time{5}});
                  attempt(options);
                  options.delays = {};
                  // Only rank 1 finds fault with it.
                  options.iterations = mesh.rank() == 1 ? 0 : 1;
                  attempt(options);
                  options.iterations = 1;
                  if (mesh.rank() == 0) attempt(options);
                  if (mesh.rank() != 0) say(session.run(schedule, options).breach.value_or(""));
                });
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(processes.next(r),
              "run cannot apply the rate from rank 0 to rank 1: a real network cannot be told to; "
              "expected delays of operations, steps and ranks only");
    EXPECT_THAT(processes.next(r), ::testing::HasSubstr("the failure of rank 2"));
    EXPECT_EQ(processes.next(r), "iterations: 0; expected at least 1");
    EXPECT_EQ(processes.next(r), "");
  }
}

TEST(Session, DifferentSchedulesAreRefused) {
  MeshRanks processes;
  start_session(
      processes, "shm", 2, [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say&) {
        session.run(compiled(fmt::format("chain:ranks=2,bytes={}", 1000 + mesh.rank())), {});
      });
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_THAT(processes.next(r), ::testing::MatchesRegex("! 2 rank . has schedule .*"));
  }
}

TEST(Session, DelaysAreApplied) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  OpId last;
  for (OpId id = schedule.first_op(RankId(1)); id < schedule.end_op(RankId(1)); ++id.value) {
    const sched::Op& op = schedule.op(id);
    if (op.kind == OpKind::kSend && op.reads.count != 0) last = id;
  }
  MeshRanks processes;
  start_session(
      processes, "shm", 3, [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
        hw::RunOptions options;
        options.iterations = 3;
        options.delays.ops.push_back({last, sched::Time{50'000'000'000}, false, RankId(1)});
        const hw::RunResult result = session.run(schedule, options);
        if (mesh.rank() != 0) return;
        say(first_fault(schedule, options, result));
        const sched::OpTimes& times = result.trace.ops[last.value];
        say(times.issued_s - times.ready_s >= 0.05 ? "late" : "not late");
        for (const double makespan_s : result.makespans_s) {
          say(makespan_s >= 0.05 ? "late" : "not late");
        }
        say(result.trace.delays.empty() ? "no delays" : "delays");
      });
  EXPECT_EQ(processes.next(0), "");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(processes.next(0), "late");
  EXPECT_EQ(processes.next(0), "delays");
}

TEST(Session, NothingIsTimedWithoutTimestamps) {
  const sched::Schedule schedule = compiled("chain:ranks=2,bytes=1000,block=100");
  MeshRanks processes;
  start_session(
      processes, "shm", 2, [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
        hw::RunOptions options;
        const hw::RunResult timed = session.run(schedule, options);
        say(timed.clock_reads > 0 && timed.timestamp_overhead_s > 0 ? "read" : "not read");
        options.timestamps = false;
        const hw::RunResult bare = session.run(schedule, options);
        say(bare.clock_reads > 0 || bare.timestamp_overhead_s > 0 ? "read" : "not read");
        say(bare.makespans_s[0] > 0 ? "timed" : "not timed");
      });
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_EQ(processes.next(r), "read");
    EXPECT_EQ(processes.next(r), "not read");
    EXPECT_EQ(processes.next(r), "timed");
  }
}

}  // namespace
}  // namespace slackline
