// Sessions over verbs: the ways of waiting, iterations on one transport, and a rank that is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "hw/session.h"
#include "hw/verbs/transport.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;

TEST(Sessions, ProveTheirBytesHoweverRanksWait) {
  constexpr std::uint32_t kRanks = 4;
  MeshRanks ranks;
  ranks.start_all(kRanks, [](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    const auto transport = hw::make_verbs_transport({});
    hw::Session session(mesh, *transport);
    for (const char* const spec : {"binomial-pipeline:ranks=4,bytes=100000,block=3000",
                                   "ring-buffer:ranks=4,bytes=500,messages=20,slots=4",
                                   "circulant:ranks=4,bytes=100000,block=30000,lower=put"}) {
      const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
      for (const hw::Waiting waiting :
           {hw::Waiting::kPolling, hw::Waiting::kInterrupt, hw::Waiting::kHybrid}) {
        hw::RunOptions run;
        run.iterations = 3;
        run.waiting = waiting;
        run.poll_for = std::chrono::milliseconds(1);
        say(session.run(schedule, run).breach.value_or("proved"));
      }
    }
  });
  for (int run = 0; run < 9; ++run) {
    for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "proved") << r;
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "(end)") << r;
}

// How often the guest's device was told that a message had come before its receive.
std::uint64_t early_messages() {
  std::ifstream file("/sys/class/infiniband/rxe0/ports/1/hw_counters/send_rnr_err");
  std::uint64_t count = 0;
  EXPECT_TRUE(file >> count);
  return count;
}

TEST(Sessions, NeitherABlockNorItsCreditComesBeforeItsReceive) {
  constexpr std::uint32_t kRanks = 4;
  const std::uint64_t before = early_messages();
  MeshRanks ranks;
  ranks.start_all(kRanks, [](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    const auto transport = hw::make_verbs_transport({});
    hw::Session session(mesh, *transport);
    for (const char* const spec : {"chain:ranks=4,bytes=3MiB,block=128KiB",
                                   "binomial-pipeline:ranks=4,bytes=1MiB,block=64KiB,window=2"}) {
      hw::RunOptions run;
      run.iterations = 3;
      run.waiting = hw::Waiting::kInterrupt;
      say(session.run(sched::compile(sched::parse_spec(spec)), run).breach.value_or("proved"));
    }
  });
  for (int run = 0; run < 2; ++run) {
    for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "proved") << r;
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "(end)") << r;
  EXPECT_EQ(early_messages(), before);
}

// Rank 0 sends to all and they wait for more, for an hour.
sched::Schedule endless() {
  sched::ScheduleBuilder builder(3);
  const auto add = [&](sched::OpKind kind, std::uint32_t rank, sched::ChannelId channel) {
    sched::Op op;
    op.kind = kind;
    op.rank = sched::RankId(rank);
    op.channel = channel;
    return builder.add(op);
  };
  sched::ChannelId channels[2];
  for (std::uint32_t to = 1; to < 3; ++to) {
    sched::Channel channel;
    channel.src = sched::RankId(0);
    channel.dst = sched::RankId(to);
    channels[to - 1] = builder.add_channel(channel);
  }
  for (const sched::ChannelId channel : channels) add(sched::OpKind::kSend, 0, channel);
  sched::Op calc;
  calc.kind = sched::OpKind::kCalc;
  calc.rank = sched::RankId(0);
  sched::OpArguments hour;
  hour.duration = sched::Time{3'600'000'000'000'000};
  const sched::OpId waited = builder.add(calc, hour);
  for (const sched::ChannelId channel : channels) {
    builder.add_edge(waited, add(sched::OpKind::kSend, 0, channel));
  }
  for (std::uint32_t to = 1; to < 3; ++to) {
    for (int i = 0; i < 2; ++i) add(sched::OpKind::kRecv, to, channels[to - 1]);
  }
  return builder.build();
}

TEST(Sessions, ARankThatIsKilledIsNamedByAllOthers) {
  for (const std::size_t killed : {0, 2}) {
    MeshRanks ranks;
    ranks.start_all(3, [](const hw::MeshOptions& options, const MeshRanks::Say& say) {
      hw::Mesh mesh(options);
      const auto transport = hw::make_verbs_transport({});
      hw::Session session(mesh, *transport);
      const sched::Schedule schedule = endless();
      hw::RunOptions run;
      run.warm_up = 0;
      run.waiting = hw::Waiting::kInterrupt;
      say("ready");
      session.run(schedule, run);
    });
    for (std::size_t r = 0; r < 3; ++r) ASSERT_EQ(ranks.next(r), "ready");
    usleep(500'000);  // before or amid the run
    ranks.signal(killed, SIGKILL);
    for (std::size_t r = 0; r < 3; ++r) {
      if (r == killed) continue;
      EXPECT_THAT(ranks.next(r),
                  ::testing::StartsWith("! 1 rank " + std::to_string(killed) + " is lost"))
          << r;
    }
  }
}

}  // namespace
}  // namespace slackline
