// Which operations without a hold went before those with one: exactly those since the last holder.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/slack/constraint_graph.h"
#include "sched/text.h"

namespace slackline::analysis {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Found {
  Pairs went_before;  // on lanes
  Pairs turns;
};

// On one lane, one after another, a calc of each of these lengths.
Found of(const std::vector<std::string>& lengths) {
  std::string text = "slackline schedule 1\nranks 1\nrank 0\n";
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    text += "  " + std::to_string(i) + " calc for " + lengths[i];
    if (i != 0) text += " after done:" + std::to_string(i - 1);
    text += "\n";
  }
  const sched::Schedule schedule = sched::read_text(text, "s");
  const auto platform = machine::parse_platform_spec("star:rate=100Gbps,latency=1us");
  const machine::Setting setting(schedule, platform);
  const ConstraintGraph graph(setting, machine::Delays(setting), machine::Paths(setting),
                              run_analytic(setting));
  Found found;
  for (const Constraint& c : graph.went_before()) {
    EXPECT_EQ(c.weight_s, 0);
    found.went_before.emplace_back(c.tail.op().value, c.head.op().value);
  }
  for (std::size_t i = 0; i < graph.constraints().size(); ++i) {
    if (graph.weights()[i] != Weight::kTurn) continue;
    const Constraint& c = graph.constraints()[i];
    found.turns.emplace_back(c.tail.op().value, c.head.op().value);
  }
  return found;
}

TEST(WentBefore, IsWhoTookNoTimeSinceTheLastHolder) {
  const Found found = of({"0", "1us", "0", "0", "2us", "0", "3us", "4us", "0"});
  EXPECT_EQ(found.went_before, (Pairs{{0, 1}, {2, 4}, {3, 4}, {5, 6}}));
  // Whoever comes after a holder waits for it.
  EXPECT_EQ(found.turns, (Pairs{{1, 2}, {1, 3}, {1, 4}, {4, 5}, {4, 6}, {6, 7}, {7, 8}}));
}

TEST(WentBefore, IsNothingWhereNobodyOrEverybodyHolds) {
  EXPECT_EQ(of({"0", "0", "0"}).went_before, Pairs{});
  EXPECT_EQ(of({"0", "0", "0"}).turns, Pairs{});
  EXPECT_EQ(of({"1us", "1us", "1us"}).went_before, Pairs{});
  EXPECT_EQ(of({"1us", "1us", "1us"}).turns, (Pairs{{0, 1}, {1, 2}}));
}

}  // namespace
}  // namespace slackline::analysis
