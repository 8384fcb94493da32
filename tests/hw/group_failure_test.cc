// A rank is killed, or stopped and let go on, at a random moment of a stream of messages. All
// survivors are told whose fault it is, once; what was completed is right; other groups go on;
// nothing hangs; and memory that was given back stays as it is.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <future>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "hw/fabric/transport.h"
#include "hw/group/control.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/shared_number.h"

namespace slackline {
namespace {

using testing::GroupRank;
using testing::MeshRanks;

using Say = MeshRanks::Say;

constexpr std::chrono::milliseconds kFailureTimeout{1000};

struct Accident {
  std::string provider;
  std::uint32_t ranks = 3;
  std::vector<std::uint32_t> members;  // of the group that fails
  std::uint32_t victim = 0;
  bool stops = false;
  bool atomic = false;
  std::chrono::microseconds after{0};
  std::uint64_t seed = 0;
};

Accident accident_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  Accident accident;
  accident.seed = seed;
  accident.provider = seed / 8 % 2 == 0 ? "shm" : "net";
  accident.stops = seed % 4 == 3;
  accident.atomic = seed / 4 % 2 == 1;
  accident.ranks = static_cast<std::uint32_t>(pick(3, 6));
  for (std::uint32_t m = 0; m < accident.ranks; ++m) accident.members.push_back(m);
  std::shuffle(accident.members.begin(), accident.members.end(), random);
  accident.victim = static_cast<std::uint32_t>(pick(0, accident.ranks - 1));
  accident.after = std::chrono::microseconds(pick(0, 30'000));
  return accident;
}

std::size_t size_of(std::uint64_t message) {
  constexpr std::size_t kSizes[] = {300'000, 10, 70'001, 0, 1'500'000, 64 << 10};
  return kSizes[message % std::size(kSizes)];
}

// A stream of messages of a group: memory is used again once a message is complete.
struct Stream {
  std::deque<std::vector<std::byte>> buffers;
  std::vector<std::vector<std::byte>*> unused;
  std::deque<std::vector<std::byte>*> given;
  std::atomic<std::uint64_t> completed = 0;  // looked at meanwhile, as has_failed
  std::atomic<bool> has_failed = false;
  std::uint64_t wrong = 0;
  std::vector<std::uint32_t> failures;
  std::promise<void> failed;

  hw::GroupCallbacks callbacks(const std::function<void()>& after_completion = {}) {
    return {.incoming =
                [this](std::size_t bytes) {
                  if (unused.empty()) unused.push_back(&buffers.emplace_back(size_of(4)));
                  given.push_back(unused.back());
                  unused.pop_back();
                  return std::span(*given.back()).first(bytes);
                },
            .completion =
                [this, after_completion](std::span<std::byte> message) {
                  if (message.size() != size_of(completed) ||
                      !testing::is_message(message, completed)) {
                    ++wrong;
                  }
                  ++completed;
                  if (!given.empty()) {
                    unused.push_back(given.front());
                    given.pop_front();
                  }
                  if (after_completion) after_completion();
                },
            .failure =
                [this](std::uint32_t rank) {
                  failures.push_back(rank);
                  has_failed = true;
                  if (failures.size() == 1) failed.set_value();
                }};
  }
};

// Sends message after message, three under way, from buffers of its own.
struct Source {
  GroupRank& rank;
  std::uint32_t group;
  std::uint64_t next = 0;
  std::uint64_t limit;
  std::deque<std::vector<std::byte>> messages{};

  void send() {
    if (next == limit) return;
    messages.push_back(testing::make_message(next, size_of(next)));
    ++next;
    try {
      rank.groups.send(group, messages.back());
    } catch (const hw::PeerLost&) {
      next = limit;
    }
  }
  void completed() {
    messages.pop_front();
    send();
  }
};

std::string text_of(const hw::GroupClosing& closing) {
  return closing.delivered ? "delivered" : fmt::format("failed by {}", *closing.rank);
}

void be_member(const Accident& accident, const hw::MeshOptions& options, int go, const Say& say) {
  hw::GroupsOptions group_options = testing::quick_groups();
  group_options.failure_timeout = kFailureTimeout;
  GroupRank rank(options, accident.provider, group_options);
  Stream stream;
  Source source{rank, 1, 0, ~std::uint64_t{0}};
  const bool is_root = rank.rank() == accident.members[0];
  rank.groups.create_group(
      1, accident.members,
      stream.callbacks(is_root ? std::function<void()>([&] { source.completed(); })
                               : std::function<void()>()),
      {.block_bytes = 16 << 10, .atomic_delivery = accident.atomic});
  // Everybody but the victim.
  std::vector<std::uint32_t> others;
  for (std::uint32_t r = 0; r < accident.ranks; ++r) {
    if (r != accident.victim) others.push_back(r);
  }
  const bool is_victim = rank.rank() == accident.victim;
  Stream other;
  Source other_source{rank, 2, 0, 40};
  if (!is_victim) {
    const bool is_other_root = rank.rank() == others[0];
    rank.groups.create_group(
        2, others,
        other.callbacks(is_other_root ? std::function<void()>([&] { other_source.completed(); })
                                      : std::function<void()>()),
        {.block_bytes = 16 << 10});
    if (is_other_root) {
      for (int i = 0; i < 3; ++i) other_source.send();
    }
  }
  if (is_root) {
    for (int i = 0; i < 3; ++i) source.send();
  }
  say("ready");
  stream.failed.get_future().wait();
  const hw::GroupClosing closing = rank.groups.destroy_group(1);
  say(fmt::format("{}; {} wrong; failures {}", text_of(closing), stream.wrong,
                  fmt::join(stream.failures, " ")));
  say(fmt::format("{} messages", closing.messages == stream.completed ? closing.messages : 0));
  if (is_victim) return;
  // All memory is this process's own again.
  for (auto& buffer : stream.buffers) std::ranges::fill(buffer, std::byte{0xaa});
  for (auto& message : source.messages) std::ranges::fill(message, std::byte{0xbb});
  const hw::GroupClosing other_closing = [&] {
    // The other group is told to end by its root's closing: messages still to come are sent first.
    while (rank.rank() == others[0] && other.completed < 40 && !other.has_failed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return rank.groups.destroy_group(2);
  }();
  say(fmt::format("{}; {} of 40; {} wrong; {} failures", text_of(other_closing),
                  other.completed.load(), other.wrong, other.failures.size()));
  char end = 0;
  static_cast<void>(!read(go, &end, 1));
  bool touched = false;
  for (const auto& buffer : stream.buffers) {
    touched =
        touched || std::ranges::any_of(buffer, [](std::byte b) { return b != std::byte{0xaa}; });
  }
  say(touched ? "memory written after it was given back" : "untouched");
}

void have(const Accident& accident) {
  SCOPED_TRACE(fmt::format("seed {}: {} ranks on {}, members {}, rank {} {} after {} us{}",
                           accident.seed, accident.ranks, accident.provider,
                           fmt::join(accident.members, " "), accident.victim,
                           accident.stops ? "stopped" : "killed", accident.after.count(),
                           accident.atomic ? ", atomic" : ""));
  const auto since = std::filesystem::file_time_type::clock::now();
  int go[2];
  ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
  hw::Descriptor go_read(go[0]);
  hw::Descriptor go_write(go[1]);
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < accident.ranks; ++r) {
    hw::MeshOptions options = ranks.options(r, accident.ranks);
    options.failure_timeout = kFailureTimeout;
    ranks.start(options, [&](const hw::MeshOptions& mine, const Say& say) {
      go_write.reset();
      be_member(accident, mine, go_read.get(), say);
    });
  }
  for (std::uint32_t r = 0; r < accident.ranks; ++r) ASSERT_EQ(ranks.next(r), "ready");
  std::this_thread::sleep_for(accident.after);
  if (accident.stops) {
    testing::stop_rank(ranks, accident.victim, accident.provider);
  } else {
    testing::kill_rank(ranks, accident.victim, accident.provider);
  }
  std::vector<std::string> counts;
  for (std::uint32_t r = 0; r < accident.ranks; ++r) {
    if (r == accident.victim) continue;
    EXPECT_EQ(ranks.next(r),
              fmt::format("failed by {}; 0 wrong; failures {}", accident.victim, accident.victim))
        << "rank " << r;
    counts.push_back(ranks.next(r));
    EXPECT_EQ(ranks.next(r), "delivered; 40 of 40; 0 wrong; 0 failures") << "rank " << r;
  }
  if (accident.atomic) {
    for (const std::string& count : counts) EXPECT_EQ(count, counts[0]);
  }
  if (accident.stops) {
    ranks.signal(accident.victim, SIGCONT);
    EXPECT_THAT(ranks.next(accident.victim), ::testing::HasSubstr("; 0 wrong; failures "));
    const std::string count = ranks.next(accident.victim);
    if (accident.atomic) {
      EXPECT_LE(std::stoull(count), std::stoull(counts[0]));
    }
    EXPECT_EQ(ranks.next(accident.victim), "(end)");
  }
  go_write.reset();
  for (std::uint32_t r = 0; r < accident.ranks; ++r) {
    if (r == accident.victim) continue;
    EXPECT_EQ(ranks.next(r), "untouched") << "rank " << r;
    EXPECT_EQ(ranks.next(r), "(end)") << "rank " << r;
  }
  // The survivors have cleared away what it left, or it has itself.
  EXPECT_FALSE(testing::local_ranks::remove_segments(ranks.pid(accident.victim), since));
}

class GroupFailure : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }
};

TEST_P(GroupFailure, SurvivorsAreToldAndOtherGroupsGoOn) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 8; ++seed) {
    have(accident_of(seed));
    if (HasFailure()) return;
  }
}

// Shared memory lets a receiver copy blocks right out of the sender's memory. One that was stopped
// for long finds blocks of a sender that has given it up, and has used the memory again. (Here the
// mesh notices nothing: the sender does not wait as long as the mesh would.)
TEST(GroupFence, WhoWasGivenUpCompletesNothing) {
  hw::make_fabric_transport({"shm", ""});
  constexpr int kBlocks = 64;
  testing::SharedNumber both_are_through;
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 2; ++r) {
    hw::MeshOptions options = ranks.options(r, 2);
    options.failure_timeout = std::chrono::seconds(10);
    ranks.start(options, [&both_are_through](const hw::MeshOptions& mine, const Say& say) {
      hw::GroupsOptions group_options = testing::quick_groups();
      group_options.failure_timeout = kFailureTimeout;
      if (mine.rank == 0) group_options.timeout = std::chrono::seconds(2);
      GroupRank rank(mine, "shm", group_options);
      std::vector<std::byte> memory = testing::make_message(0, kBlocks * 8192);
      int completed = 0;
      std::promise<void> over;
      hw::GroupCallbacks callbacks;
      callbacks.incoming = [&](std::size_t) {
        // All blocks are under way: they await no readiness.
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        raise(SIGSTOP);
        return std::span(memory);
      };
      callbacks.completion = [&](std::span<std::byte>) {
        ++completed;
        over.set_value();
      };
      callbacks.failure = [&](std::uint32_t) { over.set_value(); };
      rank.groups.create_group(1, {0, 1}, callbacks,
                               {.pattern = "sequential",
                                .block_bytes = 8192,
                                .in_flight = 0,
                                .ready = sched::Ready::kNone});
      if (rank.rank() == 0) rank.groups.send(1, memory);
      if (rank.rank() == 1) over.get_future().wait();
      const hw::GroupClosing closing = rank.groups.destroy_group(1);
      say(fmt::format("{} {}", closing.delivered, completed));
      if (rank.rank() == 1) return;
      std::ranges::fill(memory, std::byte{0xbb});
      say("used again");
      // It must be here to answer, and be read from.
      both_are_through.await(1);
    });
  }
  EXPECT_EQ(ranks.next(0), "false 0");
  EXPECT_EQ(ranks.next(0), "used again");
  // Not before it has stopped itself, or it would stay so.
  EXPECT_TRUE(ranks.await_stop(1));
  ranks.signal(1, SIGCONT);
  EXPECT_EQ(ranks.next(1), "false 0");
  both_are_through.set(1);
}

// What its callbacks refer to may have ended before the groups do.
TEST(GroupEnd, WhoGoesWithoutClosingIsCalledNoMore) {
  hw::make_fabric_transport({"shm", ""});
  MeshRanks ranks;
  ranks.start_all(2, [](const hw::MeshOptions& mine, const Say& say) {
    std::optional<GroupRank> rank(std::in_place, mine, "shm", testing::quick_groups());
    std::atomic<int> failures = 0;
    std::promise<std::uint32_t> whose;
    hw::GroupCallbacks callbacks;
    callbacks.failure = [&](std::uint32_t r) {
      ++failures;
      if (mine.rank == 1) whose.set_value(r);
    };
    rank->groups.create_group(1, {0, 1}, callbacks, {.block_bytes = 1024});
    if (mine.rank == 1) say(fmt::format("rank {} went", whose.get_future().get()));
    rank.reset();
    say(fmt::format("{}", failures.load()));
  });
  EXPECT_EQ(ranks.next(0), "0");
  EXPECT_EQ(ranks.next(1), "rank 0 went");
  EXPECT_EQ(ranks.next(1), "1");
}

// Rank 0 has heard from all that all was delivered, and goes. Rank 1 is killed before rank 2 has
// heard so of it: then rank 2 has nobody to ask.
class GroupEndAlone : public ::testing::TestWithParam<bool> {};

TEST_P(GroupEndAlone, DoesNotWaitForWhoHasLeft) {
  const bool keeps_mesh = GetParam();
  testing::SharedNumber go;
  MeshRanks ranks;
  ranks.start_all(3, [&](const hw::MeshOptions& mine, const Say& say) {
    hw::Mesh mesh(mine);
    hw::GroupsOptions options = testing::quick_groups();
    options.timeout = std::chrono::hours(1);
    std::optional<hw::Groups> groups(
        std::in_place, mesh, [] { return hw::make_transport("net", {.host = "127.0.0.1"}); },
        options);
    groups->create_group(1, {0, 1, 2}, {}, {.block_bytes = 1024});
    if (mine.rank == 1) {
      hw::GroupControl done;
      done.word = hw::GroupWord::kDone;
      done.group = 0;  // rank 0's first
      mesh.send(0, hw::kGroupControl, hw::encode(done));
      go.await(1);
      raise(SIGKILL);
    }
    const hw::GroupClosing closing = groups->destroy_group(1);
    say(closing.delivered ? "delivered" : fmt::format("failed by {}", *closing.rank));
    groups.reset();
    if (mine.rank != 0 || keeps_mesh) go.await(2);
  });
  EXPECT_EQ(ranks.next(0), "delivered");
  if (!keeps_mesh) {
    EXPECT_EQ(ranks.next(0), "(end)");
  }
  go.set(1);
  EXPECT_EQ(ranks.next(2), "failed by 1");
  go.set(2);
}

INSTANTIATE_TEST_SUITE_P(Mesh, GroupEndAlone, ::testing::Bool());

INSTANTIATE_TEST_SUITE_P(Seeds, GroupFailure, ::testing::Values(0, 8, 16, 24));

}  // namespace
}  // namespace slackline
