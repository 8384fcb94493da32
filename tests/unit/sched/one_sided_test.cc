// The component benchmarks: one operation after the other, each at a random rank.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "sched/compile.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

const std::string kAll[] = {
    "put", "get", "fetch-add", "compare-swap", "active-message", "persistent-compare-swap"};

Schedule made(const std::string& more) { return compile(parse_spec("one-sided:" + more)); }

TEST(OneSided, IsProved) {
  for (const std::string& op : kAll) {
    if (op == "persistent-compare-swap") continue;  // dynamic
    for (std::uint32_t ranks = 1; ranks <= 6; ++ranks) {
      const std::string spec =
          "ranks=" + std::to_string(ranks) + ",operations=5,variables=3,seed=4,op=" + op;
      const Diagnostics found = verify(made(spec));
      for (const Diagnostic& d : found) {
        // Atomics meet at words without an order, as they may.
        ADD_FAILURE() << spec << ": " << d.message;
      }
    }
  }
}

TEST(OneSided, DoesOneOperationAfterTheOther) {
  for (const std::string& op : kAll) {
    const Schedule schedule = made("ranks=4,operations=6,op=" + op);
    EXPECT_EQ(schedule.op_count(), (op == "active-message" ? 5u : 1u) * 24) << op;
    EXPECT_EQ(schedule.regions().size(), op == "persistent-compare-swap" ? 24u : 0u);
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const Op& o = schedule.ops()[i];
      if (!is_initiator(o.kind) || o.step == 0 || o.step >= 6) continue;
      ASSERT_EQ(schedule.edges_into(OpId(i)).size(), 1u) << op;
      const Edge edge = schedule.edges_into(OpId(i)).front();
      EXPECT_EQ(edge.on, On::kDone);
      EXPECT_EQ(schedule.op(edge.pred).step + 1, o.step);
    }
  }
}

TEST(OneSided, DrawsTargetsAndVariablesEvenly) {
  const Schedule schedule = made("ranks=10,operations=1000,op=fetch-add,variables=7");
  std::map<std::uint32_t, int> targets;
  std::map<std::uint64_t, int> places;
  for (const Op& op : schedule.ops()) {
    ++targets[schedule.channel(op.channel).dst.value];
    ++places[schedule.slices(op.reads).front().offset];
  }
  ASSERT_EQ(targets.size(), 10u);
  ASSERT_EQ(places.size(), 7u);
  // Six standard deviations.
  for (const auto& [rank, count] : targets) EXPECT_NEAR(count, 1000, 180) << rank;
  for (const auto& [place, count] : places) EXPECT_NEAR(count, 10'000 / 7.0, 210) << place;
}

TEST(OneSided, IsDeterminedByItsSpec) {
  std::set<std::string> digests;
  for (const std::string& op : kAll) {
    for (const char* more : {"", ",seed=1", ",operations=4", ",handler=1us"}) {
      const Spec spec = parse_spec(
          "one-sided:ranks=5,op=" + op +
          (std::string(more).find("operations") == std::string::npos ? ",operations=3" : "") +
          more);
      const std::string canonical = format_spec(spec);
      EXPECT_EQ(format_spec(parse_spec(canonical)), canonical);
      const Schedule schedule = compile(spec);
      EXPECT_EQ(compile(parse_spec(canonical)).digest(), schedule.digest());
      digests.insert(to_string(schedule.digest()));
    }
  }
  // The handler is an active message's alone.
  EXPECT_EQ(digests.size(), 6u * 3 + 1);
}

TEST(OneSided, SaysWhatIsWrong) {
  const auto error = [](const std::string& more) -> std::string {
    return testing::error_of([&] { made(more); });
  };
  EXPECT_EQ(error("ranks=2,op=insert"),
            "op: 'insert'; expected put or get or fetch-add or compare-swap or "
            "persistent-compare-swap or active-message");
  EXPECT_NE(error("ranks=2,operations=0").find("operations"), std::string::npos);
  EXPECT_NE(error("ranks=2,variables=0").find("variables"), std::string::npos);
  EXPECT_EQ(error("ranks=200,variables=1000000"),
            "variables: 1000000 at each of 200 ranks; expected at most 134217728 together");
  EXPECT_NE(error("ranks=2,bytes=8").find("not an option of one-sided"), std::string::npos);
  EXPECT_NE(error("ranks=1000000,operations=1000000").find("operations"), std::string::npos);
}

}  // namespace
}  // namespace slackline::sched
