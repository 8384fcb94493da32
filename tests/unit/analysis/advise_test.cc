// What of an advice is confirmed, and how the candidates are ranked, with an engine made up for it.
#include "analysis/advice/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/analytic.h"
#include "sched/compile.h"

namespace slackline::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Candidate candidate(double predicted_s, double floor_s, std::uint64_t ops = 1) {
  Candidate c;
  c.predicted_s = predicted_s;
  c.floor_s = floor_s;
  c.ops = ops;
  return c;
}

// What confirm() asked of the engine, by the candidates' places, a list a batch.
struct Asked {
  std::vector<std::vector<std::size_t>> batches;
  Confirmed result;
};

Asked confirm_by(std::vector<Candidate>& all, const ConfirmRequest& request,
                 const std::vector<double>& times_s) {
  Asked asked;
  const Confirm engine = [&](std::span<const Candidate* const> batch) {
    std::vector<double> answers;
    asked.batches.emplace_back();
    for (const Candidate* c : batch) {
      asked.batches.back().push_back(static_cast<std::size_t>(c - all.data()));
      answers.push_back(times_s[asked.batches.back().back()]);
    }
    return answers;
  };
  asked.result = confirm(all, request, engine, {});
  return asked;
}

TEST(Confirm, TakesTheBestEstimatesFirst) {
  // The estimate is the larger of prediction and floor.
  std::vector<Candidate> all = {candidate(9, 9), candidate(3, 3), candidate(1, 5), candidate(4, 2),
                                candidate(8, 8)};
  const Asked asked = confirm_by(all, {2, 100}, {1, 2, 3, 4, 5});
  ASSERT_THAT(asked.batches, ElementsAre(ElementsAre(1, 3)));
  EXPECT_EQ(asked.result.count, 2u);
  EXPECT_EQ(asked.result.open, 0u);
  EXPECT_EQ(all[1].confirmed_s, 2);
  EXPECT_EQ(all[3].confirmed_s, 4);
  for (const std::size_t i : {0, 2, 4}) EXPECT_EQ(all[i].confirmed_s, std::nullopt);
}

TEST(Confirm, GoesOnWithWhatMayBeFasterFourAtATime) {
  std::vector<Candidate> all;
  for (int i = 0; i < 12; ++i) all.push_back(candidate(1 + i, 1 + i));
  // The best time is 20 and then 8.5: the floors 1 … 8 are below.
  std::vector<double> times_s(12, 20);
  times_s[4] = 8.5;
  const Asked asked = confirm_by(all, {1, 1000}, times_s);
  EXPECT_THAT(asked.batches,
              ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3, 4), ElementsAre(5, 6, 7)));
  EXPECT_EQ(asked.result.count, 8u);
  EXPECT_EQ(asked.result.open, 0u);
}

TEST(Confirm, EndsAtItsOperationsAndSaysWhatIsOpen) {
  for (const std::uint64_t most_ops : {1, 10, 11, 50, 51, 90, 91, 1000}) {
    std::vector<Candidate> all;
    for (int i = 0; i < 12; ++i) all.push_back(candidate(1 + i, 1 + i, 10));
    const Asked asked = confirm_by(all, {1, most_ops}, std::vector<double>(12, 20));
    const std::uint32_t expected = most_ops <= 10   ? 1
                                   : most_ops <= 50 ? 5
                                   : most_ops <= 90 ? 9
                                                    : 12;
    EXPECT_EQ(asked.result.count, expected) << most_ops;
    EXPECT_EQ(asked.result.open, 12 - expected) << most_ops;
  }
}

TEST(Confirm, AnEqualFloorRulesOut) {
  // Times that differ by less than 1e-9 of them are one; where links are shared a simulator may be
  // early by 1e-6.
  const auto count = [](double floor_s, bool contended) {
    std::vector<Candidate> all = {candidate(1, 1), candidate(floor_s, floor_s)};
    all[1].contended = contended;
    all[1].predicted_s = 5;
    return confirm_by(all, {1, 100}, {2, 3}).result.count;
  };
  EXPECT_EQ(count(2, false), 1u);
  EXPECT_EQ(count(2 * (1 - 0.5e-9), false), 1u);
  EXPECT_EQ(count(2 * (1 - 2e-9), false), 2u);
  EXPECT_EQ(count(2, true), 2u);
  EXPECT_EQ(count(2 * (1 + 0.9e-6), true), 2u);
  EXPECT_EQ(count(2 * (1 + 1.1e-6), true), 1u);
}

TEST(Confirm, TakesOneOfEachPlacementThatIsNearlyAsGood) {
  using Kind = machine::Placement::Kind;
  const auto placed = [](double predicted_s, Kind kind) {
    Candidate c = candidate(predicted_s, predicted_s);
    c.platform.placement.kind = kind;
    return c;
  };
  const auto asked = [](std::vector<Candidate> all, std::uint32_t at_least) {
    // Nothing is open once these are confirmed.
    return confirm_by(all, {at_least, 100}, std::vector<double>(all.size(), 0.5)).batches.front();
  };
  const Kind packed = machine::parse_placement("packed", "").kind;
  const Kind robin = machine::parse_placement("round-robin", "").kind;
  const Kind random = machine::parse_placement("random:1", "").kind;
  EXPECT_THAT(asked({placed(1, packed), placed(1.005, packed), placed(1.01, robin),
                     placed(1.015, robin), placed(1.019, random), placed(1.0195, random)},
                    1),
              ElementsAre(0, 2, 4));
  EXPECT_THAT(asked({placed(1, packed), placed(1.021, robin), placed(1.03, random)}, 1),
              ElementsAre(0));
  EXPECT_THAT(asked({placed(1, packed), placed(1.02, robin)}, 1), ElementsAre(0, 1));
  EXPECT_THAT(asked({placed(1, packed), placed(7, robin), placed(8, robin)}, 2), ElementsAre(0, 1));
}

TEST(Confirm, ReportsWhatIsDoneOfWhatIsKnown) {
  std::vector<Candidate> all;
  for (int i = 0; i < 7; ++i) all.push_back(candidate(1 + i, 1 + i));
  std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>> told;
  confirm(
      all, {1, 1000},
      [](std::span<const Candidate* const> batch) { return std::vector<double>(batch.size(), 20); },
      [&](std::string_view what, std::uint64_t done, std::uint64_t of) {
        told.emplace_back(what, done, of);
      });
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0], std::tuple("confirming", 0u, 1u));
  EXPECT_EQ(std::get<1>(told[1]), 1u);
  EXPECT_EQ(std::get<1>(told[2]), 5u);
}

TEST(Ranking, PutsTheConfirmedFirstByTimeThenByOperations) {
  std::vector<Candidate> all = {candidate(1, 1, 9), candidate(5, 5, 3), candidate(6, 6, 7),
                                candidate(7, 7, 2), candidate(2, 8, 2), candidate(8, 8, 1),
                                candidate(1, 1, 4), candidate(1, 1, 4)};
  all[1].confirmed_s = 4;
  all[2].confirmed_s = 3;
  all[3].confirmed_s = 4 * (1 + 0.9e-9);
  // 3 and 1 are of one time; then 6, 7 and 0, then 5 and 4.
  EXPECT_THAT(ranking(all), ElementsAre(2, 3, 1, 6, 7, 0, 5, 4));
  all[3].confirmed_s = 4 * (1 + 1.1e-9);
  EXPECT_THAT(ranking(all), ElementsAre(2, 1, 3, 6, 7, 0, 5, 4));
  // An estimate is never of one time with what was confirmed.
  all[3].confirmed_s = 1;
  all[3].ops = 1000;
  EXPECT_THAT(ranking(all), ElementsAre(3, 2, 1, 6, 7, 0, 5, 4));
  EXPECT_THAT(ranking({}), IsEmpty());
}

std::vector<Candidate> real_candidates(const char* platform) {
  std::vector<Candidate> all;
  for (const char* spec :
       {"chain:ranks=6,bytes=40000,block=4096", "binomial-pipeline:ranks=6,bytes=400000,block=4096",
        "sequential:ranks=6,bytes=40000,block=8192"}) {
    Candidate c;
    c.spec = sched::parse_spec(spec);
    c.platform = machine::load_platform(platform);
    c.ops = sched::most_ops(c.spec);
    all.push_back(c);
  }
  return all;
}

machine::Wiring own_wiring(const machine::Platform& platform, const sched::Schedule& schedule) {
  return {platform, schedule.rank_count()};
}

TEST(Predict, IsOfTheAnalyticEngineAndTheFloorWhereLinksAreShared) {
  for (const char* platform :
       {"star:rate=40Gbps,latency=2us,o_post=1us",
        "two-level:racks=2,hosts=4,oversubscription=8,placement=round-robin,interleave=0"}) {
    std::vector<Candidate> all = real_candidates(platform);
    predict(all, own_wiring, 2, {});
    int contended = 0;
    for (const Candidate& c : all) {
      const sched::Schedule schedule = sched::compile(c.spec);
      const sched::Trace trace = run_analytic({schedule, c.platform});
      EXPECT_EQ(c.predicted_s, trace.makespan_s());
      EXPECT_EQ(c.contended, trace.contended);
      contended += c.contended ? 1 : 0;
      const double floor_s =
          makespan_floor_s({schedule, c.platform, own_wiring(c.platform, schedule)});
      EXPECT_EQ(c.floor_s, c.contended ? floor_s : c.predicted_s);
    }
    EXPECT_EQ(contended > 0, std::string(platform).starts_with("two-level"));
  }
}

TEST(Predict, BeginsWithTheLargest) {
  std::vector<Candidate> all = real_candidates("star:rate=40Gbps");
  std::vector<std::uint32_t> ops;
  predict(all,
          [&](const machine::Platform& platform, const sched::Schedule& schedule) {
            ops.push_back(schedule.op_count());
            return own_wiring(platform, schedule);
          },
          1, {});
  EXPECT_EQ(ops.size(), 3u);
  EXPECT_TRUE(std::is_sorted(ops.rbegin(), ops.rend()));
}

// Progress is told now and then: the last candidate does not begin before it was.
TEST(Predict, SaysHowManyAreDone) {
  std::vector<Candidate> all = real_candidates("star:rate=40Gbps");
  std::atomic<std::uint64_t> told{0};
  int begun = 0;
  predict(
      all,
      [&](const machine::Platform& platform, const sched::Schedule& schedule) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        if (++begun == 3) {
          while (told != 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
          EXPECT_EQ(told, 2u);
        }
        return own_wiring(platform, schedule);
      },
      1,
      [&](std::string_view what, std::uint64_t done, std::uint64_t of) {
        EXPECT_EQ(what, "predicting");
        EXPECT_EQ(of, 3u);
        told = done;
      });
}

TEST(SampleNoise, IsTheNinetyFifthPercentileOverTheMedian) {
  for (const std::uint32_t samples : {1u, 2u, 7u, 20u, 21u}) {
    std::vector<Candidate> all = real_candidates("star:rate=40Gbps,latency=2us,o_post=1us");
    predict(all, own_wiring, 1, {});
    machine::DelayPlan noise;
    noise.seed = 40;
    noise.noise.resize(1);
    noise.noise[0].of.kind = machine::Distribution::Kind::kUniform;
    noise.noise[0].of.high = sched::Time{9'000'000};
    sample_noise(all, own_wiring, noise, samples, 2, 2,
                 [&](std::string_view what, std::uint64_t done, std::uint64_t of) {
                   EXPECT_EQ(what, "adding noise");
                   EXPECT_EQ(of, 2 * samples);
                   EXPECT_LE(done, of);
                 });
    const std::vector<std::uint32_t> order = ranking(all);
    EXPECT_FALSE(all[order[2]].noise_ratio);
    for (const std::uint32_t i : {order[0], order[1]}) {
      std::vector<double> times_s;
      for (std::uint32_t sample = 0; sample < samples; ++sample) {
        noise.seed = 40 + sample;
        times_s.push_back(
            run_analytic({sched::compile(all[i].spec), all[i].platform, noise}).makespan_s());
      }
      std::sort(times_s.begin(), times_s.end());
      // The least that at least so many in a hundred do not exceed.
      const auto quantile = [&](std::size_t percent) {
        std::size_t k = 1;
        while (100 * k < percent * samples) ++k;
        return times_s[k - 1];
      };
      ASSERT_TRUE(all[i].noise_ratio);
      const double median_s = (times_s[(samples - 1) / 2] + times_s[samples / 2]) / 2;
      EXPECT_DOUBLE_EQ(*all[i].noise_ratio, quantile(95) / median_s) << samples;
    }
  }
}

TEST(SampleNoise, OfNothingIsNothing) {
  std::vector<Candidate> all = real_candidates("star:rate=40Gbps");
  sample_noise(all, own_wiring, {}, 0, 3, 1, {});
  for (const Candidate& c : all) EXPECT_FALSE(c.noise_ratio);
  all.resize(1);
  sample_noise(all, own_wiring, {}, 2, 3, 1, {});
  EXPECT_EQ(all[0].noise_ratio, 1);
  // A run that takes no time has no ratio.
  all[0].spec = sched::parse_spec("chain:ranks=1,bytes=0");
  all[0].noise_ratio = std::nullopt;
  sample_noise(all, own_wiring, {}, 2, 3, 1, {});
  EXPECT_FALSE(all[0].noise_ratio);
}

}  // namespace
}  // namespace slackline::analysis
