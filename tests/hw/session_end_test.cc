// Sessions of which a rank is lost, or waits in vain, and those that a leader leads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hw/driver.h"
#include "hw/leader.h"
#include "hw/passing_transport.h"
#include "sched/builder.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/draft.h"
#include "tests/support/patience.h"

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

TEST(Session, SurvivorsNameWhoIsLostAndKeepWhatTheySaw) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  const std::pair<const char*, hw::Waiting> cases[] = {{"shm", hw::Waiting::kPolling},
                                                       {"shm", hw::Waiting::kInterrupt},
                                                       {"net", hw::Waiting::kHybrid},
                                                       {"net", hw::Waiting::kPolling},
                                                       {"tcp;ofi_rxm", hw::Waiting::kInterrupt}};
  // What a rank says after it has begun. How long until all have is the machine's affair.
  const auto ends_after = [&](std::chrono::milliseconds time, const std::string& transport,
                              hw::Waiting waiting) {
    MeshRanks processes;
    processes.start_all(3, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
      hw::Mesh mesh(mesh_options);
      const auto net = transport_named(transport);
      hw::Session session(mesh, *net);
      hw::RunOptions options;
      options.waiting = waiting;
      options.poll_for = std::chrono::milliseconds(1);
      session.run(schedule, options);
      // The second time, rank 1 is late with everything, for a minute.
      machine::Straggler slow;
      slow.rank = RankId(1);
      slow.by = sched::Time{60'000'000'000'000};
      options.delays.stragglers.push_back(slow);
      options.warm_up = 0;
      say("begins");
      try {
        session.run(schedule, options);
        say("no error");
      } catch (const hw::PeerLost& error) {
        say(fmt::format("lost {}", error.rank()));
      }
      const auto& partial = session.partial();
      if (!partial) {
        say("nothing");
        return;
      }
      const double first_s = partial->ops[schedule.first_op(RankId(mesh.rank())).value].ready_s;
      say(first_s == 0 ? "partial" : "empty");
    });
    for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(processes.next(r), "begins");
    std::this_thread::sleep_for(time);
    testing::kill_rank(processes, 1, transport);
    std::vector<std::string> said;
    for (const std::uint32_t r : {0u, 2u}) {
      for (int line = 0; line < 3; ++line) said.push_back(processes.next(r));
    }
    return said;
  };
  for (const auto& [transport, waiting] : cases) {
    SCOPED_TRACE(transport);
    testing::expect_with_patience(
        std::chrono::milliseconds(100), "nothing",
        [&, name = transport, how = waiting](auto time) { return ends_after(time, name, how); },
        [](auto) {
          return ::testing::ElementsAre("lost 1", "partial", "(end)", "lost 1", "partial", "(end)");
        });
  }
}

// What others send goes on arriving, for memory that is gone.
TEST(Session, SurvivorsEndWhateverIsUnderWay) {
  constexpr std::uint32_t kRanks = 4;
  const char* const specs[] = {"sequential:ranks=4,bytes=400000,block=1000",
                               "circulant:ranks=4,bytes=400000,block=8000",
                               "scatter-allgather:ranks=4,bytes=4MiB,block=65536",
                               "chain:ranks=4,bytes=4MiB,block=65536,lower=put"};
  std::mt19937 random(1);
  const auto below = [&random](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  transport_named("shm");
  for (const char* const spec : specs) {
    for (const char* const transport : {"net", "tcp;ofi_rxm"}) {
      const std::uint32_t victim = below(kRanks);
      const std::chrono::microseconds moment(below(100'000));
      // Not all see the loss at once.
      const std::chrono::milliseconds late(1 + below(20));
      SCOPED_TRACE(fmt::format("{} on {}, rank {} killed after {} us", spec, transport, victim,
                               moment.count()));
      const sched::Schedule schedule = compiled(spec);
      MeshRanks processes;
      processes.start_all(kRanks, [&](const hw::MeshOptions& place, const MeshRanks::Say& say) {
        {
          hw::Mesh mesh(place);
          const auto net = transport_named(transport);
          hw::Session session(mesh, *net);
          hw::RunOptions options;
          options.iterations = 1'000'000;
          try {
            session.run(schedule, options, [&](std::uint32_t done, std::uint32_t) {
              if (done == 1) say("runs");
            });
          } catch (const hw::PeerLost& error) {
            say(fmt::format("lost {}", error.rank()));
          }
          std::this_thread::sleep_for(late * mesh.rank());
        }
        say("left");
      });
      for (std::uint32_t r = 0; r < kRanks; ++r) ASSERT_EQ(processes.next(r), "runs");
      std::this_thread::sleep_for(moment);
      processes.signal(victim, SIGKILL);
      for (std::uint32_t r = 0; r < kRanks; ++r) {
        if (r == victim) continue;
        EXPECT_EQ(processes.next(r), fmt::format("lost {}", victim)) << "at rank " << r;
        EXPECT_EQ(processes.next(r), "left") << "at rank " << r;
        EXPECT_EQ(processes.next(r), "(end)") << "at rank " << r;
      }
    }
  }
}

TEST(Session, WhoWaitsInVainSaysSo) {
  // Each of two ranks sends only when it has received.
  sched::ScheduleBuilder builder(3);
  sched::ChannelId ways[2];
  for (std::uint32_t r = 0; r < 2; ++r) {
    sched::Channel channel;
    channel.src = RankId(r);
    channel.dst = RankId(1 - r);
    ways[r] = builder.add_channel(channel);
  }
  for (std::uint32_t r = 0; r < 2; ++r) {
    sched::Op op;
    op.kind = OpKind::kRecv;
    op.rank = RankId(r);
    op.channel = ways[1 - r];
    const OpId receive = builder.add(op);
    op.kind = OpKind::kSend;
    op.channel = ways[r];
    builder.add_edge(receive, builder.add(op));
  }
  const sched::Schedule schedule = builder.build();
  // A third one has nothing to do, and leaves it to them to say what they wait for.
  MeshRanks processes;
  start_session(processes, "shm", 3,
                [&](hw::Session& session, hw::Mesh&, const MeshRanks::Say& say) {
                  hw::RunOptions options;
                  options.stall_timeout = std::chrono::milliseconds(300);
                  try {
                    session.run(schedule, options);
                  } catch (const hw::Stalled& error) {
                    say(error.what());
                  }
                });
  const std::string first = processes.next(0);
  EXPECT_THAT(first, ::testing::MatchesRegex("rank [01]: nothing happened for 0.3 s, and no rank "
                                             "is lost; op [02] .recv, .*. is not done"));
  for (const std::uint32_t r : {1u, 2u}) EXPECT_EQ(processes.next(r), first);
}

// Breaks when it is asked for completions once more than `polls` times.
class BreakingTransport final : public hw::PassingTransport {
 public:
  BreakingTransport(std::unique_ptr<hw::Transport> under, int polls)
      : PassingTransport(std::move(under)), left_(polls) {}
  std::size_t poll(std::span<hw::Completion> completions) override {
    if (left_-- <= 0) throw EnvironmentError("the card is gone");
    return PassingTransport::poll(completions);
  }

 private:
  int left_;
};

// What each of three ranks ends with, one of which has such a transport.
std::vector<std::string> ends_with_broken(const sched::Schedule& schedule, std::uint32_t broken,
                                          int polls) {
  MeshRanks processes;
  processes.start_all(3, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    std::unique_ptr<hw::Transport> net = transport_named("net");
    if (mesh.rank() == broken) net = std::make_unique<BreakingTransport>(std::move(net), polls);
    hw::Session session(mesh, *net);
    hw::RunOptions options;
    options.warm_up = 0;
    options.failure_timeout = std::chrono::milliseconds(50);
    session.run(schedule, options);
    say("no error");
  });
  std::vector<std::string> ends;
  for (std::uint32_t r = 0; r < 3; ++r) ends.push_back(processes.next(r));
  return ends;
}

std::vector<std::string> all_told_of(std::uint32_t broken) {
  std::vector<std::string> ends(3, fmt::format("! 3 rank {}: the card is gone", broken));
  ends[broken] = "! 3 the card is gone";
  return ends;
}

TEST(Session, WhatBreaksAtOneRankIsToldToAll) {
  transport_named("shm");
  const sched::Schedule chain = compiled("chain:ranks=3,bytes=1000,block=100");
  for (std::uint32_t broken = 0; broken < 3; ++broken) {
    EXPECT_EQ(ends_with_broken(chain, broken, 0), all_told_of(broken));
  }
}

// Who has finished serves the others until they have, too.
TEST(Session, WhatBreaksAtARankThatHasFinishedIsToldToAll) {
  transport_named("shm");
  testing::Draft draft;
  draft.ranks = 3;
  draft.add(OpKind::kJoin, 0);
  draft.add(OpKind::kCalc, 1);
  draft.ops.back().arguments.emplace().duration = sched::Time{20'000'000'000'000};
  draft.add(OpKind::kJoin, 2);
  const sched::Schedule schedule = draft.build();
  for (const std::uint32_t broken : {0u, 2u}) {
    // In the first round it finishes.
    EXPECT_EQ(ends_with_broken(schedule, broken, 1), all_told_of(broken));
  }
}

// Nobody hears of a message while it is on its way.
TEST(LongestQuiet, HasTimeForTheLargestMessage) {
  testing::Draft draft;
  draft.ranks = 2;
  const sched::ChannelId channel = draft.channel(0, 1);
  const sched::BufferId from = draft.buffer(0, 2'500'000);
  const sched::BufferId to = draft.buffer(1, 2'500'000);
  draft.put(channel, {from, 0, 1000}, {to, 0, 1000});
  EXPECT_NEAR(hw::longest_quiet(draft.build(), {}).count(), 0.0008, 1e-12);
  draft.put(channel, {from, 0, 2'500'000}, {to, 0, 2'500'000});
  EXPECT_NEAR(hw::longest_quiet(draft.build(), {}).count(), 2, 1e-12);
}

// Takes one request at a time, a tenth of a second after the one before.
class SlowTransport final : public hw::PassingTransport {
 public:
  using PassingTransport::PassingTransport;
  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - taken_ < std::chrono::milliseconds(100)) return 0;
    const std::size_t taken = PassingTransport::post(requests.first(1));
    if (taken != 0) taken_ = now;
    return taken;
  }

 private:
  std::chrono::steady_clock::time_point taken_;
};

// Rank 2 waits for twice as long as it would wait if nobody moved.
TEST(Session, WhoWaitsForRanksThatMoveHasTime) {
  transport_named("shm");
  testing::Draft draft;
  draft.ranks = 3;
  const sched::ChannelId busy = draft.channel(0, 1);
  const sched::ChannelId last = draft.channel(0, 2);
  constexpr int kMessages = 30;
  OpId sent;
  for (int i = 0; i < kMessages; ++i) sent = draft.send(busy);
  draft.edge(sent, draft.send(last));
  for (int i = 0; i < kMessages; ++i) draft.recv(busy);
  draft.recv(last);
  const sched::Schedule schedule = draft.build();
  MeshRanks processes;
  processes.start_all(3, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    std::unique_ptr<hw::Transport> net = transport_named("net");
    if (mesh.rank() == 0) net = std::make_unique<SlowTransport>(std::move(net));
    hw::Session session(mesh, *net);
    hw::RunOptions options;
    options.warm_up = 0;
    options.waiting = hw::Waiting::kInterrupt;  // it looks at the clock in every round
    options.stall_timeout = std::chrono::milliseconds(1500);
    session.run(schedule, options);
    say("through");
  });
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(processes.next(r), "through");
}

TEST(Leader, FollowersRunWhatTheLeaderRuns) {
  MeshRanks processes;
  transport_named("shm");
  processes.start_all(3, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    const auto net = transport_named("shm");
    if (mesh.rank() != 0) {
      hw::follow(mesh, *net);
      say("told to end");
      return;
    }
    hw::Leader leader(mesh, *net);
    const sched::Schedule chain = compiled("chain:ranks=3,bytes=1000,block=100");
    const sched::Schedule tree = compiled("double-tree:ranks=3,bytes=3000,block=100,lower=put");
    hw::RunOptions options;
    say(first_fault(chain, options, leader.run(chain, options)));
    options.iterations = 3;
    options.order.policy = machine::IssuePolicy::kLeastSlack;
    const std::vector<double> slack_s(chain.op_count(), 1);
    options.order.slack_s = slack_s;
    options.delays.ops.push_back({OpId(0), sched::Time{1'000'000}, true, RankId::none()});
    say(first_fault(chain, options, leader.run(chain, options)));
    options.delays.link_rates.push_back({"tor", sched::Rate{5}, sched::Time{0}});
    try {
      leader.run(chain, options);
    } catch (const Unsupported& error) {
      say(error.what());
    }
    options = {};
    say(first_fault(tree, options, leader.run(tree, options)));
  });
  EXPECT_EQ(processes.next(0), "");
  EXPECT_EQ(processes.next(0), "");
  EXPECT_THAT(processes.next(0), ::testing::HasSubstr("the rate of link tor"));
  EXPECT_EQ(processes.next(0), "");
  EXPECT_EQ(processes.next(1), "told to end");
  EXPECT_EQ(processes.next(2), "told to end");
}

}  // namespace
}  // namespace slackline
