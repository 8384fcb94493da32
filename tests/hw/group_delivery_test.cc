// When messages are delivered: atomically, if that is asked for; and in the end, if a rank is only
// held up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "hw/fabric/transport.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/shared_number.h"

namespace slackline {
namespace {

using testing::GroupRank;
using testing::MeshRanks;
using testing::Receiver;
using testing::SharedNumber;

using Say = MeshRanks::Say;

class GroupDelivery : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }
};

// Rank 2 takes its time before it has memory for a message. The others may complete it before that
// if delivery is not atomic, for which rank 2 waits, and may not if it is. What completed too early
// is told by each.
std::vector<std::string> with_a_slow_receiver(const std::string& provider, bool atomic) {
  constexpr int kMessages = 5;
  SharedNumber taken;      // messages that rank 2 has memory for
  SharedNumber at_rank_1;  // messages that are complete there
  MeshRanks ranks;
  ranks.start_all(3, [&](const hw::MeshOptions& options, const Say& say) {
    GroupRank rank(options, provider, testing::quick_groups());
    int completed = 0;
    int early = 0;
    Receiver receiver(0);
    hw::GroupCallbacks callbacks = receiver.callbacks();
    const auto incoming = callbacks.incoming;
    const auto completion = callbacks.completion;
    callbacks.incoming = [&](std::size_t bytes) {
      if (rank.rank() == 2) {
        if (atomic) std::this_thread::sleep_for(std::chrono::milliseconds(60));
        if (!atomic) at_rank_1.await(taken.get() + 1);
        taken.set(taken.get() + 1);
      }
      return incoming(bytes);
    };
    callbacks.completion = [&](std::span<std::byte> message) {
      completion(message);
      ++completed;
      if (taken.get() < completed) ++early;
      if (rank.rank() == 1) at_rank_1.set(completed);
    };
    hw::GroupOptions group;
    group.pattern = "sequential";  // rank 1 does not depend on rank 2
    group.atomic_delivery = atomic;
    rank.groups.create_group(1, {0, 1, 2}, callbacks, group);
    std::vector<std::vector<std::byte>> messages;
    for (int m = 0; m < kMessages && rank.rank() == 0; ++m) {
      messages.push_back(testing::make_message(static_cast<std::uint64_t>(m), 1000));
      rank.groups.send(1, messages.back());
    }
    const bool delivered = rank.groups.destroy_group(1).delivered;
    say(fmt::format("{} of {} early{}", early, completed, delivered ? "" : ", not delivered"));
  });
  return {ranks.next(0), ranks.next(1), ranks.next(2)};
}

TEST_P(GroupDelivery, AtomicCompletionsWaitForEveryone) {
  EXPECT_THAT(with_a_slow_receiver(GetParam(), true), ::testing::Each("0 of 5 early"));
  // The same without: so that this can tell.
  EXPECT_EQ(with_a_slow_receiver(GetParam(), false)[1], "5 of 5 early");
}

// Stopped, but not for long enough to be lost. It asks the others before it goes on.
TEST_P(GroupDelivery, WhoIsOnlyHeldUpIsNotLost) {
  for (const bool atomic : {false, true}) {
    const std::string provider = GetParam();
    constexpr std::size_t kMessages = 600;
    MeshRanks ranks;
    for (std::uint32_t r = 0; r < 3; ++r) {
      hw::MeshOptions options = ranks.options(r, 3);
      options.failure_timeout = std::chrono::seconds(20);
      ranks.start(options, [&](const hw::MeshOptions& mine, const Say& say) {
        hw::GroupsOptions group_options = testing::quick_groups();
        group_options.failure_timeout = std::chrono::milliseconds(1600);  // asks after 0.4 s
        GroupRank rank(mine, provider, group_options);
        Receiver receiver(0);
        rank.groups.create_group(1, {0, 1, 2}, receiver.callbacks(),
                                 {.block_bytes = 4096, .atomic_delivery = atomic});
        std::vector<std::vector<std::byte>> messages;
        for (std::size_t m = 0; m < kMessages && rank.rank() == 0; ++m) {
          messages.push_back(testing::make_message(m, 20'000));
          rank.groups.send(1, messages.back());
          if (m == kMessages / 2) say("half");
        }
        const bool delivered = rank.groups.destroy_group(1).delivered;
        say(fmt::format("{} {} {} {}", receiver.messages(), receiver.all_right(), delivered,
                        receiver.failures().size()));
      });
    }
    EXPECT_EQ(ranks.next(0), "half");
    testing::stop_rank(ranks, 1, provider);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    ranks.signal(1, SIGCONT);
    for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(ranks.next(r), "600 true true 0");
  }
}

INSTANTIATE_TEST_SUITE_P(All, GroupDelivery, ::testing::Values("shm", "net"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace slackline
