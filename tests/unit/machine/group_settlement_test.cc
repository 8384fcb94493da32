// Survivors of a failed group agree, whoever is lost when: any number of members, lost at any
// moment, with notices that arrive at any time but in the order of their sender.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "machine/group/settlement.h"

namespace slackline {
namespace {

using machine::Settlement;
using machine::SettlementNotice;

class Simulation {
 public:
  Simulation(std::uint32_t members, std::uint64_t seed) : random_(seed), members_(members) {
    for (std::uint32_t m = 0; m < members; ++m) {
      messages_.push_back(pick(4));
      settlements_.push_back(std::make_unique<Settlement>(members, m, messages_[m]));
    }
    alive_.assign(members, true);
    decided_.resize(members);
    wires_.resize(members * members);
    knows_.resize(members * members);
  }

  void run() {
    crash(pick(members_));
    while (step()) {
      if (pick(12) == 0 && alive() > 1) crash(pick(members_));
    }
  }

  void check() const {
    std::optional<std::uint64_t> agreed;
    for (std::uint32_t m = 0; m < members_; ++m) {
      if (!alive_[m]) continue;
      ASSERT_TRUE(decided_[m]) << "member " << m << " never decides";
      if (!agreed) agreed = decided_[m];
      EXPECT_EQ(*decided_[m], *agreed) << "member " << m;
      EXPECT_LE(*agreed, messages_[m]);
    }
    for (std::uint32_t m = 0; m < members_; ++m) {
      if (!alive_[m] && decided_[m] && agreed) {
        EXPECT_LE(*decided_[m], *agreed);
      }
    }
  }

 private:
  std::uint32_t pick(std::uint32_t below) {
    return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(random_);
  }
  std::uint32_t alive() const {
    return static_cast<std::uint32_t>(std::count(alive_.begin(), alive_.end(), true));
  }

  // What it said is still under way; everybody will know, sometime. It may not have told everyone
  // what it told some.
  void crash(std::uint32_t member) {
    if (!alive_[member]) return;
    alive_[member] = false;
    for (std::uint32_t m = 0; m < members_; ++m) {
      if (m == member) continue;
      auto& wire = wires_[member * members_ + m];
      wire.resize(pick(static_cast<std::uint32_t>(wire.size()) + 1));
    }
  }

  void tell(std::uint32_t from) {
    const Settlement& own = *settlements_[from];
    if (own.decided()) {
      if (decided_[from]) {
        EXPECT_EQ(decided_[from], own.decided());
      }
      decided_[from] = own.decided();
    }
    for (std::uint32_t m = 0; m < members_; ++m) {
      if (m != from) wires_[from * members_ + m].push_back(own.own());
    }
  }

  // One thing happens: a notice arrives, or a member learns of a loss.
  bool step() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arrivals;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> losses;
    for (std::uint32_t m = 0; m < members_; ++m) {
      if (!alive_[m]) continue;
      for (std::uint32_t from = 0; from < members_; ++from) {
        if (from == m) continue;
        if (!wires_[from * members_ + m].empty()) arrivals.emplace_back(from, m);
        if (!alive_[from] && !knows_[from * members_ + m]) losses.emplace_back(from, m);
      }
    }
    if (arrivals.empty() && losses.empty()) return false;
    const bool arrives = losses.empty() || (!arrivals.empty() && pick(4) != 0);
    const auto [from, to] = arrives ? arrivals[pick(static_cast<std::uint32_t>(arrivals.size()))]
                                    : losses[pick(static_cast<std::uint32_t>(losses.size()))];
    bool news = false;
    if (arrives) {
      auto& wire = wires_[from * members_ + to];
      const SettlementNotice notice = wire.front();
      wire.pop_front();
      news = settlements_[to]->hear(from, notice);
    } else {
      knows_[from * members_ + to] = true;
      news = settlements_[to]->lose(from);
    }
    if (news) tell(to);
    return true;
  }

  std::mt19937_64 random_;
  std::uint32_t members_;
  std::vector<std::uint64_t> messages_;
  std::vector<std::unique_ptr<Settlement>> settlements_;
  std::vector<bool> alive_;
  std::vector<std::optional<std::uint64_t>> decided_;
  std::vector<std::deque<SettlementNotice>> wires_;  // from · members + to
  std::vector<bool> knows_;
};

TEST(Settlement, SurvivorsAgreeAndUndoNothing) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(seed);
    Simulation simulation(static_cast<std::uint32_t>(2 + seed % 5), seed);
    simulation.run();
    simulation.check();
    if (HasFailure()) return;
  }
}

TEST(Settlement, WhoLeavesOfItsOwnDecidesNothingAndTells) {
  Settlement leaver(2, 0, 3);
  EXPECT_TRUE(leaver.lose(0));
  EXPECT_FALSE(leaver.decided());
  Settlement other(2, 1, 5);
  EXPECT_TRUE(other.hear(0, leaver.own()));
  EXPECT_TRUE(other.is_lost(0));
  EXPECT_EQ(other.decided(), 5u);
}

// Of another group, or of nobody: nothing in it is taken for a member.
TEST(Settlement, ANoticeOfAnotherNumberOfMembersIsNone) {
  for (const std::size_t members : {0u, 2u, 4u, 1000u}) {
    Settlement settlement(3, 0, 5);
    settlement.lose(2);
    SettlementNotice notice;
    notice.lost.assign(members, true);
    notice.decided = 1;
    EXPECT_FALSE(settlement.hear(1, notice)) << members;
    EXPECT_FALSE(settlement.is_lost(1));
    EXPECT_FALSE(settlement.decided());
  }
}

}  // namespace
}  // namespace slackline
