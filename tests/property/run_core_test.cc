// A run of all ranks and the runs of one rank each are the same: the core is told of a range of
// operations, and what stands outside of the range changes nothing.
//
// The host here has neither clock nor network: an operation holds its lane for one tick, and is
// done two ticks after it was issued. So ranks have nothing to do with each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "machine/lane.h"
#include "machine/run/core.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"

namespace slackline::machine {
namespace {

using sched::OpRange;
using sched::OpTimes;
using sched::RankId;
using sched::Schedule;
using ::slackline::testing::Dice;
using ::slackline::testing::RandomDynamic;

class TickHost {
 public:
  TickHost(const Schedule& schedule, OpRange range, const IssueOrder& order, std::uint64_t seed)
      : times(range.count),
        schedule_(schedule),
        range_(range),
        graph_(schedule, range),
        core_(*this, graph_, times, order, 0, seed) {
    core_.reset();
  }

  // The error that ends it; empty if it comes to its end.
  std::string run() {
    try {
      core_.start();
      settle();
      while (!later_.empty()) {
        now_ = std::get<0>(later_.begin()->first);
        while (!later_.empty() && std::get<0>(later_.begin()->first) == now_) {
          const auto [what, place] = *later_.begin();
          later_.erase(later_.begin());
          happen(std::get<2>(what), place);
        }
        settle();
      }
    } catch (const InputError& error) {
      return error.what();
    }
    EXPECT_EQ(ended, core_.left() == 0);
    return "";
  }

  std::vector<OpTimes> times;
  bool ended = false;

 private:
  friend class RunCore<TickHost>;
  enum class What { kOffer, kLaneEnd, kDone, kEnter };

  double now_s() const { return now_; }
  double moment() const { return now_; }
  bool is_gone(std::uint32_t) const { return false; }
  double post_delay_s(std::uint32_t op) const { return range_.id(op).value % 5 == 0 ? 3 : 0; }
  void hold_back(std::uint32_t op, double wait_s) { after(wait_s, What::kOffer, op); }
  bool takes_lane(std::uint32_t op) const { return holds_lane(schedule_.op(range_.id(op)).kind); }
  void at_once(std::uint32_t node) { free_.push_back(node); }
  void come_again(std::uint32_t region, double) {
    after(1, What::kEnter, core_.tree().node_of(region));
  }
  void attempt_begins(std::uint32_t) {}
  void room_made(std::uint32_t) {}
  bool succeeded(std::uint32_t op) {
    const std::uint32_t attempts = core_.times(op).attempts;
    return attempts > 3 || (range_.id(op).value + attempts) % 3 == 0;
  }
  void all_ended() { ended = true; }

  // In the order of times, then of operations of the whole schedule, then regions.
  void after(double ticks, What what, std::uint32_t node) {
    const std::uint32_t place = core_.tree().is_region(node)
                                    ? schedule_.op_count() + core_.tree().region_of(node)
                                    : range_.id(node).value;
    later_.emplace(std::tuple(now_ + ticks, place, what), node);
  }
  void issue(std::uint32_t op) {
    core_.issued(op);
    after(2, What::kDone, op);
  }
  void happen(What what, std::uint32_t node) {
    switch (what) {
      case What::kOffer:
        return core_.offer(node);
      case What::kLaneEnd:
        core_.lanes().release(core_.lanes().lane_of(node), now_);
        return issue(node);
      case What::kDone:
        return core_.done(node);
      case What::kEnter:
        return core_.enter(core_.tree().region_of(node));
    }
  }
  void settle() {
    std::vector<std::uint32_t>& touched = core_.lanes().touched();
    while (!free_.empty() || !touched.empty()) {
      std::vector<std::uint32_t> free;
      free.swap(free_);
      for (const std::uint32_t node : free) {
        const bool region = core_.tree().is_region(node);
        region ? core_.enter(core_.tree().region_of(node)) : issue(node);
      }
      for (std::size_t i = 0; i < touched.size(); ++i) {
        core_.lanes().untouch(touched[i]);
        const auto turn = core_.next_turn(touched[i], [](const Lanes::Waiting&) { return false; });
        if (!turn) continue;
        core_.lanes().hold(turn->op, true);
        after(1, What::kLaneEnd, turn->op);
      }
      touched.clear();
    }
  }

  const Schedule& schedule_;
  const OpRange range_;
  const RunGraph graph_;
  RunCore<TickHost> core_;
  double now_ = 0;
  std::vector<std::uint32_t> free_;
  std::map<std::tuple<double, std::uint32_t, What>, std::uint32_t> later_;
};

TEST(RunCoreRanges, EachRankAloneRunsAsItDoesAmongAll) {
  std::uint64_t attempts = 0;
  std::uint32_t whole = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = 1 + dice.below(6);
    const Schedule schedule = RandomDynamic(dice, ranks, 1 + dice.below(12), seed % 2 == 0).build();
    std::vector<double> slack_s(schedule.op_count());
    for (double& slack : slack_s) slack = dice.below(4);
    IssueOrder order(
        dice.pick({IssuePolicy::kInOrder, IssuePolicy::kReady, IssuePolicy::kLeastSlack}), slack_s);
    order.sends_in_flight = dice.below(3);
    TickHost all(schedule, OpRange::of_all(schedule), order, seed);
    const std::string wrong = all.run();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const OpRange range = OpRange::of_rank(schedule, RankId(rank));
      TickHost one(schedule, range, order, seed);
      const std::string own_wrong = one.run();
      if (!wrong.empty()) continue;  // it stopped for one of the ranks
      ASSERT_EQ(own_wrong, "") << seed;
      for (std::uint32_t i = 0; i < range.count; ++i) {
        const OpTimes& a = all.times[range.id(i).value];
        const OpTimes& b = one.times[i];
        ASSERT_EQ(std::tie(a.ready_s, a.issued_s, a.done_s, a.attempts, a.cause),
                  std::tie(b.ready_s, b.issued_s, b.done_s, b.attempts, b.cause))
            << seed << ": " << describe(schedule, range.id(i));
        attempts += a.attempts;
      }
    }
    whole += wrong.empty() && all.ended;
  }
  EXPECT_GT(whole, 300u);
  EXPECT_GT(attempts, 10'000u);
}

}  // namespace
}  // namespace slackline::machine
