#include "machine/delay_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "base/error.h"
#include "machine/delay_values.h"
#include "sched/builder.h"

namespace slackline::machine {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Rate;
using sched::Time;
using ::testing::ElementsAre;
using Kind = Distribution::Kind;

constexpr Time kUs{1'000'000};

DelayPlan read(const std::string& text) { return delay_plan_from_toml(text, "d.toml"); }

constexpr const char* kEverything = R"(schema = 1
seed = 42

[[straggler]]
rank = 1
slowdown = 1
by = "2us"

[[straggler]]
rank = 3
slowdown = 1.5
by = "0"

[[noise]]
ranks = [0, 2]
distribution = "uniform"
low = "0"
high = "2us"
chance = 0.1
of = "lane"

[[noise]]
distribution = "lognormal"
median = "1us"
sigma = 0.5
chance = 1
of = "op"

[[noise]]
distribution = "constant"
by = "5ns"
chance = 0
of = "lane"

[[noise]]
distribution = "exponential"
mean = "7us"
chance = 1e-06
of = "lane"

[[noise]]
distribution = "trace"
values = ["1us", "0", "2500ns"]
chance = 0.25
of = "lane"

[[link_rate]]
link = "rack-0.up"
rate = "20Gbps"
at = "0"

[[link_rate]]
link = "rack-0.up"
rate = "10Gbps"
at = "1ms"

[[failure]]
rank = 3
at = "2ms"

[[failure]]
link = "host-\"1\\2\".out"
at = "0"
)";

TEST(DelayPlanEntries, AreReadAndWritten) {
  const DelayPlan plan = read(kEverything);
  EXPECT_EQ(plan.text(), kEverything);
  EXPECT_EQ(read(plan.text()), plan);
  EXPECT_EQ(plan.seed, 42u);
  EXPECT_THAT(plan.stragglers,
              ElementsAre(Straggler{RankId(1), 1, 2 * kUs}, Straggler{RankId(3), 1.5, Time{0}}));
  ASSERT_EQ(plan.noise.size(), 5u);
  EXPECT_THAT(plan.noise[0].ranks, ElementsAre(RankId(0), RankId(2)));
  EXPECT_EQ(plan.noise[0].of.kind, Kind::kUniform);
  EXPECT_EQ(plan.noise[0].of.low, Time{0});
  EXPECT_EQ(plan.noise[0].of.high, 2 * kUs);
  EXPECT_EQ(plan.noise[0].chance.value, 100'000u);
  EXPECT_TRUE(plan.noise[0].whole_lane);
  EXPECT_EQ(plan.noise[1].of.kind, Kind::kLognormal);
  EXPECT_EQ(plan.noise[1].of.median, kUs);
  EXPECT_EQ(plan.noise[1].of.sigma, 0.5);
  EXPECT_FALSE(plan.noise[1].whole_lane);
  EXPECT_EQ(plan.noise[2].of.low, Time{5000});
  EXPECT_EQ(plan.noise[2].chance.value, 0u);
  EXPECT_EQ(plan.noise[3].of.mean, 7 * kUs);
  EXPECT_EQ(plan.noise[3].chance.value, 1u);
  EXPECT_THAT(plan.noise[4].of.values, ElementsAre(kUs, Time{0}, Time{2'500'000}));
  EXPECT_EQ(plan.link_rates[1], (LinkRate{"rack-0.up", Rate{10'000'000'000}, 1000 * kUs}));
  EXPECT_EQ(plan.failures[0], (Failure{"", RankId(3), 2000 * kUs}));
  EXPECT_EQ(plan.failures[1], (Failure{"host-\"1\\2\".out", RankId::none(), Time{0}}));
}

TEST(DelayPlanEntries, HaveDefaults) {
  const DelayPlan plan = read(
      "[[straggler]]\nrank = 1\nby = \"1us\"\n[[straggler]]\nrank = 2\nslowdown = 2\n"
      "[[noise]]\ndistribution = \"constant\"\nby = \"1us\"\n"
      "[[link_rate]]\nlink = \"a\"\nrate = \"1Gbps\"\n[[failure]]\nrank = 0\n");
  EXPECT_EQ(plan.seed, 0u);
  EXPECT_THAT(plan.stragglers,
              ElementsAre(Straggler{RankId(1), 1, kUs}, Straggler{RankId(2), 2, Time{0}}));
  EXPECT_TRUE(plan.noise[0].ranks.empty());
  EXPECT_EQ(plan.noise[0].chance.value, 1'000'000u);
  EXPECT_TRUE(plan.noise[0].whole_lane);
  EXPECT_EQ(plan.link_rates[0].at, Time{0});
  EXPECT_EQ(plan.failures[0].at, Time{0});
}

// Plans without noise do not say their seed, so that their texts stay what they were.
TEST(DelayPlanEntries, TheSeedIsTheNoises) {
  EXPECT_EQ(read("seed = 7\n[[failure]]\nrank = 0\n").seed, 7u);
  EXPECT_EQ(read("seed = 7\n[[failure]]\nrank = 0\n").text(),
            "schema = 1\n\n[[failure]]\nrank = 0\nat = \"0\"\n");
  EXPECT_EQ(read("seed = 7\n").text(), "");
  DelayPlan plan;
  plan.noise.emplace_back();
  // TOML's whole numbers end at 2^63 − 1; seeds do not.
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 63,
                                   (std::uint64_t{1} << 63) - 1, ~std::uint64_t{0}}) {
    plan.seed = seed;
    EXPECT_EQ(read(plan.text()), plan);
  }
}

Distribution random_distribution(std::mt19937_64& random) {
  const auto time = [&] {
    return Time{static_cast<std::int64_t>(random() >> (1 + random() % 60))};
  };
  Distribution out;
  out.kind = static_cast<Kind>(random() % 5);
  switch (out.kind) {
    case Kind::kConstant:
      out.low = Time{time().count() / 2};
      break;
    case Kind::kUniform:
      out.low = Time{time().count() / 4};
      out.high = out.low + Time{time().count() / 4};
      break;
    case Kind::kExponential:
      out.mean = Time{time().count() / 2};
      break;
    case Kind::kLognormal:
      out.median = Time{time().count() / 2};
      out.sigma = std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 90));
      break;
    case Kind::kTrace:
      for (std::uint64_t i = 0; i <= random() % 9; ++i) {
        out.values.push_back(Time{time().count() / 2});
      }
      break;
  }
  return out;
}

// A plan in the order of its text, for a schedule of at least eight ranks.
DelayPlan random_plan(std::mt19937_64& random) {
  const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
  DelayPlan plan;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    if (one_in(2)) plan.ops.push_back({OpId(rank), kUs, one_in(2), RankId::none()});
    if (one_in(2)) plan.steps.push_back({RankId(rank), 3, kUs, one_in(2)});
    if (one_in(3))
      plan.pairs.push_back({RankId(rank), RankId((rank + 1) % 8), Rate{1 + random() % 1000}});
    if (one_in(3)) {
      const double slowdown = 1 + std::ldexp(static_cast<double>(random() >> 11), -53);
      plan.stragglers.push_back({RankId(rank), slowdown, Time{static_cast<std::int64_t>(rank)}});
    }
    const std::string link = std::string("link \\\"é") + static_cast<char>('a' + rank);
    if (one_in(3)) plan.link_rates.push_back({link, Rate{1 + random() % 1000}, kUs * rank});
    if (one_in(3)) plan.failures.push_back({"", RankId(rank), kUs * (random() % 9)});
  }
  if (one_in(2)) plan.failures.push_back({"zzz", RankId::none(), kUs});
  for (std::uint64_t i = random() % 4; i > 0; --i) {
    Noise noise;
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      if (one_in(4)) noise.ranks.emplace_back(rank);
    }
    noise.of = random_distribution(random);
    noise.chance.value = static_cast<std::uint32_t>(one_in(2) ? random() % 1'000'001 : 1'000'000);
    noise.whole_lane = one_in(2);
    plan.noise.push_back(std::move(noise));
  }
  if (!plan.noise.empty()) plan.seed = random() >> random() % 64;
  return plan;
}

TEST(DelayPlanEntries, AnyPlanIsReadBackEqual) {
  sched::ScheduleBuilder builder(8);
  sched::Op op;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    op.rank = RankId(rank);
    op.step = 3;
    builder.add(op);
  }
  const sched::Schedule schedule = builder.build();
  std::mt19937_64 random(17);
  for (int i = 0; i < 1000; ++i) {
    const DelayPlan plan = random_plan(random);
    EXPECT_NO_THROW(validate(plan, schedule)) << plan.text();
    const std::string text = plan.text();
    ASSERT_EQ(read(text), plan) << text;
    ASSERT_EQ(read(text).text(), text);
    // Only the noise is in order.
    DelayPlan shuffled = plan;
    std::shuffle(shuffled.stragglers.begin(), shuffled.stragglers.end(), random);
    std::shuffle(shuffled.link_rates.begin(), shuffled.link_rates.end(), random);
    std::shuffle(shuffled.failures.begin(), shuffled.failures.end(), random);
    for (Noise& noise : shuffled.noise) {
      std::shuffle(noise.ranks.begin(), noise.ranks.end(), random);
    }
    ASSERT_EQ(shuffled.text(), text);
  }
}

TEST(DelayPlanEntries, ChancesAreNumbersOrPercentages) {
  const auto chance = [](const char* text) { return parse_chance(text, "here").value; };
  EXPECT_EQ(chance("0"), 0u);
  EXPECT_EQ(chance("1"), 1'000'000u);
  EXPECT_EQ(chance("0.000001"), 1u);
  EXPECT_EQ(chance("0.3333333333"), 333'333u);
  EXPECT_EQ(chance("0.01"), 10'000u);
  EXPECT_EQ(chance("1%"), 10'000u);
  EXPECT_EQ(chance("12.3456%"), 123'456u);
  EXPECT_EQ(chance("0%"), 0u);
  EXPECT_EQ(chance("100%"), 1'000'000u);
  for (const char* text : {"", "%", "x", "1x", "0.5 %", " 1", "+1", "-1%", "2", "inf", "1e-7"}) {
    EXPECT_THROW(parse_chance(text, "here"), InputError) << text;
  }
  // What is written as a fraction is read back exactly.
  for (std::uint32_t parts = 0; parts <= 1'000'000; parts += parts < 2000 ? 1 : 997) {
    ASSERT_EQ(parse_chance(std::to_string(parts / 1e4) + "%", "here").value, parts);
  }
}

}  // namespace
}  // namespace slackline::machine
