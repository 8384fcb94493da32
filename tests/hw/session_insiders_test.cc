// A rank of a session that knows the secret may say anything: the others refuse it where they read
// it, and name the rank.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hw/leader.h"
#include "hw/leader_words.h"
#include "hw/run_words.h"
#include "hw/session.h"
#include "sched/text.h"
#include "tests/hw/loop_transport.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::Mesh;
using hw::MeshOptions;
using testing::MeshRanks;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The mesh's topics: hw/session.cc, hw/conclusion.cc, hw/leader.cc.
enum Topic : std::uint32_t {
  kStart = 0x5200,
  kTimes,
  kFinished = 0x5210,
  kAllFinished,
  kOrders = 0x5300
};

// A rank has a buffer, and nothing to do.
sched::Schedule idle(std::uint32_t ranks) {
  testing::Draft draft;
  draft.ranks = ranks;
  for (std::uint32_t r = 0; r < ranks; ++r) draft.buffer(r, 64);
  return draft.build();
}

hw::RunGreeting greeting() {
  hw::RunGreeting said;
  said.schedule = idle(2).digest();
  said.greeting = {hw::Address(1), std::vector<hw::RemoteMemory>(2)};
  return said;
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using Insider = std::function<void(Mesh&)>;

// What the other rank comes to.
std::string end_beside(std::uint32_t insider, const Insider& says) {
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 2; ++r) {
    ranks.start(ranks.options(r, 2), [&](const MeshOptions& options, const MeshRanks::Say& say) {
      Mesh mesh(options);
      if (options.rank == insider) {
        says(mesh);
        mesh.receive(1 - insider, 1);  // until it is gone
        return;
      }
      testing::Loop loop;
      testing::LoopTransport transport(loop);
      hw::Session session(mesh, transport);
      hw::RunOptions run;
      run.warm_up = 0;
      run.failure_timeout = std::chrono::milliseconds(100);  // it parts from nobody
      session.run(idle(2), run);
      say("ran");
    });
  }
  return ranks.next(1 - insider);
}

// As a rank does, up to the first start.
void begin(Mesh& mesh) {
  mesh.all_gather(encode(greeting()));
  mesh.barrier();
}
void start(Mesh& mesh, const hw::RunStart& start) {
  begin(mesh);
  mesh.send(1, kStart, encode(start));
}
void run(Mesh& mesh) { start(mesh, {now_s(), true, true, false}); }

TEST(SessionInsiders, Rank0IsNamed) {
  const auto end = [](const Insider& says) { return end_beside(0, says); };
  EXPECT_EQ(end([](Mesh& mesh) { mesh.all_gather(Bytes(1, std::byte{9})); }),
            "! 3 rank 0 sent what is no greeting: a choice that there is not");
  EXPECT_EQ(end([](Mesh& mesh) { mesh.all_gather(Bytes(3)); }),
            "! 3 rank 0 sent what is no greeting: cut short");
  EXPECT_EQ(end([](Mesh& mesh) {
              hw::RunGreeting short_of_memory = greeting();
              short_of_memory.greeting.memory.resize(1);
              mesh.all_gather(encode(short_of_memory));
            }),
            "! 3 rank 0 greets with another schedule");
  EXPECT_EQ(end([](Mesh& mesh) {
              start(mesh, {kNan, true, true, false});
            }),
            "! 3 rank 0 sent what is no start of an iteration: a time that is none");
  EXPECT_EQ(end([](Mesh& mesh) {
              start(mesh, {now_s(), false, true, false});
            }),
            "! 3 rank 0 sent what is no start of an iteration: a last one that does not count");
  EXPECT_EQ(end([](Mesh& mesh) {
              start(mesh, {now_s() + 1e6, true, true, false});
            }),
            "! 3 rank 0 names a start that is more than a minute ahead");
  EXPECT_EQ(end([](Mesh& mesh) {
              run(mesh);
              mesh.send(1, kAllFinished, encode(hw::AllFinished{{}, std::vector<hw::Finish>(1)}));
            }),
            "! 3 rank 0 sent what is no end of an iteration: cut short");
  EXPECT_EQ(end([](Mesh& mesh) {
              run(mesh);
              mesh.send(1, kAllFinished, encode(hw::AllFinished{{}, std::vector<hw::Finish>(2)}));
              mesh.all_gather(encode(hw::RunEnds{0, {0, 0}, ""}));
            }),
            "! 3 rank 0 tells of 2 iterations; expected 1");
}

TEST(SessionInsiders, AnotherRankIsNamed) {
  const auto end = [](const Insider& says) { return end_beside(1, says); };
  const auto finish = [](Mesh& mesh, const hw::Finish& told) {
    begin(mesh);
    mesh.receive(0, kStart);
    mesh.send(0, kFinished, encode(hw::RankFinish{{}, told}));
  };
  EXPECT_EQ(end([&](Mesh& mesh) {
              finish(mesh, {kNan, 0, 0});
            }),
            "! 3 rank 1 sent what is no end of an iteration: a time that is none");
  const auto tell_times = [&](Mesh& mesh, const hw::RunTimes& times) {
    finish(mesh, {});
    mesh.receive(0, kAllFinished);
    mesh.all_gather(encode(hw::RunEnds{0, {0}, ""}));
    mesh.send(0, kTimes, encode(times));
  };
  EXPECT_EQ(end([&](Mesh& mesh) {
              tell_times(mesh, {{std::vector<sched::OpTimes>(1), {}, {}}, {}});
            }),
            "! 3 rank 1 sent what is no record of its operations: more of them than there can be");
  EXPECT_EQ(end([&](Mesh& mesh) {
              tell_times(mesh, {{{}, {}, Bytes(63)}, {}});
            }),
            "! 3 rank 1 tells of 63 bytes that are kept; expected 0");
  EXPECT_EQ(end([&](Mesh& mesh) {
              tell_times(mesh, {});
              mesh.barrier();
            }),
            "ran");
}

TEST(SessionInsiders, ALeaderIsNamed) {
  const auto end = [](const std::vector<Bytes>& orders) {
    MeshRanks ranks;
    ranks.start(ranks.options(0, 2), [&](const MeshOptions& options, const MeshRanks::Say&) {
      Mesh mesh(options);
      for (const Bytes& order : orders) mesh.send(1, kOrders, order);
      mesh.receive(1, 1);
    });
    ranks.start(ranks.options(1, 2), [&](const MeshOptions& options, const MeshRanks::Say& say) {
      Mesh mesh(options);
      testing::Loop loop;
      testing::LoopTransport transport(loop);
      follow(mesh, transport);
      say("was told to end");
    });
    return ranks.next(1);
  };
  const std::string schedule = sched::write_text(idle(2));
  hw::RunOptions options;
  EXPECT_EQ(end({hw::encode_end()}), "was told to end");
  EXPECT_EQ(end({Bytes(1, std::byte{3})}),
            "! 3 rank 0 sent what is no order: a choice that there is not");
  EXPECT_EQ(end({hw::encode_run(options, "")}), "! 3 rank 0 tells to run again what never ran");
  EXPECT_EQ(end({hw::encode_run(options, "no schedule")}).substr(0, 34),
            "! 3 rank 0 sent what is no order: ");
  options.order.policy = machine::IssuePolicy::kLeastSlack;
  const std::vector<double> slack(3);
  options.order.slack_s = slack;
  EXPECT_EQ(end({hw::encode_run(options, schedule)}),
            "! 3 rank 0 tells the slack of 3 operations; expected 0");
}

}  // namespace
}  // namespace slackline
