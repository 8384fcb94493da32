// Groups of which several members are lost, at any points: killed, gone without closing, or taken
// for lost although they live. Whatever the order in which survivors hear of it and of each other,
// they come to an end, they complete the same messages if delivery is atomic, and nobody completes
// what others undo.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/group/member.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/late_writes.h"
#include "tests/hw/loop_transport.h"
#include "tests/hw/one_thread_group.h"

namespace slackline {
namespace {

using hw::GroupControl;

// All members in one thread, and what a mesh does for them.
class LostMembers {
 public:
  struct Shape {
    std::uint32_t members = 2;
    bool atomic = false;
    hw::SmallShape small;
    std::string pattern;
    std::uint32_t window = 1;
  };

  LostMembers(const Shape& shape, std::uint64_t seed)
      : random_(seed),
        ones_(shape.members),
        wires_(shape.members * shape.members),
        cut_(shape.members * shape.members, false) {
    const auto plan =
        std::make_shared<machine::GroupPlan>(machine::GroupShape{.pattern = shape.pattern,
                                                                 .members = shape.members,
                                                                 .block_bytes = 256,
                                                                 .window = shape.window});
    std::vector<hw::GroupAddress> addresses;
    for (std::uint32_t m = 0; m < shape.members; ++m) {
      ones_[m].member = std::make_unique<hw::GroupMember>(
          std::make_unique<testing::LateWrites>(std::make_unique<testing::LoopTransport>(loop_),
                                                &random_),
          testing::patient_setup(plan, m, shape.atomic, shape.small, ones_[m].receiver),
          [this, m](std::uint32_t to, const GroupControl& control) { say(m, to, control); });
      addresses.push_back(ones_[m].member->open());
    }
    for (One& one : ones_) one.member->connect(addresses, shape.members);
    for (One& one : ones_) one.member->start();
  }

  std::size_t pick(std::size_t below) { return random_() % below; }

  void send(std::size_t bytes) { testing::send_next(*ones_[0].member, messages_, bytes); }
  void close() {
    for (One& one : ones_) one.member->close();
  }

  // Of what it said last, some has not left.
  void kill(std::uint32_t victim) {
    ones_[victim].killed = true;
    for (std::uint32_t m = 0; m < ones_.size(); ++m) {
      auto& said = wires_[wire(victim, m)];
      said.resize(said.size() - pick(said.size() + 1));
    }
    lose(victim);
  }
  // It is stopped, and others go on without it. Before it goes on itself, it hears what they have
  // said, and that it is taken for lost (GroupEngine::be_sure()).
  void suspect(std::uint32_t victim) {
    ones_[victim].stopped = true;
    lose(victim);
    untold_.push_back({victim, victim});
  }

  // Its process has no groups any more.
  void go(std::uint32_t victim) {
    if (ones_[victim].member->closing()) return leave(victim);
    ones_[victim].lost = ones_[victim].went = true;
    ones_[victim].member->silence();
    ones_[victim].member->leave("its process left");
    leave(victim);
  }

  void turn() {
    const std::uint32_t m = static_cast<std::uint32_t>(pick(ones_.size()));
    if (!ones_[m].killed && !ones_[m].stopped && !ones_[m].went) {
      ones_[m].member->poll();
      ones_[m].member->progress();
    }
    const std::uint32_t from = static_cast<std::uint32_t>(pick(ones_.size()));
    const std::uint32_t to = static_cast<std::uint32_t>(pick(ones_.size()));
    hear(from, to);
    if (!untold_.empty() && pick(20) == 0) see(pick(untold_.size()));
    if (ones_[m].member->closing() && pick(20) == 0) leave(m);
  }

  // Everybody but those that were killed, or went, comes to an end.
  bool run_to_end() {
    for (int turns = 0; turns < 400'000; ++turns) {
      turn();
      if (turns % 100 == 0 && std::ranges::all_of(ones_, [](const One& one) {
            return one.killed || one.went || one.member->closing().has_value();
          })) {
        return true;
      }
    }
    return false;
  }

  bool was_lost(std::uint32_t m) const { return ones_[m].lost; }
  // Then its end is not looked at.
  bool was_killed(std::uint32_t m) const { return ones_[m].killed || ones_[m].went; }
  const hw::GroupClosing& closing(std::uint32_t m) const { return *ones_[m].member->closing(); }
  const testing::Receiver& receiver(std::uint32_t m) const { return ones_[m].receiver; }

 private:
  struct One {
    testing::Receiver receiver{0};
    std::unique_ptr<hw::GroupMember> member;
    bool killed = false;
    bool stopped = false;
    bool lost = false;  // killed, went, or was stopped
    bool went = false;  // before its group had ended
    bool left = false;  // went, or its group had ended: it answers nothing any more
  };
  struct Untold {
    std::uint32_t at = 0;
    std::uint32_t victim = 0;
  };

  std::size_t wire(std::uint32_t from, std::uint32_t to) const { return from * ones_.size() + to; }

  void say(std::uint32_t from, std::uint32_t to, const GroupControl& control) {
    if (!ones_[from].killed && !cut_[wire(from, to)]) wires_[wire(from, to)].push_back(control);
  }

  void leave(std::uint32_t m) {
    if (ones_[m].killed || std::exchange(ones_[m].left, true)) return;
    for (std::uint32_t to = 0; to < ones_.size(); ++to) {
      say(m, to, {{hw::GroupWord::kLeft, 0, {}}, 0});
    }
  }

  void lose(std::uint32_t victim) {
    ones_[victim].lost = true;
    for (std::uint32_t m = 0; m < ones_.size(); ++m) {
      if (m != victim) untold_.push_back({m, victim});
    }
  }

  void hear(std::uint32_t from, std::uint32_t to) {
    auto& said = wires_[wire(from, to)];
    if (said.empty()) return;
    const GroupControl control = said.front();
    said.pop_front();
    if (ones_[to].killed || ones_[to].left) return;
    if (!ones_[to].member->closing()) {
      if (control.word == hw::GroupWord::kLeft) return ones_[to].member->see_left(from);
      ones_[to].member->hear(from, control);
    } else if (const auto answer = machine::answer_without_group(control.word)) {
      say(to, from, {*answer, control.group});
    }
  }

  // What came before a loss is heard before it counts; and nothing is said to who is lost, or heard
  // of it, after that.
  void see(std::size_t place) {
    const Untold told = untold_[place];
    One& at = ones_[told.at];
    if (!at.killed && !wires_[wire(told.victim, told.at)].empty()) return;
    untold_.erase(untold_.begin() + static_cast<std::ptrdiff_t>(place));
    cut_[wire(told.at, told.victim)] = cut_[wire(told.victim, told.at)] = true;
    if (told.at == told.victim) at.stopped = false;
    if (at.killed || at.member->closing()) return;
    if (told.at == told.victim) {
      at.member->cut_off("it is taken for lost");
    } else {
      at.member->lose(told.victim, "it is gone", false);
    }
  }

  std::mt19937_64 random_;
  testing::Loop loop_;
  std::vector<One> ones_;
  std::vector<std::deque<GroupControl>> wires_;  // from · members + to
  std::deque<std::vector<std::byte>> messages_;
  std::vector<bool> cut_;  // as wires_
  std::vector<Untold> untold_;
};

// SLACKLINE_GROUP_LOSSES says how many.
std::uint64_t losses() {
  const char* const said = std::getenv("SLACKLINE_GROUP_LOSSES");
  return said == nullptr ? 600 : std::strtoull(said, nullptr, 10);
}

TEST(GroupSurvivors, AreOfOneMindWhoeverIsLost) {
  std::uint64_t partly = 0, several = 0;
  for (std::uint64_t seed = 0; seed < losses(); ++seed) {
    std::mt19937_64 draw(seed);
    LostMembers::Shape shape;
    shape.members = static_cast<std::uint32_t>(2 + draw() % 6);
    shape.atomic = draw() % 3 != 0;
    if (draw() % 2 == 0) shape.small = {300, static_cast<std::uint32_t>(1 + draw() % 4)};
    const auto patterns = machine::group_patterns();
    shape.pattern = patterns[draw() % patterns.size()];
    shape.window = static_cast<std::uint32_t>(1 + draw() % 3);
    LostMembers group(shape, seed);
    const std::uint64_t sent = 1 + draw() % 8;
    for (std::uint64_t k = 0; k < sent; ++k) {
      group.send(draw() % 3 == 0 ? 300 + draw() % 900 : draw() % 300);
    }
    std::vector<std::uint32_t> victims(shape.members);
    for (std::uint32_t m = 0; m < shape.members; ++m) victims[m] = m;
    std::ranges::shuffle(victims, draw);
    victims.resize(1 + draw() % (shape.members - 1));
    const std::uint64_t close_after = draw() % (1 + victims.size());
    std::string story;
    for (std::size_t v = 0; v <= victims.size(); ++v) {
      if (v == close_after) group.close();
      if (v == victims.size()) break;
      const std::uint64_t turns = draw() % (1 + 250 * shape.members);
      for (std::uint64_t t = 0; t < turns; ++t) group.turn();
      enum Fate { kKilled, kStopped, kGone, kGoneAndKilled };
      constexpr Fate kFates[] = {kKilled,  kKilled, kKilled,       kStopped,
                                 kStopped, kGone,   kGoneAndKilled};
      const Fate fate = kFates[draw() % std::size(kFates)];
      constexpr const char* kNames[] = {"killed", "stopped", "gone", "gone and killed"};
      story += fmt::format(", rank {} {} after {}", victims[v], kNames[fate], turns);
      if (fate == kStopped) group.suspect(victims[v]);
      if (fate == kGone || fate == kGoneAndKilled) group.go(victims[v]);
      if (fate == kKilled || fate == kGoneAndKilled) group.kill(victims[v]);
    }
    SCOPED_TRACE(fmt::format("seed {}: {} of {} members, {} messages{}{}{}", seed, shape.pattern,
                             shape.members, sent, shape.atomic ? ", atomic" : "",
                             shape.small.bytes != 0 ? ", small ones too" : "", story));
    ASSERT_TRUE(group.run_to_end());
    std::vector<std::uint64_t> complete;
    std::uint64_t of_lost = 0;
    bool any_delivered = false;
    for (std::uint32_t m = 0; m < shape.members; ++m) {
      const testing::Receiver& receiver = group.receiver(m);
      EXPECT_TRUE(receiver.all_right()) << "member " << m;
      if (group.was_lost(m)) {
        of_lost = std::max<std::uint64_t>(of_lost, receiver.messages());
      } else {
        complete.push_back(receiver.messages());
      }
      if (group.was_killed(m)) continue;
      const hw::GroupClosing& closing = group.closing(m);
      EXPECT_EQ(closing.messages, receiver.messages()) << "member " << m;
      any_delivered = any_delivered || closing.delivered;
      if (closing.delivered) {
        EXPECT_EQ(closing.messages, sent) << "member " << m;
        EXPECT_TRUE(receiver.failures().empty()) << "member " << m;
      } else {
        EXPECT_THAT(receiver.failures(), ::testing::ElementsAre(*closing.rank)) << "member " << m;
        // Who was given up itself blames who did so.
        EXPECT_TRUE(group.was_lost(m) || group.was_lost(*closing.rank))
            << "member " << m << ": " << closing.why;
      }
    }
    if (shape.atomic) {
      EXPECT_THAT(complete, ::testing::Each(complete.front()));
      EXPECT_LE(of_lost, complete.front());
      if (any_delivered) {
        EXPECT_EQ(complete.front(), sent);
      }
      partly += complete.front() != 0 && complete.front() != sent ? 1 : 0;
    }
    several += victims.size() > 1 ? 1 : 0;
    if (HasFailure()) return;
  }
  if (losses() < 600) return;
  EXPECT_GT(partly, losses() / 20);
  EXPECT_GT(several, losses() / 3);
}

}  // namespace
}  // namespace slackline
