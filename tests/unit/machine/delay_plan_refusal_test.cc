// What a delay plan must not say: each refusal is one line that names the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "machine/delay_plan.h"
#include "sched/builder.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::machine {
namespace {

using sched::RankId;
using sched::Rate;
using sched::Time;
using slackline::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = Distribution::Kind;

constexpr Time kUs{1'000'000};

DelayPlan read(const std::string& text) { return delay_plan_from_toml(text, "d.toml"); }

TEST(DelayPlanRefusal, SaysWhatIsWrongAndWhere) {
  const std::string noise = "[[noise]]\ndistribution = ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"seed = -1", "d.toml:1: seed: '-1' is not a whole number from 0 to 18446744073709551615"},
      {"seed = 1.5", "d.toml:1: seed: '1.5' is not a whole number"},
      {"seed = true", "d.toml:1: seed: another type of value stands here; expected a whole number"},
      {"seed = \"18446744073709551616\"", "d.toml:1: seed: '18446744073709551616' is not a whole"},

      {"[[straggler]]\nslowdown = 2", "d.toml:1: straggler: no rank stands here; expected rank"},
      {"[[straggler]]\nrank = -1\nslowdown = 2", "d.toml:2: straggler.rank: -1 stands here"},
      {"[[straggler]]\nrank = 1", "d.toml:1: straggler: it is not said how slow it is; expected"},
      {"[[straggler]]\nrank = 1\nslowdown = 0.99",
       "d.toml:3: straggler.slowdown: '0.99' is no slowdown; expected a number of at least 1"},
      {"[[straggler]]\nrank = 1\nslowdown = -2", "d.toml:3: straggler.slowdown: '-2' is no slow"},
      {"[[straggler]]\nrank = 1\nslowdown = nan", "d.toml:3: straggler.slowdown: 'nan' is no slow"},
      {"[[straggler]]\nrank = 1\nslowdown = inf", "d.toml:3: straggler.slowdown: 'inf' is no slow"},
      {"[[straggler]]\nrank = 1\nslowdown = \"x\"", "d.toml:3: straggler.slowdown: 'x' is no slow"},
      {"[[straggler]]\nrank = 1\nslowdown = [2]",
       "d.toml:3: straggler.slowdown: an array stands here; expected a number of at least 1"},
      {"[[straggler]]\nrank = 1\nby = \"-1us\"", "d.toml:3: straggler.by: '-1us' is not a time"},
      {"[[straggler]]\nrank = 1\nby = 2", "d.toml:3: straggler.by: a whole number stands here"},
      {"[[straggler]]\nrank = 1\nby = \"1us\"\nof = \"lane\"",
       "d.toml:4: unknown key 'of' in [straggler]; expected one of rank, slowdown, by"},

      {"[[noise]]\nby = \"1us\"", "d.toml:1: noise: no distribution stands here; expected"},
      {noise + "\"normal\"",
       "d.toml:2: noise.distribution: 'normal' is no distribution: did you mean 'lognormal'?; "
       "expected constant, uniform"},
      {noise + "3", "d.toml:2: noise.distribution: a whole number stands here; expected one such"},
      {noise + "\"constant\"", "d.toml:1: noise: no by stands here; expected by = a time such as"},
      {noise + "\"constant\"\nby = \"-1us\"", "d.toml:3: noise.by: '-1us' is not a time"},
      {noise + "\"constant\"\nby = 0.5", "d.toml:3: noise.by: a decimal number stands here"},
      {noise + "\"constant\"\nby = \"9223372036854775807ps\"", "d.toml:3: noise.by: 922337203685"},
      {noise + "\"uniform\"\nlow = \"1us\"", "d.toml:1: noise: no high stands here; expected high"},
      {noise + "\"uniform\"\nhigh = \"1us\"", "d.toml:1: noise: no low stands here; expected low"},
      {noise + "\"uniform\"\nlow = \"3us\"\nhigh = \"2us\"",
       "d.toml:1: noise: low is 3us and high is 2us; expected low at most high"},
      {noise + "\"uniform\"\nlow = \"1us\"\nhigh = \"2us\"\nmean = \"1us\"",
       "d.toml:5: unknown key 'mean' in [noise]; expected one of ranks, distribution, low, high"},
      {noise + "\"exponential\"", "d.toml:1: noise: no mean stands here; expected mean = a time"},
      {noise + "\"lognormal\"\nsigma = 1", "d.toml:1: noise: no median stands here; expected"},
      {noise + "\"lognormal\"\nmedian = \"1us\"",
       "d.toml:1: noise: no sigma stands here; expected"},
      {noise + "\"lognormal\"\nmedian = \"1us\"\nsigma = nan",
       "d.toml:4: noise.sigma: 'nan' is no sigma; expected a number of at least 0"},
      {noise + "\"lognormal\"\nmedian = \"1us\"\nsigma = -inf", "d.toml:4: noise.sigma: '-inf' is"},
      {noise + "\"lognormal\"\nmedian = \"1us\"\nsigma = -0.5", "d.toml:4: noise.sigma: '-0.5' is"},
      {noise + "\"lognormal\"\nmedian = \"1us\"\nsigma = true",
       "d.toml:4: noise.sigma: another type of value stands here; expected a number such as 0.5"},
      {noise + "\"trace\"", "d.toml:1: noise: neither values nor file stand here; expected either"},
      {noise + "\"trace\"\nvalues = [\"1us\"]\nfile = \"a\"",
       "d.toml:1: noise: both values and file stand here; expected either values or file"},
      {noise + "\"trace\"\nvalues = []",
       "d.toml:3: noise.values: no list of times stands here; expected one such as [\"1us\"]"},
      {noise + "\"trace\"\nvalues = \"1us\"", "d.toml:3: noise.values: no list of times stands"},
      {noise + "\"trace\"\nvalues = [\"1us\", 2]", "d.toml:3: noise.values: no list of times"},
      {noise + "\"trace\"\nvalues = [\"1us\",\n\"2\"]",
       "d.toml:4: noise.values: '2' is not a time: expected"},
      {noise + "\"trace\"\nfile = \"noise.txt\"",
       "d.toml:3: noise.file: only a plan that is a file of its own can name another; expected"},
      {noise + "\"constant\"\nby = \"1us\"\nvalues = [\"1us\"]",
       "d.toml:4: unknown key 'values' in [noise]; expected one of"},
      {noise + "\"constant\"\nby = \"1us\"\nchance = 1.01",
       "d.toml:4: noise.chance: '1.01' is no chance; expected a number from 0 to 1"},
      {noise + "\"constant\"\nby = \"1us\"\nchance = -0.1", "d.toml:4: noise.chance: '-0.1' is no"},
      {noise + "\"constant\"\nby = \"1us\"\nchance = nan", "d.toml:4: noise.chance: 'nan' is no"},
      {noise + "\"constant\"\nby = \"1us\"\nchance = \"101%\"",
       "d.toml:4: noise.chance: '101%' is no chance; expected"},
      {noise + "\"constant\"\nby = \"1us\"\nchance = 1e-7",
       "d.toml:4: noise.chance: '1e-07' is too small a chance; expected 0, or one in a million"},
      {noise + "\"constant\"\nby = \"1us\"\nof = \"rank\"",
       "d.toml:4: noise.of: 'rank' can not be delayed; expected op or lane"},
      {noise + "\"constant\"\nby = \"1us\"\nranks = 3",
       "d.toml:4: noise.ranks: no list of ranks stands here; expected one such as [0, 2]"},
      {noise + "\"constant\"\nby = \"1us\"\nranks = []", "d.toml:4: noise.ranks: no list of ranks"},
      {noise + "\"constant\"\nby = \"1us\"\nranks = [0, -1]", "d.toml:4: noise.ranks: no list of"},
      {noise + "\"constant\"\nby = \"1us\"\nranks = [4294967295]",
       "d.toml:4: noise.ranks: no list"},
      {noise + "\"constant\"\nby = \"1us\"\nranks = [\"0\"]", "d.toml:4: noise.ranks: no list of"},

      {"[[link_rate]]\nrate = \"1Gbps\"",
       "d.toml:1: link_rate: no link stands here; expected link"},
      {"[[link_rate]]\nlink = \"a\"",
       "d.toml:1: link_rate: no rate stands here; expected rate = a"},
      {"[[link_rate]]\nlink = \"\"\nrate = \"1Gbps\"",
       "d.toml:2: link_rate.link: an empty text stands here; expected the name of a link"},
      {"[[link_rate]]\nlink = 1\nrate = \"1Gbps\"",
       "d.toml:2: link_rate.link: a whole number stand"},
      {"[[link_rate]]\nlink = \"a\"\nrate = \"0Gbps\"", "d.toml:3: link_rate.rate: '0Gbps' is not"},
      {"[[link_rate]]\nlink = \"a\"\nrate = \"1Gbps\"\nat = \"-1us\"",
       "d.toml:4: link_rate.at: '-1us' is not a time: expected"},
      {"[[link_rate]]\nlink = \"a\"\nrate = \"1Gbps\"\nat = \"9223372036854775807ps\"",
       "d.toml:4: link_rate.at: 9223372036854775807ps is too long; expected less"},
      {"[[link_rate]]\nlink = \"a\"\nrate = \"1Gbps\"\nrank = 1",
       "d.toml:4: unknown key 'rank' in [link_rate]: did you mean 'link'?; expected one of link, "
       "rate, at"},

      {"[[failure]]\nat = \"1us\"",
       "d.toml:1: failure: neither link nor rank stands here; expected either link or rank"},
      {"[[failure]]\nlink = \"a\"\nrank = 1",
       "d.toml:1: failure: both link and rank stand here; expected either link or rank"},
      {"[[failure]]\nlink = \"\"", "d.toml:2: failure.link: an empty text stands here; expected"},
      {"[[failure]]\nrank = 4294967295", "d.toml:2: failure.rank: 4294967295 stands here"},
      {"[[failure]]\nrank = 1\nat = 0", "d.toml:3: failure.at: a whole number stands here"},
      {"[[failure]]\nrank = 1\nby = \"1us\"", "d.toml:3: unknown key 'by' in [failure]; expected"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of([&given = text] { read(given); });
    EXPECT_THAT(error, StartsWith(expected)) << text;
    if (text.find("seed") == std::string::npos) {
      EXPECT_THAT(error, HasSubstr("expected"));
    }
  }
}

class NoiseFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    return folder_.write(name, text);
  }
  const slackline::testing::TempFolder folder_;
};

TEST_F(NoiseFiles, StandBesideThePlan) {
  write("noise.txt", "# measured\n1us\n\n  2.5ns # a short one\r\n0\n7ps");
  const std::string plan_path =
      write("plan.toml", "[[noise]]\ndistribution = \"trace\"\nfile = \"noise.txt\"\n");
  const DelayPlan plan = load_delay_plan(plan_path);
  EXPECT_THAT(plan.noise.at(0).of.values, ElementsAre(kUs, Time{2500}, Time{0}, Time{7}));
  EXPECT_THAT(plan.text(), HasSubstr("values = [\"1us\", \"2500ps\", \"0\", \"7ps\"]\n"));
  EXPECT_EQ(read(plan.text()), plan);
}

TEST_F(NoiseFiles, AreRefusedByLine) {
  const std::string plan_path =
      write("plan.toml", "[[noise]]\ndistribution = \"trace\"\nfile = \"noise.txt\"\n");
  const std::string noise_path = folder_.path("noise.txt");
  const auto error = [&] { return error_of([&] { load_delay_plan(plan_path); }); };
  EXPECT_EQ(error(), plan_path + ":3: noise.file: noise file '" + noise_path +
                         "': cannot be read; expected a file of times, one on each line");
  write("noise.txt", "");
  EXPECT_EQ(error(), plan_path + ":1: noise: a trace of 0 times; expected 1 to 524288");
  write("noise.txt", "1us\n# fine\n2\n");
  EXPECT_THAT(error(), StartsWith(noise_path + ":3: '2' is not a time: expected"));
  write("noise.txt", "-2us\n");
  EXPECT_THAT(error(), StartsWith(noise_path + ":1: '-2us' is not a time: expected"));
  write("noise.txt", "1us\n1us 2us\n");
  EXPECT_THAT(error(), StartsWith(noise_path + ":2: '1us 2us' is not a time: expected"));
  write("noise.txt", "1us\n1\x01us\n");
  EXPECT_THAT(error(), StartsWith(noise_path + ":2: '1\\x01us' has a control character; expected"));
  write("noise.txt", std::string(1000, '1') + "us");
  EXPECT_THAT(error(), StartsWith(noise_path + ":1: '111"));
  EXPECT_LT(error().size(), 400u);
  write("noise.txt", "9223372036854775807ps");
  EXPECT_THAT(error(), StartsWith(noise_path + ":1: 9223372036854775807ps is too long; expected"));
}

TEST(ValidateDelayPlan, NamesTheEntryThatCannotBe) {
  const sched::Schedule schedule = sched::ScheduleBuilder(4).build();
  const auto error = [&](const DelayPlan& plan) {
    return error_of([&] { validate(plan, schedule); });
  };
  const auto straggler = [&](Straggler entry) {
    DelayPlan plan;
    plan.stragglers = {entry};
    return error(plan);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(straggler({RankId(3), 1, Time{0}}), "");
  EXPECT_EQ(straggler({RankId(4), 1, Time{0}}),
            "delay plan: straggler 4: rank 4 does not exist; expected 0 to 3");
  EXPECT_EQ(straggler({RankId(3), 0.5, Time{0}}),
            "delay plan: straggler 3: a slowdown of 0.5; expected a finite number of at least 1");
  EXPECT_THAT(straggler({RankId(3), std::nan(""), Time{0}}), HasSubstr("a slowdown of nan"));
  EXPECT_THAT(straggler({RankId(3), kInfinity, Time{0}}), HasSubstr("a slowdown of inf"));
  EXPECT_THAT(straggler({RankId(3), 1, Time{-1}}), HasSubstr("straggler 3: a delay of -1 ps"));
  DelayPlan twice;
  twice.stragglers = {{RankId(1), 2, Time{0}}, {RankId(2), 2, Time{0}}, {RankId(1), 3, Time{0}}};
  EXPECT_EQ(error(twice), "delay plan: straggler 1 stands twice; expected one slowdown for it");

  const auto noise = [&](const std::function<void(Noise&)>& change) {
    DelayPlan plan;
    plan.noise.resize(2);
    change(plan.noise[1]);
    return error(plan);
  };
  EXPECT_EQ(noise([](Noise&) {}), "");
  EXPECT_EQ(noise([](Noise& n) {
              n.ranks = {RankId(1), RankId(9)};
            }),
            "delay plan: noise 1: rank 9 does not exist; expected 0 to 3");
  EXPECT_EQ(noise([](Noise& n) {
              n.ranks = {RankId(1), RankId(2), RankId(1)};
            }),
            "delay plan: noise 1: rank 1 stands twice; expected it once");
  EXPECT_EQ(noise([](Noise& n) { n.chance.value = 1'000'001; }),
            "delay plan: noise 1: a chance of 1000001 in a million; expected at most 1");
  EXPECT_EQ(noise([](Noise& n) { n.of.low = Time{-1}; }),
            "delay plan: noise 1: a time of -1 ps; expected at least 0, and an end");
  EXPECT_EQ(noise([](Noise& n) { n.of.kind = Kind::kTrace; }),
            "delay plan: noise 1: a trace of 0 times; expected 1 to 524288");

  const auto rates = [&](std::vector<LinkRate> entries) {
    DelayPlan plan;
    plan.link_rates = std::move(entries);
    return error(plan);
  };
  EXPECT_EQ(rates({{"a", Rate{1}, Time{0}}, {"a", Rate{1}, Time{1}}, {"b", Rate{1}, Time{0}}}), "");
  EXPECT_EQ(rates({{"", Rate{1}, Time{0}}}),
            "delay plan: a link rate names no link; expected the name of one");
  EXPECT_EQ(rates({{"a", Rate{0}, Time{0}}}),
            "delay plan: rate of link 'a': a rate of 0; expected one above 0");
  EXPECT_EQ(rates({{"a", Rate{1}, Time{-1}}}),
            "delay plan: rate of link 'a': at -1 ps; expected at least 0, and a time that comes");
  EXPECT_THAT(rates({{"a", Rate{1}, sched::kForever}}), HasSubstr("and a time that comes"));
  EXPECT_EQ(rates({{"a", Rate{1}, kUs}, {"a", Rate{2}, kUs}}),
            "delay plan: link 'a' has two rates from 1us on; expected one");

  const auto failure = [&](Failure entry) {
    DelayPlan plan;
    plan.failures = {entry};
    return error(plan);
  };
  EXPECT_EQ(failure({"a", RankId::none(), Time{0}}), "");
  EXPECT_EQ(failure({"", RankId(3), kUs}), "");
  EXPECT_EQ(failure({"", RankId::none(), kUs}),
            "delay plan: a failure of nothing; expected a link or a rank");
  EXPECT_EQ(failure({"a", RankId(1), kUs}),
            "delay plan: a failure of both a link and a rank; expected a link or a rank");
  EXPECT_EQ(failure({"", RankId(4), kUs}),
            "delay plan: failure of rank 4: rank 4 does not exist; expected 0 to 3");
  EXPECT_EQ(
      failure({"a", RankId::none(), Time{-1}}),
      "delay plan: failure of link 'a': at -1 ps; expected at least 0, and a time that comes");
}

}  // namespace
}  // namespace slackline::machine
