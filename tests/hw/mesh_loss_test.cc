// Ranks that are killed or stopped at any moment: all others learn which, and of no other. How soon
// is a property of the test, for a machine that does much else may take longer.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "hw/mesh/wire.h"
#include "tests/hw/insider_rank.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/shared_number.h"

namespace slackline {
namespace {

using hw::Mesh;
using hw::MeshOptions;
using testing::MeshRanks;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
      .count();
}

// How a rank waits for the loss, and how it leaves when it knows of it.
struct Habits {
  enum { kGather, kReceive, kSleep } wait = kGather;
  bool says_farewell = true;
};

// "joined"; "lost RANK at MS: MESSAGE"; "all RANKS" some time later, when more would have shown.
void wait_for_loss(const MeshOptions& options, const MeshRanks::Say& say, Habits habits) {
  Mesh mesh(options);
  say("joined");
  try {
    if (habits.wait == Habits::kReceive) {
      const std::uint32_t other = mesh.rank() == 0 ? 1 : 0;
      mesh.receive(other, 99);
    }
    while (habits.wait == Habits::kGather) {
      mesh.all_gather(std::as_bytes(std::span("word")));
      usleep(5000);
    }
    pollfd entry{mesh.lost_descriptor(), POLLIN, 0};
    while (poll(&entry, 1, -1) != 1) {
    }
    mesh.throw_if_lost();
    say("nobody lost?");
  } catch (const hw::PeerLost& error) {
    say(fmt::format("lost {} at {}: {}", error.rank(), now_ms(), error.what()));
  }
  if (!habits.says_farewell) _exit(0);
  std::this_thread::sleep_for(options.failure_timeout);
  std::string all = "all";
  for (const hw::Loss& loss : mesh.lost()) {
    all += fmt::format(" {}", loss.rank);
    if (loss.rank != mesh.lost()[0].rank) all += fmt::format(" ({})", loss.how);
  }
  say(all);
}

// One run: a victim, a moment and a fault.
struct Case {
  std::uint32_t ranks = 2;
  std::uint32_t victim = 0;
  bool sparse = false;  // only neighbours are connected
  int fault = SIGKILL;
  std::chrono::microseconds when{0};
  std::vector<Habits> habits;
  MeshRanks processes;
  std::int64_t at_ms = 0;
};

std::unique_ptr<Case> a_case(std::mt19937& random, int fault) {
  const auto below = [&random](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  auto one = std::make_unique<Case>();
  one->ranks = 2 + below(7);
  one->victim = below(one->ranks);
  one->sparse = below(2) == 0;
  one->fault = fault;
  one->when = std::chrono::microseconds(below(150'000));
  for (std::uint32_t r = 0; r < one->ranks; ++r) {
    Habits habits;
    const std::uint32_t wait = below(4);  // mostly with messages under way
    habits.wait = wait == 2 ? Habits::kReceive : wait == 3 ? Habits::kSleep : Habits::kGather;
    habits.says_farewell = below(4) != 0;
    one->habits.push_back(habits);
  }
  // Who waits for one word at a time must not be waited for by gatherers: all gather, or none.
  const bool gather = one->habits[0].wait == Habits::kGather;
  for (Habits& habits : one->habits) {
    if (gather) habits.wait = Habits::kGather;
    if (!gather && habits.wait == Habits::kGather) habits.wait = Habits::kSleep;
  }
  return one;
}

constexpr auto kTimeout = 5000ms;  // a host may not run its machines for a second or two

void expect_only_the_victim(Case& one, std::int64_t& slowest_ms) {
  for (std::uint32_t r = 0; r < one.ranks; ++r) {
    if (r == one.victim) continue;
    const std::string line = one.processes.next(r);
    const std::string expected = fmt::format("lost {} at ", one.victim);
    EXPECT_EQ(line.substr(0, expected.size()), expected) << line;
    if (!line.starts_with(expected)) continue;
    const std::int64_t took_ms = std::stoll(line.substr(expected.size())) - one.at_ms;
    slowest_ms = std::max(slowest_ms, took_ms);
    const std::string how = one.fault == SIGKILL ? "its connection ended" : "silent for 3.5 s";
    EXPECT_EQ(line.substr(line.find(": ") + 2),
              fmt::format("rank {} is lost: {}", one.victim, how));
    if (!one.habits[r].says_farewell) continue;
    EXPECT_EQ(one.processes.next(r), fmt::format("all {}", one.victim));
  }
}

class MeshLoss : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, MeshLoss, ::testing::Range(0, 3));

// Fourteen meshes at once, half of them with a rank killed, half with one stopped.
TEST_P(MeshLoss, SurvivorsNameTheRankAndNoOther) {
  std::mt19937 random(static_cast<std::uint32_t>(GetParam()));
  std::vector<std::unique_ptr<Case>> cases;
  for (int i = 0; i < 14; ++i) {
    cases.push_back(a_case(random, i % 2 == 0 ? SIGKILL : SIGSTOP));
    Case& one = *cases.back();
    for (std::uint32_t r = 0; r < one.ranks; ++r) {
      MeshOptions options = one.processes.options(r, one.ranks);
      options.failure_timeout = kTimeout;
      if (one.sparse) options.full_up_to = 1;
      const Habits habits = one.habits[r];
      one.processes.start(options, [habits](const MeshOptions& own, const MeshRanks::Say& say) {
        wait_for_loss(own, say, habits);
      });
    }
  }
  for (auto& one : cases) {
    for (std::uint32_t r = 0; r < one->ranks; ++r) ASSERT_EQ(one->processes.next(r), "joined");
  }
  std::sort(cases.begin(), cases.end(), [](auto& a, auto& b) { return a->when < b->when; });
  const auto start = Clock::now();
  for (auto& one : cases) {
    std::this_thread::sleep_until(start + one->when);
    one->at_ms = now_ms();
    one->processes.signal(one->victim, one->fault);
  }
  std::int64_t killed_ms = 0;
  std::int64_t stopped_ms = 0;
  for (auto& one : cases) {
    SCOPED_TRACE(
        fmt::format("{} ranks, signal {} to rank {}", one->ranks, one->fault, one->victim));
    expect_only_the_victim(*one, one->fault == SIGKILL ? killed_ms : stopped_ms);
  }
  RecordProperty("slowest_after_kill_ms", std::to_string(killed_ms));
  RecordProperty("slowest_after_stop_ms", std::to_string(stopped_ms));
  // Those that come back find themselves lost, not the others.
  for (auto& one : cases) one->processes.signal(one->victim, SIGCONT);
  for (auto& one : cases) {
    if (one->fault == SIGKILL) continue;
    SCOPED_TRACE(fmt::format("rank {} of {} came back", one->victim, one->ranks));
    const std::string line = one->processes.next(one->victim);
    const std::string expected = fmt::format("lost {} at ", one->victim);
    EXPECT_EQ(line.substr(0, expected.size()), expected) << line;
    EXPECT_NE(line.find(fmt::format("this rank, {}, is lost: stopped for ", one->victim)),
              std::string::npos)
        << line;
    if (one->habits[one->victim].says_farewell) {
      EXPECT_EQ(one->processes.next(one->victim), fmt::format("all {}", one->victim));
    }
    EXPECT_EQ(one->processes.next(one->victim), "(end)");
  }
}

TEST(MeshLeaving, WhoSaysFarewellIsNotLost) {
  MeshRanks processes;
  processes.start_all(8, [](const MeshOptions& options, const MeshRanks::Say& say) {
    Mesh mesh(options);
    mesh.barrier();
    std::mt19937 random(options.rank);
    for (std::uint32_t to = 0; to < 8; ++to) mesh.send(to, 1, hw::Bytes(random() % 100'000));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 700));
    say(mesh.any_lost() ? fmt::format("lost {}", mesh.lost()[0].rank) : "none lost");
  });
  for (std::size_t r = 0; r < 8; ++r) {
    EXPECT_EQ(processes.next(r), "none lost");
    EXPECT_EQ(processes.next(r), "(end)");
  }
}

// How late a thread that does nothing but sleep was at worst, so far.
class Sleeper {
 public:
  Sleeper()
      : thread_([this] {
          while (!ending_) {
            const auto due = Clock::now() + 50ms;
            std::this_thread::sleep_until(due);
            const Clock::duration late = Clock::now() - due;
            worst_ = std::max(worst_.load(), late);
          }
        }) {}
  ~Sleeper() {
    ending_ = true;
    thread_.join();
  }
  Clock::duration worst() const { return worst_; }

 private:
  std::atomic<bool> ending_ = false;
  std::atomic<Clock::duration> worst_{Clock::duration::zero()};
  std::thread thread_;
};

// Eight times as many as processors, all of them busy: slow is not lost.
TEST(MeshLeaving, WhoIsBusyIsNotLost) {
  const std::uint32_t ranks = 8 * std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  MeshRanks processes;
  processes.start_all(ranks, [](const MeshOptions& given, const MeshRanks::Say& say) {
    MeshOptions options = given;
    options.failure_timeout = 2s;
    const Sleeper sleeper;
    Mesh mesh(options);
    const auto end = Clock::now() + 4s;
    while (Clock::now() < end && !mesh.any_lost()) {
    }
    // Nobody can be heard whom the machine does not let speak.
    if (sleeper.worst() > options.failure_timeout / 3) say("overloaded");
    say(mesh.any_lost() ? fmt::format("lost {}: {}", mesh.lost()[0].rank, mesh.lost()[0].how)
                        : "none lost");
    while (!mesh.any_lost()) {
    }
    say(fmt::format("lost {}", mesh.lost()[0].rank));
  });
  std::vector<std::string> lines;
  bool overloaded = false;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    lines.push_back(processes.next(r));
    if (lines.back() != "overloaded") continue;
    overloaded = true;
    lines.back() = processes.next(r);
  }
  const bool none_lost = std::all_of(lines.begin(), lines.end(),
                                     [](const std::string& line) { return line == "none lost"; });
  if (!none_lost && overloaded) {
    GTEST_SKIP() << "this machine has so much else to do that threads sleep too long";
  }
  EXPECT_TRUE(none_lost) << fmt::format("{}", fmt::join(lines, "\n"));
  processes.signal(1, SIGKILL);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (r == 1) continue;
    EXPECT_EQ(processes.next(r), "lost 1");
  }
}

// Survivors can still tell each other something.
TEST(MeshLeaving, SurvivorsCanTalk) {
  MeshRanks processes;
  processes.start_all(3, [](const MeshOptions& given, const MeshRanks::Say& say) {
    Mesh mesh(given);
    say("joined");
    try {
      mesh.barrier();
      mesh.receive(2, 1);
    } catch (const hw::PeerLost& error) {
      say(error.what());
    }
    mesh.send(1 - mesh.rank(), 4, hw::Bytes(100));
    const auto answer = mesh.receive_within(30s, 1 - mesh.rank(), 4);
    say(answer && answer->size() == 100 ? "heard" : "not heard");
    say(mesh.receive_within(30s, 2, 4) ? "heard" : "not heard");
    // Who has what it waited for may go: the other is not lost by that.
    std::this_thread::sleep_for(300ms);
    say(fmt::format("{} lost", mesh.lost().size()));
  });
  for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(processes.next(r), "joined");
  processes.signal(2, SIGKILL);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(processes.next(r), "rank 2 is lost: its connection ended");
    EXPECT_EQ(processes.next(r), "heard");
    EXPECT_EQ(processes.next(r), "not heard");
    EXPECT_EQ(processes.next(r), "1 lost");
    EXPECT_EQ(processes.next(r), "(end)");
  }
}

// Rank 2, which is played, takes rank 0 for lost and hangs up. Rank 1 is stopped, so that rank 0
// cannot pass that on. Rank 0 must not take rank 2 for gone before it knows what happened.
TEST(MeshLeaving, WhoIsLostKnowsThatBeforeOthersAreGone) {
  testing::SharedNumber go;
  MeshRanks processes;
  const auto options_of = [&](std::uint32_t rank) {
    MeshOptions options = processes.options(rank, 3);
    options.failure_timeout = 60s;  // longer than a busy machine takes to seal 50 MB
    return options;
  };
  for (std::uint32_t r = 0; r < 2; ++r) {
    processes.start(options_of(r), [&go](const MeshOptions& options, const MeshRanks::Say& say) {
      Mesh mesh(options);
      say("joined");
      if (mesh.rank() == 1) pause();
      go.await(1);
      mesh.send(1, 1, hw::Bytes(50'000'000));
      say("sent");
      while (!mesh.is_gone(2)) {
      }
      say(mesh.any_lost() ? fmt::format("lost {}", mesh.lost()[0].rank) : "none lost");
      _exit(0);
    });
  }
  testing::InsiderRank insider(options_of(2), processes.port().port());
  ASSERT_TRUE(insider.joined());
  for (std::size_t r = 0; r < 2; ++r) EXPECT_EQ(processes.next(r), "joined");
  processes.signal(1, SIGSTOP);
  ASSERT_TRUE(processes.await_stop(1));
  go.set(1);
  EXPECT_EQ(processes.next(0), "sent");
  // Until as much has gone as rank 1's host takes: an order of events that need not come about.
  std::this_thread::sleep_for(300ms);
  insider.to(0).put(hw::encode_frame(hw::FrameKind::kLost, encode(hw::Loss{0, "a word", 2})));
  insider.leave();
  EXPECT_EQ(processes.next(0), "lost 0");
}

// Whatever a stopped rank was still to hear.
TEST(MeshLeaving, LeavingEndsThoughAPeerIsStopped) {
  MeshRanks processes;
  processes.start_all(2, [](const MeshOptions& given, const MeshRanks::Say& say) {
    MeshOptions options = given;
    options.failure_timeout = 300ms;
    {
      Mesh mesh(options);
      say("joined");
      if (mesh.rank() == 1) pause();
      std::this_thread::sleep_for(100ms);
      mesh.send(1, 1, hw::Bytes(16'000'000));
    }
    say("left");
  });
  EXPECT_EQ(processes.next(1), "joined");
  processes.signal(1, SIGSTOP);
  EXPECT_EQ(processes.next(0), "joined");
  EXPECT_EQ(processes.next(0), "left");
}

}  // namespace
}  // namespace slackline
