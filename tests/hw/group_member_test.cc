// The members of one group in one thread, over transports within the process: the words that they
// tell each other, who is held to blame when nothing moves, and how a group ends. Of those that do
// not take part, the test says the words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hw/group/member.h"
#include "hw/passing_transport.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/loop_transport.h"

namespace slackline {
namespace {

using hw::GroupControl;
using hw::GroupWord;
using std::chrono::milliseconds;
using Members = std::initializer_list<std::uint32_t>;

constexpr std::uint32_t kSize = 4;
constexpr std::uint32_t kRanks[kSize] = {4, 9, 7, 2};
constexpr std::uint32_t kName = 77;
constexpr milliseconds kForever = std::chrono::hours(1);

// Fails as it is told to.
class FailingTransport final : public hw::PassingTransport {
 public:
  FailingTransport(std::unique_ptr<hw::Transport> under, const std::function<void()>& poll)
      : PassingTransport(std::move(under)), poll_(poll) {}
  std::size_t poll(std::span<hw::Completion> completions) override {
    if (poll_) poll_();
    return PassingTransport::poll(completions);
  }

 private:
  const std::function<void()>& poll_;
};

class GroupMember : public ::testing::Test {
 protected:
  struct Word {
    std::uint32_t from = 0;  // member
    std::uint32_t to = 0;    // rank
    GroupControl control;
  };
  struct One {
    std::function<void()> poll;
    testing::LoopTransport* transport = nullptr;
    testing::Receiver receiver{0};
    std::unique_ptr<hw::GroupMember> member;
  };

  void make(bool atomic = false, milliseconds timeout = kForever,
            milliseconds failure_timeout = kForever) {
    said.clear();
    ones = std::vector<One>(kSize);
    loop = {};
    const auto plan = std::make_shared<machine::GroupPlan>(machine::GroupShape{
        .pattern = "sequential", .members = kSize, .block_bytes = 1024, .window = 1});
    std::vector<hw::GroupAddress> addresses;
    for (std::uint32_t m = 0; m < kSize; ++m) {
      One& one = ones[m];
      auto transport = std::make_unique<testing::LoopTransport>(loop);
      one.transport = transport.get();
      hw::GroupSetup setup;
      setup.id = 5;
      setup.ranks.assign(std::begin(kRanks), std::end(kRanks));
      setup.self = m;
      setup.plan = plan;
      setup.atomic_delivery = atomic;
      setup.callbacks = one.receiver.callbacks();
      setup.name = kName;
      setup.timeout = timeout;
      setup.failure_timeout = failure_timeout;
      one.member = std::make_unique<hw::GroupMember>(
          std::make_unique<FailingTransport>(std::move(transport), one.poll), std::move(setup),
          [this, m](std::uint32_t rank, const GroupControl& control) {
            said.push_back({m, rank, control});
          });
      addresses.push_back(one.member->open());
    }
    for (One& one : ones) one.member->connect(addresses, 10);
    for (One& one : ones) one.member->start();
  }

  hw::GroupMember& member(std::uint32_t m) { return *ones[m].member; }

  // Sends so many messages of several blocks; those sent before must be complete.
  void send(int count) {
    for (int i = 0; i < count; ++i) {
      messages.push_back(testing::make_message(messages.size(), 2500));
      member(0).send(messages.back(), plan().message(2500));
    }
  }
  machine::GroupPlan& plan() { return *member(0).setup().plan; }

  // Until nothing moves any more. What they say is heard, and kept in `said` alone of the others.
  void run(Members live) {
    for (int quiet = 0; quiet < 3; ++quiet) {
      for (const std::uint32_t m : live) {
        if (member(m).poll()) quiet = 0;
        if (member(m).progress()) quiet = 0;
      }
      for (std::size_t i = 0; i < said.size();) {
        const Word word = said[i];
        const auto to = static_cast<std::uint32_t>(std::ranges::find(kRanks, word.to) - kRanks);
        if (std::ranges::find(live, to) == live.end()) {
          ++i;
          continue;
        }
        said.erase(said.begin() + static_cast<std::ptrdiff_t>(i));
        member(to).hear(word.from, word.control);
        quiet = 0;
      }
    }
  }

  // "from>rank word number", of what is said to those that are not there; nothing of it is left.
  std::vector<std::string> words() {
    std::vector<std::string> texts;
    for (const Word& word : said) {
      EXPECT_EQ(word.control.group, kName);
      texts.push_back(fmt::format("{}>{} {} {}", word.from, word.to,
                                  static_cast<int>(word.control.word), word.control.number));
    }
    said.clear();
    return texts;
  }

  void hear(std::uint32_t m, std::uint32_t from, GroupWord word, std::uint64_t number = 0) {
    GroupControl control;
    control.word = word;
    control.group = kName;
    control.number = number;
    member(m).hear(from, control);
  }
  void hear_settlement(std::uint32_t m, std::uint32_t from, Members lost,
                       std::uint64_t number = 0) {
    GroupControl control;
    control.word = GroupWord::kSettle;
    control.group = kName;
    control.notice.lost.assign(kSize, false);
    for (const std::uint32_t each : lost) control.notice.lost[each] = true;
    control.notice.messages = number;
    member(m).hear(from, control);
  }

  std::string ending(std::uint32_t m) {
    if (!member(m).closing()) return "not yet";
    const hw::GroupClosing& closing = *member(m).closing();
    return fmt::format("{} {} {} {}", closing.delivered, closing.messages,
                       closing.rank ? fmt::format("by {}", *closing.rank) : "", closing.why);
  }

  testing::Loop loop;
  std::vector<One> ones;
  std::deque<std::vector<std::byte>> messages;
  std::deque<Word> said;
};

std::string word(GroupWord which) { return std::to_string(static_cast<int>(which)); }

TEST_F(GroupMember, NamesPlacesByRank) {
  make();
  for (std::uint32_t m = 0; m < kSize; ++m) EXPECT_EQ(member(1).member(kRanks[m]), m);
  EXPECT_FALSE(member(1).member(0).has_value());
}

// The root closes last: only then does anybody know how many messages there are.
TEST_F(GroupMember, EndsOnceAllHaveAllMessagesAndWantTo) {
  for (const bool atomic : {false, true}) {
    messages.clear();
    make(atomic);
    send(3);
    run({0, 1, 2, 3});
    for (One& one : ones) EXPECT_EQ(one.receiver.text(), "3 messages: 2500 2500 2500");
    EXPECT_TRUE(said.empty());
    for (const std::uint32_t m : {3u, 1u, 0u}) {
      EXPECT_FALSE(member(m).watches());
      member(m).close();
      EXPECT_TRUE(member(m).watches());
      run({0, 1, 2, 3});
      for (std::uint32_t each = 0; each < kSize; ++each) EXPECT_EQ(ending(each), "not yet");
    }
    member(2).close();
    run({0, 1, 2, 3});
    for (std::uint32_t each = 0; each < kSize; ++each) {
      EXPECT_EQ(ending(each), "true 3  ");
      EXPECT_EQ(member(each).transport(), nullptr);
      EXPECT_TRUE(ones[each].receiver.failures().empty());
    }
    EXPECT_TRUE(said.empty());
  }
}

TEST_F(GroupMember, TheRootTellsTheCountAndEachThatItIsDone) {
  make();
  member(0).close();
  member(1).close();
  run({0});
  EXPECT_THAT(words(),
              ::testing::ElementsAre("0>9 " + word(GroupWord::kClose) + " 0", "0>7 1 0", "0>2 1 0",
                                     "0>9 " + word(GroupWord::kDone) + " 0", "0>7 2 0", "0>2 2 0"));
  run({0, 1});
  EXPECT_TRUE(said.empty()) << "who does not know the count is not done";
  hear(1, 0, GroupWord::kClose, 1);
  run({1});
  EXPECT_TRUE(said.empty()) << "who has not all messages is not done";
  hear(1, 0, GroupWord::kClose, 0);
  run({1});
  EXPECT_THAT(words(), ::testing::ElementsAre("1>4 2 0", "1>7 2 0", "1>2 2 0"));
}

TEST_F(GroupMember, AnswersWhetherItWantsToClose) {
  make();
  hear(1, 2, GroupWord::kStill);
  member(1).close();
  hear(1, 2, GroupWord::kStill);
  EXPECT_THAT(words(), ::testing::ElementsAre("1>7 " + word(GroupWord::kHere) + " 0", "1>7 6 1"));
}

// What the root has heard when its patience is over, and whom it names.
struct Silence {
  std::vector<std::uint32_t> done;
  std::vector<std::uint32_t> closing;
  std::vector<std::uint32_t> living;
  std::optional<std::uint32_t> rank;
};

class GroupSilence : public GroupMember, public ::testing::WithParamInterface<Silence> {
 protected:
  // False if the machine was so slow that nobody was asked before the patience was over.
  bool try_with(milliseconds timeout) {
    make(false, timeout);
    member(0).close();
    for (const std::uint32_t m : GetParam().done) hear(0, m, GroupWord::kDone);
    run({0});
    words();
    while (said.empty()) member(0).progress();
    if (member(0).failure()) return false;
    EXPECT_THAT(words(), ::testing::ElementsAre("0>9 " + word(GroupWord::kStill) + " 0", "0>7 5 0",
                                                "0>2 5 0"));
    for (const std::uint32_t m : GetParam().closing) hear(0, m, GroupWord::kHere, 1);
    for (const std::uint32_t m : GetParam().living) hear(0, m, GroupWord::kHere, 0);
    return true;
  }
};

TEST_P(GroupSilence, HasSomebodyToBlame) {
  milliseconds timeout{20};
  while (!try_with(timeout)) timeout *= 2;
  while (said.empty()) member(0).progress();
  EXPECT_EQ(member(0).failure(), GetParam().rank);
  EXPECT_THAT(ones[0].receiver.failures(), ::testing::ElementsAre(*GetParam().rank));
  for (const std::uint32_t m : {1u, 2u, 3u}) hear_settlement(0, m, {});
  run({0});
  EXPECT_EQ(ending(0),
            fmt::format("false 0 by {0} rank {0} did not come to the end of the group within {1} s",
                        *GetParam().rank, std::chrono::duration<double>(timeout).count()));
}

INSTANTIATE_TEST_SUITE_P(
    Of, GroupSilence,
    ::testing::Values(Silence{{}, {}, {}, kRanks[1]},         // the first of those alike
                      Silence{{}, {1}, {2}, kRanks[3]},       // who gives no sign
                      Silence{{}, {1, 3}, {2}, kRanks[2]},    // else who does not close
                      Silence{{}, {1, 2, 3}, {}, kRanks[1]},  // else who is not done
                      Silence{{1}, {2, 3}, {1}, kRanks[2]},   // who is done has given its sign
                      Silence{{1, 3}, {2}, {}, kRanks[2]}));

// A process that stood still, or whose completion thread was kept by a callback, has heard nobody
// in that time: whoever is there afterwards is not to blame for it.
TEST_F(GroupMember, BlamesNobodyForTheTimeInWhichItStoodStillItself) {
  constexpr milliseconds kPatience{80};
  make(false, kPatience);
  member(0).close();
  run({0});
  std::this_thread::sleep_for(2 * kPatience);
  member(0).poll();
  member(0).progress();
  EXPECT_FALSE(member(0).failure().has_value());
}

// All others are done, and a message that the root counted has not come here: that is no fault of
// theirs that this member could name.
TEST_F(GroupMember, BlamesNobodyWhereAllOthersAreDone) {
  make(false, milliseconds(1));
  member(1).close();
  hear(1, 0, GroupWord::kClose, 1);
  for (const std::uint32_t m : {0u, 2u, 3u}) hear(1, m, GroupWord::kDone);
  for (int asked = 0; asked < 3; ++asked) {
    while (said.empty()) member(1).progress();
    words();
  }
  EXPECT_FALSE(member(1).failure().has_value());
  EXPECT_EQ(ending(1), "not yet");
}

// Whoever does not know that the group has failed is waited for, and given up in the end.
TEST_F(GroupMember, AFailedGroupEndsOnceAllWhoCanBeReachedKnow) {
  make();
  member(0).lose(3, "rank 2 was lost: so", false);
  EXPECT_EQ(member(0).failure(), kRanks[3]);
  EXPECT_THAT(ones[0].receiver.failures(), ::testing::ElementsAre(kRanks[3]));
  EXPECT_THAT(words(), ::testing::ElementsAre("0>9 " + word(GroupWord::kSettle) + " 0", "0>7 3 0",
                                              "0>2 3 0"));
  member(0).lose(3, "again", false);
  EXPECT_TRUE(said.empty());
  EXPECT_TRUE(member(0).watches());
  run({0});
  EXPECT_EQ(ending(0), "not yet");
  hear_settlement(0, 1, {3});
  run({0});
  EXPECT_EQ(ending(0), "not yet");
  hear(0, 2, GroupWord::kGone);
  EXPECT_THAT(words(), ::testing::ElementsAre("0>9 3 0", "0>7 3 0", "0>2 3 0"));
  run({0});
  EXPECT_EQ(ending(0), "false 0 by 2 rank 2 was lost: so");
  EXPECT_EQ(member(0).transport(), nullptr);
  member(0).lose(1, "later", false);
  member(0).leave("later");
  hear(0, 1, GroupWord::kStill);
  hear_settlement(0, 1, {});
  EXPECT_FALSE(member(0).poll());
  EXPECT_FALSE(member(0).progress());
  EXPECT_TRUE(said.empty());
  EXPECT_THAT(ones[0].receiver.failures(), ::testing::ElementsAre(kRanks[3]));
}

TEST_F(GroupMember, AFailedGroupDoesNotWaitForWhoHasLeft) {
  for (const bool before : {true, false}) {
    make();
    if (before) member(0).see_left(2);
    EXPECT_TRUE(said.empty());
    member(0).lose(3, "gone", false);
    if (!before) member(0).see_left(2);
    member(0).see_left(2);
    EXPECT_THAT(said.back().control.notice.lost, ::testing::ElementsAre(false, false, true, true));
    // Those that hear it first must take nobody else for the reason.
    EXPECT_THAT(said.front().control.notice.lost,
                ::testing::ElementsAre(false, false, false, true));
    EXPECT_EQ(said.size(), 6u);
    run({0});
    EXPECT_EQ(ending(0), "not yet");
    hear_settlement(0, 1, {2, 3});
    run({0});
    EXPECT_EQ(ending(0), "false 0 by 2 gone");
    member(0).see_left(1);
  }
}

TEST_F(GroupMember, AFailedGroupGivesUpWhoNeverKnows) {
  make(false, milliseconds(1));
  member(0).lose(3, "gone", true);
  hear_settlement(0, 1, {3});
  while (!member(0).closing()) member(0).progress();
  EXPECT_EQ(ending(0), "false 0 by 2 gone");
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.back().control.notice.lost, ::testing::ElementsAre(false, false, true, true));
}

TEST_F(GroupMember, SaysWhoseFaultItIsByWhatAnotherTells) {
  const auto heard = [&](Members lost) {
    make();
    hear_settlement(0, 2, lost);
    hear_settlement(0, 1, lost);
    hear_settlement(0, 3, lost);
    run({0});
    return ending(0);
  };
  EXPECT_EQ(heard({3}), "false 0 by 2 rank 7 lost rank 2");
  EXPECT_EQ(heard({1, 3}), "false 0 by 9 rank 7 lost rank 9");
  EXPECT_EQ(heard({}), "false 0 by 7 rank 7 left the group");
  EXPECT_EQ(heard({2}), "false 0 by 7 rank 7 left the group");
  EXPECT_EQ(heard({0}), "false 0 by 7 rank 7 takes this rank for lost");
}

TEST_F(GroupMember, ANoticeOfAnotherSizeIsNone) {
  make();
  GroupControl control;
  control.word = GroupWord::kSettle;
  control.notice.lost.assign(kSize - 1, true);
  member(0).hear(1, control);
  EXPECT_FALSE(member(0).failure().has_value());
  EXPECT_TRUE(said.empty());
}

// Everybody has told that it is done: all was delivered, whoever is lost after that.
TEST_F(GroupMember, IsDeliveredOnceAllAreDone) {
  for (const bool is_cut_off : {false, true}) {
    make();
    member(0).close();
    run({0});
    for (const std::uint32_t m : {1u, 2u, 3u}) hear(0, m, GroupWord::kDone);
    if (is_cut_off) {
      member(0).cut_off("late");
    } else {
      member(0).lose(2, "late", false);
    }
    EXPECT_FALSE(member(0).failure().has_value());
    run({0});
    EXPECT_EQ(ending(0), "true 0  ");
  }
}

TEST_F(GroupMember, WhoIsCutOffWaitsForNobody) {
  make();
  member(0).cut_off("alone");
  EXPECT_EQ(member(0).failure(), kRanks[0]);
  run({0});
  EXPECT_EQ(ending(0), "false 0 by 4 alone");
}

TEST_F(GroupMember, WhoLeavesTellsAll) {
  make();
  member(1).leave("enough");
  member(1).leave("more");
  run({0, 1, 2, 3});
  EXPECT_EQ(ending(1), "false 0 by 9 enough");
  for (const std::uint32_t m : {0u, 2u, 3u})
    EXPECT_THAT(ending(m), ::testing::StartsWith("false 0 by 9 "));
}

}  // namespace
}  // namespace slackline
