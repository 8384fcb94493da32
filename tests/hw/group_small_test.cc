// Small messages of groups, which the root writes into a ring at every member: they come whole and
// in order with those that go in blocks, whatever the order in which writes come about; so many
// requests are posted and no more; and members that are lost leave survivors of one mind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/fabric/transport.h"
#include "hw/group/member.h"
#include "hw/passing_transport.h"
#include "sched/compile.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/late_writes.h"
#include "tests/hw/loop_transport.h"
#include "tests/hw/one_thread_group.h"

namespace slackline {
namespace {

using hw::GroupControl;

struct Noted {
  hw::RequestKind kind;
  std::uint64_t bytes;
  std::uint64_t word;  // of a write: its first 8 bytes
};

// Notes what is posted where that outlives it: a group's transport ends with the group.
class NotingTransport final : public hw::PassingTransport {
 public:
  NotingTransport(std::unique_ptr<hw::Transport> under, std::vector<Noted>& posted)
      : PassingTransport(std::move(under)), posted_(posted) {}

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    const std::size_t taken = PassingTransport::post(requests);
    for (std::size_t i = 0; i < taken; ++i) {
      std::uint64_t bytes = 0;
      for (const hw::Segment& segment : requests[i].local) bytes += segment.bytes;
      std::uint64_t word = 0;
      if (requests[i].kind == hw::RequestKind::kWrite) {
        std::memcpy(&word, requests[i].local.front().data, sizeof word);
      }
      posted_.push_back({requests[i].kind, bytes, word});
    }
    return taken;
  }

 private:
  std::vector<Noted>& posted_;
};

// All members in one thread.
class SmallGroup {
 public:
  SmallGroup(std::uint32_t members, hw::SmallShape small, bool atomic, std::uint64_t seed,
             bool late = true)
      : random_(seed), ones_(members), wires_(members * members) {
    const auto plan = std::make_shared<machine::GroupPlan>(
        machine::GroupShape{.members = members, .block_bytes = 256});
    std::vector<hw::GroupAddress> addresses;
    for (std::uint32_t m = 0; m < members; ++m) {
      auto loop = std::make_unique<testing::LoopTransport>(loop_);
      ones_[m].transport = loop.get();
      std::unique_ptr<hw::Transport> transport =
          std::make_unique<NotingTransport>(std::move(loop), ones_[m].posted);
      if (late) transport = std::make_unique<testing::LateWrites>(std::move(transport), &random_);
      ones_[m].member = std::make_unique<hw::GroupMember>(
          std::move(transport), testing::patient_setup(plan, m, atomic, small, ones_[m].receiver),
          [this, m](std::uint32_t to, const GroupControl& control) {
            if (ones_[m].alive) wires_[m * ones_.size() + to].push_back(control);
          });
      addresses.push_back(ones_[m].member->open());
    }
    for (One& one : ones_) one.member->connect(addresses, members);
    for (One& one : ones_) one.member->start();
  }

  void send(std::size_t bytes) { testing::send_next(*ones_[0].member, messages_, bytes); }
  void close() {
    for (One& one : ones_) one.member->close();
  }

  // So many turns of members, and words.
  void run(int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      One& one = ones_[random_() % ones_.size()];
      if (one.alive) {
        one.member->poll();
        one.member->progress();
      }
      const std::size_t w = random_() % wires_.size();
      if (wires_[w].empty()) continue;
      const auto from = static_cast<std::uint32_t>(w / ones_.size());
      const auto to = static_cast<std::uint32_t>(w % ones_.size());
      const GroupControl control = wires_[w].front();
      wires_[w].pop_front();
      if (!ones_[to].alive) continue;
      if (!ones_[to].member->closing()) {
        ones_[to].member->hear(from, control);
      } else if (const auto answer = machine::answer_without_group(control.word)) {
        wires_[to * ones_.size() + from].push_back({*answer, control.group});
      }
    }
  }
  bool run_to_end() {
    for (int round = 0; round < 3000; ++round) {
      run(100);
      if (std::ranges::all_of(ones_, [](const One& one) {
            return !one.alive || one.member->closing().has_value();
          })) {
        return true;
      }
    }
    return false;
  }
  void kill(std::uint32_t victim) {
    ones_[victim].alive = false;
    for (std::uint32_t m = 0; m < ones_.size(); ++m) {
      if (m == victim || ones_[m].member->closing()) continue;
      ones_[m].member->lose(victim, "gone", false);
    }
  }

  const hw::GroupClosing& closing(std::uint32_t m) { return *ones_[m].member->closing(); }
  testing::Receiver& receiver(std::uint32_t m) { return ones_[m].receiver; }
  std::vector<Noted>& posted(std::uint32_t m) { return ones_[m].posted; }
  // So many requests are taken of it at a time.
  void room(std::uint32_t m, std::size_t requests) {
    ones_[m].transport->room = ones_[m].transport->room_per_poll = requests;
  }
  bool has_closed(std::uint32_t m) { return ones_[m].member->closing().has_value(); }
  // Its completions stay where they are.
  void hold(std::uint32_t m, bool held) { ones_[m].transport->held = held; }

 private:
  struct One {
    testing::Receiver receiver{0};
    testing::LoopTransport* transport = nullptr;  // until the group ends
    std::vector<Noted> posted;
    std::unique_ptr<hw::GroupMember> member;
    bool alive = true;
  };

  std::mt19937_64 random_;
  testing::Loop loop_;
  std::vector<One> ones_;
  std::deque<std::vector<std::byte>> messages_;
  std::vector<std::deque<GroupControl>> wires_;  // from · members + to
};

TEST(GroupSmall, MessagesOfBothWaysComeWholeAndInOrder) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto members = static_cast<std::uint32_t>(1 + random() % 5);
    const hw::SmallShape small{random() % 400, static_cast<std::uint32_t>(1 + random() % 4)};
    SmallGroup group(members, small, seed % 2 == 0, seed);
    std::string sizes;
    const int count = 25;
    for (int k = 0; k < count; ++k) {
      const std::size_t bytes = random() % 3 == 0 ? random() % 900 : random() % 300;
      group.send(bytes);
      sizes += fmt::format(" {}", bytes);
      group.run(static_cast<int>(random() % 40));
    }
    group.close();
    ASSERT_TRUE(group.run_to_end());
    for (std::uint32_t m = 0; m < members; ++m) {
      EXPECT_EQ(group.receiver(m).text(), fmt::format("{} messages:{}", count, sizes));
      EXPECT_TRUE(group.closing(m).delivered);
    }
    if (HasFailure()) return;
  }
}

// n members, s messages, w slots: n − 1 writes a message at the root; ⌊s / ⌊w/2⌋⌋ counts at each
// other; and besides nothing but what waits for a message in blocks that never comes.
TEST(GroupSmall, PostsOneWriteForEachMessageAndMember) {
  constexpr std::uint64_t kMessages = 40;
  for (const std::uint32_t members : {2u, 3u, 6u}) {
    for (const std::uint32_t slots : {1u, 4u, 16u}) {
      SmallGroup group(members, {512, slots}, false, 7, false);
      std::vector<std::size_t> before;
      for (std::uint32_t m = 0; m < members; ++m) before.push_back(group.posted(m).size());
      for (std::uint64_t k = 0; k < kMessages; ++k) {
        group.send(100);
        group.run(1000);
      }
      group.close();
      ASSERT_TRUE(group.run_to_end());
      for (std::uint32_t m = 0; m < members; ++m) {
        const auto& posted = group.posted(m);
        const std::uint64_t due = std::max(1u, slots / 2);
        EXPECT_EQ(posted.size() - before[m], m == 0 ? kMessages * (members - 1) : kMessages / due);
        EXPECT_TRUE(std::all_of(posted.begin() + static_cast<std::ptrdiff_t>(before[m]),
                                posted.end(),
                                [](const Noted& r) { return r.kind == hw::RequestKind::kWrite; }));
      }
    }
  }
}

// What a simulation of a group's small messages is of: a slot has 16 bytes more than the pattern's.
// The pattern leaves out reports that no message waits for.
TEST(GroupSmall, PostsWhatTheScheduleOfItsSlotsHas) {
  constexpr std::uint64_t kMessages = 41;
  constexpr std::uint64_t kBytes = 100;
  for (const std::uint32_t slots : {1u, 2u, 5u, 16u}) {
    SmallGroup group(4, {512, slots}, false, 7, false);
    std::vector<std::size_t> before;
    for (std::uint32_t m = 0; m < 4; ++m) before.push_back(group.posted(m).size());
    for (std::uint64_t k = 0; k < kMessages; ++k) group.send(kBytes);
    group.close();
    ASSERT_TRUE(group.run_to_end());
    const sched::Schedule schedule = sched::compile(sched::parse_spec(fmt::format(
        "ring-buffer:ranks=4,bytes={},messages={},slots={}", kBytes + 16, kMessages, slots)));
    for (std::uint32_t m = 0; m < 4; ++m) {
      std::vector<std::uint64_t> written;
      for (std::size_t i = before[m]; i < group.posted(m).size(); ++i) {
        written.push_back(group.posted(m)[i].bytes);
      }
      std::vector<std::uint64_t> scheduled;
      for (const sched::Op& op : schedule.ops()) {
        if (op.kind == sched::OpKind::kPut && op.rank.value == m) {
          scheduled.push_back(schedule.payload_bytes(op));
        }
      }
      if (m != 0) {
        ASSERT_LE(scheduled.size(), written.size());
        // Of what stands in the ring in the end, a count of each half.
        EXPECT_LE(written.size(), scheduled.size() + slots / std::max(1u, slots / 2));
        written.resize(scheduled.size());
      }
      EXPECT_EQ(written, scheduled) << "member " << m << ", " << slots << " slots";
    }
  }
}

// Counts that wait for one another give way to the latest, which is of whole halves all the same:
// when the root has room does not depend on what a member took meanwhile.
TEST(GroupSmall, CountsAreOfWholeHalvesOfTheRing) {
  for (const auto& [slots, counts] : {std::pair{5u, std::vector<std::uint64_t>{2, 4}},
                                      std::pair{3u, std::vector<std::uint64_t>{1, 3}}}) {
    SmallGroup group(2, {100, slots}, false, 7, false);
    const std::size_t before = group.posted(1).size();
    group.hold(1, true);
    for (std::uint32_t k = 0; k < slots; ++k) group.send(50);
    group.run(1000);
    EXPECT_EQ(group.receiver(1).messages(), slots);
    group.hold(1, false);
    group.run(1000);
    std::vector<std::uint64_t> written;
    for (std::size_t i = before; i < group.posted(1).size(); ++i) {
      written.push_back(group.posted(1)[i].word);
    }
    EXPECT_EQ(written, counts);
    group.close();
    ASSERT_TRUE(group.run_to_end());
  }
}

// A write's memory is the transport's until the write is complete, wherever its bytes are by then.
TEST(GroupSmall, UsesNoSlotAgainBeforeItsWritesAreComplete) {
  SmallGroup group(3, {512, 2}, false, 7, false);
  const std::size_t before = group.posted(0).size();
  group.hold(0, true);
  for (int k = 0; k < 5; ++k) group.send(100);
  group.close();
  group.run(1000);
  EXPECT_EQ(group.receiver(2).messages(), 2u);
  EXPECT_EQ(group.posted(0).size() - before, 2u * 2);
  group.hold(0, false);
  ASSERT_TRUE(group.run_to_end());
  EXPECT_EQ(group.posted(0).size() - before, 5u * 2);
}

// Whoever has said that it is done writes nothing any more: the root's memory may be gone.
TEST(GroupSmall, NobodyIsDoneBeforeTheRootHasItsCount) {
  SmallGroup group(3, {100, 2}, false, 1, false);
  group.send(50);
  group.room(1, 0);
  group.close();
  group.run(3000);
  EXPECT_EQ(group.receiver(1).messages(), 1u);
  EXPECT_FALSE(group.has_closed(0));
  EXPECT_FALSE(group.has_closed(1));
  group.room(1, 1000);
  ASSERT_TRUE(group.run_to_end());
  for (std::uint32_t m = 0; m < 3; ++m) EXPECT_TRUE(group.closing(m).delivered);
}

TEST(GroupSmall, SurvivorsOfALossAgree) {
  int some = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const bool atomic = seed % 3 != 0;
    SmallGroup group(4, {300, 3}, atomic, seed);
    std::mt19937_64 random(seed);
    for (int k = 0; k < 12; ++k) group.send(random() % 4 == 0 ? 700 : random() % 300);
    group.close();
    group.run(static_cast<int>(random() % 1500));
    const auto victim = static_cast<std::uint32_t>(random() % 4);
    group.kill(victim);
    ASSERT_TRUE(group.run_to_end());
    std::vector<std::uint64_t> complete;
    for (std::uint32_t m = 0; m < 4; ++m) {
      if (m == victim) continue;
      EXPECT_TRUE(group.receiver(m).all_right());
      EXPECT_EQ(group.closing(m).messages, group.receiver(m).messages());
      complete.push_back(group.receiver(m).messages());
      if (!group.closing(m).delivered) {
        EXPECT_EQ(group.closing(m).rank, victim);
      }
    }
    if (atomic) {
      EXPECT_THAT(complete, ::testing::Each(complete[0]));
      // What it had completed, all complete.
      EXPECT_LE(group.receiver(victim).messages(), complete[0]);
      some += complete[0] != 0 && complete[0] != 12 ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(some, 50);
}

class GroupSmallRanks : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }
};

TEST_P(GroupSmallRanks, MessagesOfBothWaysComeToProcesses) {
  for (const bool atomic : {false, true}) {
    testing::MeshRanks ranks;
    const std::string provider = GetParam();
    constexpr std::uint32_t kRanks = 4;
    constexpr std::size_t kMessages = 60;
    ranks.start_all(kRanks, [&](const hw::MeshOptions& options, const auto& say) {
      testing::GroupRank rank(options, provider, testing::quick_groups());
      testing::Receiver receiver(0);
      rank.groups.create_group(1, {0, 1, 2, 3}, receiver.callbacks(),
                               {.block_bytes = 4096,
                                .atomic_delivery = atomic,
                                .small_bytes = 10'240,
                                .small_slots = 4});
      std::vector<std::vector<std::byte>> messages;
      for (std::size_t m = 0; m < kMessages && rank.rank() == 0; ++m) {
        messages.push_back(testing::make_message(m, m % 5 == 4 ? 10'241 + m : m * 170));
        rank.groups.send(1, messages.back());
      }
      const bool delivered = rank.groups.destroy_group(1).delivered;
      say(fmt::format("{} {} {}", receiver.messages(), receiver.all_right(), delivered));
    });
    for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "60 true true");
  }
}

TEST_P(GroupSmallRanks, MembersWantTheSame) {
  testing::MeshRanks ranks;
  const std::string provider = GetParam();
  ranks.start_all(2, [&](const hw::MeshOptions& options, const auto& say) {
    testing::GroupRank rank(options, provider, testing::quick_groups());
    const auto refused = [&](std::uint64_t bytes, std::uint32_t slots) {
      return testing::refusal([&] {
        rank.groups.create_group(1, {0, 1}, {}, {.small_bytes = bytes, .small_slots = slots});
      });
    };
    say(refused((1 << 20) + 1, 16));
    say(refused(1, 0));
    say(refused(rank.rank() == 0 ? 10'240 : 100, 16));
  });
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_EQ(ranks.next(r), "2 small_bytes: 1048577 is out of range; expected 0 to 1048576");
    EXPECT_EQ(ranks.next(r), "2 small_slots: 0 is out of range; expected 1 to 65536");
    EXPECT_THAT(ranks.next(r), ::testing::HasSubstr("with 16 slots for messages up to 100 bytes"));
  }
}

INSTANTIATE_TEST_SUITE_P(Over, GroupSmallRanks, ::testing::Values("shm", "net"));

}  // namespace
}  // namespace slackline
