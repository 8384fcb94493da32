// Groups of real processes: every message comes to everyone, whole and in order; and what cannot be
// is refused.
#include "hw/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "hw/fabric/transport.h"
#include "machine/group/plan.h"
#include "tests/hw/group_ranks.h"
#include "tests/support/patience.h"

namespace slackline {
namespace {

using testing::GroupRank;
using testing::MeshRanks;
using testing::Receiver;
using testing::refusal;

using Say = MeshRanks::Say;

class Group : public ::testing::TestWithParam<const char*> {
 protected:
  // The first use of libfabric takes long: here once, for all children to come.
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }

  // Runs the body as so many ranks, and expects each to say just `said(rank)`.
  template <class Body, class Said>
  void run(std::uint32_t count, Body&& body, Said&& said,
           hw::GroupsOptions options = testing::quick_groups()) {
    const std::string provider = GetParam();
    MeshRanks ranks;
    ranks.start_all(count, [&](const hw::MeshOptions& mesh_options, const Say& say) {
      GroupRank rank(mesh_options, provider, options);
      body(rank, say);
    });
    for (std::uint32_t r = 0; r < count; ++r) {
      EXPECT_EQ(ranks.next(r), said(r)) << "rank " << r;
      EXPECT_EQ(ranks.next(r), "(end)") << "rank " << r;
    }
  }
};

std::vector<std::uint32_t> all_ranks(std::uint32_t count) {
  std::vector<std::uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

constexpr std::uint64_t kBlock = 1000;
const std::vector<std::size_t> kSizes = {0,    1,          kBlock - 1, kBlock, kBlock + 1,
                                         7777, 2 * kBlock, 7777,       0,      20 * kBlock + 1};

std::string all_of(const std::vector<std::size_t>& sizes) {
  std::string text = fmt::format("{} messages:", sizes.size());
  for (const std::size_t size : sizes) text += fmt::format(" {}", size);
  return text + "; delivered";
}

// One group of all ranks; the root sends all sizes, one behind the other.
void replicate(GroupRank& rank, const Say& say, hw::GroupOptions options,
               const std::vector<std::size_t>& sizes = kSizes) {
  const std::vector<std::uint32_t> members = all_ranks(rank.mesh.ranks());
  Receiver receiver(0);
  rank.groups.create_group(1, members, receiver.callbacks(), options);
  std::vector<std::vector<std::byte>> messages;
  for (std::size_t m = 0; m < sizes.size() && rank.rank() == 0; ++m) {
    messages.push_back(testing::make_message(m, sizes[m]));
    rank.groups.send(1, messages.back());
  }
  const hw::GroupClosing closing = rank.groups.destroy_group(1);
  say(receiver.text() + (closing.delivered ? "; delivered" : "; not delivered: " + closing.why));
}

TEST_P(Group, EverySizeComesToEveryoneInOrder) {
  for (std::uint32_t count = 1; count <= 8; ++count) {
    hw::GroupOptions options;
    options.block_bytes = kBlock;
    run(
        count, [&](GroupRank& rank, const Say& say) { replicate(rank, say, options); },
        [](std::uint32_t) { return all_of(kSizes); });
    if (HasFailure()) return;
  }
}

TEST_P(Group, EveryPatternAndReadinessDoes) {
  for (const std::string_view pattern : machine::group_patterns()) {
    for (const bool atomic : {false, true}) {
      hw::GroupOptions options;
      options.pattern = pattern;
      options.block_bytes = kBlock;
      options.ready = atomic ? sched::Ready::kSend : sched::Ready::kNone;
      options.window = atomic ? 3 : 1;
      options.in_flight = atomic ? 2 : 1;
      options.atomic_delivery = atomic;
      SCOPED_TRACE(fmt::format("{} {}", pattern, atomic ? "send, window 3, atomic" : "none"));
      run(
          5, [&](GroupRank& rank, const Say& say) { replicate(rank, say, options); },
          [](std::uint32_t) { return all_of(kSizes); });
      if (HasFailure()) return;
    }
  }
}

TEST_P(Group, LargeMessagesComeWhole) {
  const std::vector<std::size_t> sizes = {20'000'001, 5, 3 << 20};
  run(
      4, [&](GroupRank& rank, const Say& say) { replicate(rank, say, {}, sizes); },
      [&](std::uint32_t) { return all_of(sizes); });
}

TEST_P(Group, EachRankIsRootOfAGroupOfAll) {
  constexpr std::uint32_t kRanks = 5;
  run(
      kRanks,
      [](GroupRank& rank, const Say& say) {
        std::vector<std::unique_ptr<Receiver>> receivers;
        for (std::uint32_t g = 0; g < kRanks; ++g) {
          std::vector<std::uint32_t> members;
          for (std::uint32_t m = 0; m < kRanks; ++m) members.push_back((g + m) % kRanks);
          receivers.push_back(std::make_unique<Receiver>(1000 * g));
          rank.groups.create_group(g, members, receivers[g]->callbacks(),
                                   {.block_bytes = kBlock, .atomic_delivery = g % 2 == 1});
        }
        std::vector<std::vector<std::byte>> messages;
        for (std::size_t m = 0; m < kSizes.size(); ++m) {
          messages.push_back(testing::make_message(1000 * rank.rank() + m, kSizes[m]));
          rank.groups.send(rank.rank(), messages.back());
        }
        // In another order at every rank: closing waits for all, but not for each other.
        std::vector<std::thread> closing;
        std::vector<std::string> said(kRanks);
        for (std::uint32_t g = 0; g < kRanks; ++g) {
          closing.emplace_back([&, g] {
            said[g] = rank.groups.destroy_group(g).delivered ? "; delivered" : "; not delivered";
          });
        }
        for (std::thread& thread : closing) thread.join();
        for (std::uint32_t g = 0; g < kRanks; ++g) {
          if (const std::string text = receivers[g]->text() + said[g]; text != all_of(kSizes)) {
            return say(fmt::format("group {}: {}", g, text));
          }
        }
        say("all");
      },
      [](std::uint32_t) { return "all"; });
}

TEST_P(Group, AnIdMayBeUsedAgainAndCallbacksMaySend) {
  run(
      3,
      [](GroupRank& rank, const Say& say) {
        for (int again = 0; again < 3; ++again) {
          // The root sends the next message when one is through, ten in all.
          std::vector<std::byte> message = testing::make_message(0, 5000);
          int completed = 0;
          std::vector<std::vector<std::byte>> buffers;
          std::promise<void> ten;
          hw::GroupCallbacks callbacks;
          callbacks.incoming = [&](std::size_t bytes) {
            buffers.emplace_back(bytes);
            return std::span(buffers.back());
          };
          callbacks.completion = [&](std::span<std::byte> bytes) {
            if (!testing::is_message(bytes, 0)) say("wrong bytes");
            if (++completed == 10) ten.set_value();
            if (rank.rank() == 1 && completed < 10) rank.groups.send(5, message);
          };
          rank.groups.create_group(5, {1, 0, 2}, callbacks, {.block_bytes = 1024});
          if (rank.rank() == 1) rank.groups.send(5, message);
          ten.get_future().wait();
          if (!rank.groups.destroy_group(5).delivered) say("not delivered");
        }
        say("thirty");
      },
      [](std::uint32_t) { return "thirty"; });
}

TEST_P(Group, WrongUsesAreRefusedAndHarmNothing) {
  run(
      2,
      [](GroupRank& rank, const Say& say) {
        std::string all;
        const auto expect = [&](const std::function<void()>& does, const std::string& what) {
          const std::string got = refusal(does);
          if (got != what) all += got + " | ";
        };
        hw::Groups& groups = rank.groups;
        const std::uint32_t other = 1 - rank.rank();
        std::vector<std::byte> bytes(10);
        expect([&] { groups.send(3, bytes); },
               fmt::format("2 send: rank {} has no group 3", rank.rank()));
        expect([&] { groups.destroy_group(3); },
               fmt::format("2 destroy_group: rank {} has no group 3", rank.rank()));
        expect(
            [&] { groups.create_group(3, {other}, {}); },
            fmt::format("2 create_group: group 3: rank {} is not among its members", rank.rank()));
        expect(
            [&] {
              groups.create_group(3, {0, 1, 2}, {});
            },
            "2 create_group: group 3: no rank 2; expected ranks below 2");
        expect(
            [&] {
              groups.create_group(3, {0, 1, 0}, {});
            },
            "2 create_group: group 3: rank 0 is a member twice");
        expect(
            [&] {
              groups.create_group(1 << 24, {0, 1}, {});
            },
            "2 create_group: group 16777216: the id is not below 16777216");
        expect(
            [&] {
              groups.create_group(3, {0, 1}, {}, {.pattern = "circulant"});
            },
            "2 pattern: groups cannot take circulant, in which the source of a rank's first "
            "block depends on the message's size; expected one of binomial-pipeline, chain, "
            "sequential, binomial-tree, binary-tree, double-tree, hybrid");
        Receiver receiver(0);
        hw::GroupCallbacks callbacks = receiver.callbacks();
        std::string within;
        const auto complete = callbacks.completion;
        callbacks.completion = [&](std::span<std::byte> message) {
          complete(message);
          within = refusal([&] { groups.destroy_group(3); });
        };
        groups.create_group(3, {0, 1}, callbacks);
        expect(
            [&] {
              groups.create_group(3, {0, 1}, {});
            },
            "2 create_group: group 3: it exists; destroy_group() ends it");
        if (rank.rank() == 1) {
          expect([&] { groups.send(3, bytes); },
                 "2 send: rank 1 is not the root of group 3; rank 0 is");
        }
        std::vector<std::byte> message = testing::make_message(0, 10);
        if (rank.rank() == 0) {
          // Nobody looks at the bytes of a message that is too long.
          expect(
              [&] {
                groups.send(3, {bytes.data(), (std::size_t{1} << 32)});
              },
              "2 send: 4294967296 bytes; a group's messages have at most 4294967295");
          groups.send(3, message);
        }
        if (!groups.destroy_group(3).delivered) all += "not delivered | ";
        if (within != "2 destroy_group: called within a callback, which it would wait for") {
          all += within + " | ";
        }
        say(all + receiver.text());
      },
      [](std::uint32_t) { return "1 messages: 10"; });
}

// Whoever hears of it first names two that differ, itself or not.
TEST_P(Group, MembersThatDisagreeAreNamed) {
  const std::string provider = GetParam();
  MeshRanks ranks;
  ranks.start_all(3, [&](const hw::MeshOptions& mesh_options, const Say& say) {
    GroupRank rank(mesh_options, provider, testing::quick_groups());
    const auto members = rank.rank() == 2 ? std::vector<std::uint32_t>{0, 2, 1}
                                          : std::vector<std::uint32_t>{0, 1, 2};
    say(refusal([&] { rank.groups.create_group(1, members, {}); }));
    rank.mesh.barrier();
    hw::GroupOptions options;
    options.block_bytes = rank.rank() == 0 ? 1000 : 2000;
    say(refusal([&] { rank.groups.create_group(2, {0, 1, 2}, {}, options); }));
    // Another group is none the worse for it.
    rank.mesh.barrier();
    Receiver receiver(0);
    rank.groups.create_group(3, {0, 1, 2}, receiver.callbacks());
    say(rank.groups.destroy_group(3).delivered ? "delivered" : "not delivered");
  });
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using ::testing::StartsWith;
  for (std::uint32_t r = 0; r < 3; ++r) {
    SCOPED_TRACE(r);
    EXPECT_THAT(ranks.next(r), AllOf(StartsWith("2 create_group: group 1: rank "),
                                     HasSubstr("; rank "), HasSubstr("0 1 2"), HasSubstr("0 2 1")));
    EXPECT_THAT(ranks.next(r),
                AllOf(StartsWith("2 create_group: group 2: rank "), HasSubstr("; rank "),
                      HasSubstr("block=1000"), HasSubstr("block=2000")));
    EXPECT_EQ(ranks.next(r), "delivered");
  }
}

TEST_P(Group, WhoNeverComesIsNamed) {
  const std::string provider = GetParam();
  const auto said = [&](std::chrono::milliseconds patience) {
    hw::GroupsOptions options = testing::quick_groups();
    options.timeout = patience;
    MeshRanks ranks;
    ranks.start_all(3, [&](const hw::MeshOptions& mesh_options, const Say& say) {
      GroupRank rank(mesh_options, provider, options);
      say(rank.rank() == 1 ? "absent" : refusal([&] {
        rank.groups.create_group(1, {0, 1, 2}, {});
      }));
      rank.mesh.barrier();
      // Rank 2 never closes.
      Receiver receiver(0);
      rank.groups.create_group(2, {0, 1, 2}, receiver.callbacks());
      if (rank.rank() != 2) {
        const hw::GroupClosing closing = rank.groups.destroy_group(2);
        say(fmt::format("{} {}: {}", closing.delivered, *closing.rank, closing.why));
      }
      rank.mesh.barrier();
    });
    std::vector<std::string> lines;
    for (const std::size_t r : {0, 1, 2, 0, 1}) lines.push_back(ranks.next(r));
    return lines;
  };
  using ::testing::HasSubstr;
  using ::testing::StartsWith;
  const auto late = ::testing::ContainsRegex(
      "rank ([02] did not come within|[01] did not come to)|group 2: .* did not come within");
  const std::chrono::milliseconds patience(500);
  testing::expect_with_patience(patience, late, said, [](std::chrono::milliseconds given) {
    const std::string never = fmt::format("rank 1 did not come within {} s",
                                          std::chrono::duration<double>(given).count());
    return ::testing::ElementsAre(HasSubstr(never), "absent", HasSubstr(never),
                                  StartsWith("false 2: "), StartsWith("false 2: "));
  });
}

TEST_P(Group, WhoHasNoMemoryLeavesAndIsNamed) {
  run(
      3,
      [](GroupRank& rank, const Say& say) {
        Receiver receiver(0);
        hw::GroupCallbacks callbacks = receiver.callbacks();
        std::vector<std::byte> small(10);
        if (rank.rank() == 1) {
          callbacks.incoming = [&](std::size_t) { return std::span(small); };
        }
        std::promise<std::uint32_t> failed;
        callbacks.failure = [&](std::uint32_t r) { failed.set_value(r); };
        rank.groups.create_group(1, {0, 1, 2}, callbacks);
        std::vector<std::byte> message = testing::make_message(0, 5'000'000);
        if (rank.rank() == 0) rank.groups.send(1, message);
        const std::uint32_t whose = failed.get_future().get();
        const hw::GroupClosing closing = rank.groups.destroy_group(1);
        say(fmt::format("{} {} {}", whose, closing.delivered, *closing.rank));
      },
      [](std::uint32_t) { return "1 false 1"; });
}

INSTANTIATE_TEST_SUITE_P(All, Group, ::testing::Values("shm", "net"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace slackline
