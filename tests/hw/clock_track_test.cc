// Another clock, as questions and answers tell: held against clocks that are made up here, of which
// it is known what they show at every moment.
#include "hw/mesh/clock_track.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "hw/mesh/clock_follower.h"
#include "hw/mesh/wire.h"

namespace slackline {
namespace {

using hw::ClockFollower;
using hw::ClockOffset;
using hw::ClockSample;
using hw::ClockTrack;

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

// A clock that drifts, at a rate that changes, and steps ahead now and then.
class MadeUpClock {
 public:
  explicit MadeUpClock(std::int64_t start_ns) : pieces_{{0, start_ns, 0}} {}

  // From `true_ns` on, later than all before.
  void drift(std::int64_t true_ns, double rate) { pieces_.push_back({true_ns, at(true_ns), rate}); }
  void step(std::int64_t true_ns, std::int64_t by_ns) {
    pieces_.push_back({true_ns, at(true_ns) + by_ns, pieces_.back().rate});
  }

  std::int64_t at(std::int64_t true_ns) const {
    auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), true_ns,
                                  [](std::int64_t t, const Piece& p) { return t < p.true_ns; });
    --piece;
    const std::int64_t since_ns = true_ns - piece->true_ns;
    return piece->shown_ns + since_ns + std::llround(static_cast<double>(since_ns) * piece->rate);
  }

 private:
  struct Piece {
    std::int64_t true_ns;
    std::int64_t shown_ns;
    double rate;  // beyond 1
  };
  std::vector<Piece> pieces_;
};

struct Clocks {
  MadeUpClock here{500 * kSecond};
  MadeUpClock there{90'000 * kSecond};
  std::vector<std::int64_t> steps;  // when

  // ±50 ppm each, other rates every few seconds to minutes, and a step of 1 us to 1 s every minute
  // or so.
  Clocks(std::mt19937_64& random, std::int64_t end_ns, bool stepping) {
    std::uniform_real_distribution<double> part(0, 1);
    for (MadeUpClock* const clock : {&here, &there}) {
      std::vector<std::int64_t> own;
      for (std::int64_t t = 0; t < end_ns;
           t += static_cast<std::int64_t>((3 + 60 * part(random)) * 1e9)) {
        clock->drift(t, (2 * part(random) - 1) * 50e-6);
        // Each steps in its own half of a minute.
        const std::int64_t minute = t / (60 * kSecond) * 60 * kSecond;
        const std::int64_t at = minute + static_cast<std::int64_t>((clock == &here ? 2 : 32) * 1e9 +
                                                                   part(random) * 20e9);
        if (!stepping || at <= t || (!own.empty() && at <= own.back())) continue;
        clock->step(at, std::llround(std::pow(10, 3 + 6 * part(random))));
        own.push_back(at);
        t = at;
      }
      steps.insert(steps.end(), own.begin(), own.end());
    }
  }

  double offset_s(std::int64_t true_ns) const {
    return static_cast<double>(there.at(true_ns) - here.at(true_ns)) * 1e-9;
  }
};

// Asks as a mesh does. Some questions and answers are held up.
class Asking {
 public:
  Asking(const Clocks& clocks, std::mt19937_64& random) : clocks_(clocks), random_(random) {}

  // Answers when the answer is here.
  std::int64_t ask(std::int64_t true_ns) {
    const std::int64_t there_at = true_ns + way_ns();
    const std::int64_t back_at = there_at + way_ns();
    const std::int64_t asked_ns = clocks_.here.at(true_ns);
    EXPECT_TRUE(follower.ask(asked_ns));
    follower.answered(static_cast<std::uint64_t>(asked_ns),
                      static_cast<std::uint64_t>(clocks_.there.at(there_at)),
                      clocks_.here.at(back_at));
    return back_at;
  }

  std::int64_t ask_round(std::int64_t true_ns, bool anew) {
    follower.begin_round(anew);
    while (follower.in_round()) true_ns = ask(true_ns) + 2 * kMicrosecond;
    return true_ns;
  }

  ClockFollower follower;

 private:
  std::int64_t way_ns() {
    const auto usual =
        static_cast<std::int64_t>(5 * kMicrosecond + random_() % (20 * kMicrosecond));
    if (random_() % 20 != 0) return usual;
    return usual + static_cast<std::int64_t>(random_() % (3 * kMillisecond));
  }

  const Clocks& clocks_;
  std::mt19937_64& random_;
};

// Of errors at `moments`: the truth lies within each. Answers the median.
double median_error_s(const Clocks& clocks, const ClockTrack& track,
                      const std::vector<std::int64_t>& moments) {
  std::vector<double> errors;
  int wrong = 0;
  for (const std::int64_t moment : moments) {
    const ClockOffset offset = track.at(clocks.here.at(moment));
    errors.push_back(offset.error_s);
    if (std::abs(offset.offset_s - clocks.offset_s(moment)) <= offset.error_s) continue;
    if (++wrong > 3) continue;
    ADD_FAILURE() << "at " << moment << " ns " << offset.offset_s << " +- " << offset.error_s
                  << "; expected " << clocks.offset_s(moment);
  }
  EXPECT_EQ(wrong, 0);
  std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
  return errors[errors.size() / 2];
}

class ClockTrackOver : public ::testing::TestWithParam<bool> {};

TEST_P(ClockTrackOver, AnHourTheTruthLiesWithinTheError) {
  for (const std::int64_t seconds : {1, 60, 3600}) {
    for (std::uint32_t seed = 0; seed < 3; ++seed) {
      std::mt19937_64 random(seed);
      const std::int64_t end_ns = seconds * kSecond;
      const Clocks clocks(random, end_ns, GetParam());
      Asking asking(clocks, random);
      const std::int64_t begin_ns = asking.ask_round(0, true);
      for (std::int64_t t = 100 * kMillisecond; t < end_ns; t += 100 * kMillisecond) asking.ask(t);
      asking.ask_round(end_ns, false);
      const ClockTrack track = asking.follower.track(false);
      std::vector<std::int64_t> moments;
      for (std::int64_t t = begin_ns; t < end_ns; t += 37 * kMillisecond + 12'345) {
        moments.push_back(t);
      }
      for (const std::int64_t step : clocks.steps) {
        if (step < begin_ns || step >= end_ns) continue;
        for (const std::int64_t off : {-kMillisecond, -20 * kMicrosecond, std::int64_t{-1},
                                       std::int64_t{0}, 20 * kMicrosecond, 10 * kMillisecond}) {
          moments.push_back(std::clamp(step + off, begin_ns, end_ns));
        }
      }
      EXPECT_LT(median_error_s(clocks, track, moments), 100e-6) << "the error says nothing";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClockTrackOver, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Steps" : "Drift"; });

// What a run makes of it: no message comes before it was sent, by more than both errors.
TEST(ClockTrack, NoMessageIsFoundToComeBeforeItWasSent) {
  std::mt19937_64 random(8);
  const std::int64_t end_ns = 600 * kSecond;
  const Clocks clocks(random, end_ns, true);
  Asking asking(clocks, random);
  const std::int64_t begin_ns = asking.ask_round(0, true);
  for (std::int64_t t = 100 * kMillisecond; t < end_ns; t += 100 * kMillisecond) asking.ask(t);
  asking.ask_round(end_ns, false);
  const ClockTrack track = asking.follower.track(false);
  const auto put_right_s = [&](std::int64_t here_ns) {
    return static_cast<double>(here_ns) * 1e-9 + track.at(here_ns).offset_s;
  };
  int found = 0;
  for (std::int64_t t = begin_ns; t < end_ns; t += 7 * kMillisecond) {
    const std::int64_t later = t + 1 * kMicrosecond;
    const double early_s = static_cast<double>(clocks.there.at(t)) * 1e-9;
    const double late_s = static_cast<double>(clocks.there.at(later)) * 1e-9;
    // From there to here, and from here to there.
    found += early_s > put_right_s(clocks.here.at(later)) + track.at(clocks.here.at(later)).error_s;
    found += put_right_s(clocks.here.at(t)) > late_s + track.at(clocks.here.at(t)).error_s;
  }
  EXPECT_EQ(found, 0);
}

TEST(ClockTrack, AStepWhileAQuestionIsUnderWay) {
  struct Case {
    std::int64_t answer_ns;  // after the question
    std::int64_t step_ns;
  };
  // Just before the answer is given, late; and just after it is given, early.
  for (const Case c : {Case{1'950'000, 1'900'000}, Case{50'000, 100'000}}) {
    MadeUpClock there(7 * kSecond);
    there.step(kSecond + c.step_ns, kSecond);
    std::vector<ClockSample> samples;
    for (const std::int64_t asked : {std::int64_t{0}, kSecond, 2 * kSecond}) {
      samples.push_back({asked, there.at(asked + c.answer_ns), asked + 2 * kMillisecond});
    }
    const ClockTrack track(samples, false);
    for (std::int64_t t = kSecond - kMillisecond; t < kSecond + 3 * kMillisecond;
         t += 10 * kMicrosecond) {
      const double truth_s = static_cast<double>(there.at(t) - t) * 1e-9;
      EXPECT_LE(std::abs(track.at(t).offset_s - truth_s), track.at(t).error_s) << t;
    }
  }
}

TEST(ClockTrack, TimesNeverGoBack) {
  // The other clock is as that of another machine after a failover: 3 s behind.
  const std::array<ClockSample, 3> samples{{{0, 10 * kSecond, 10},
                                            {kSecond, 8 * kSecond, kSecond + 10},
                                            {2 * kSecond, 9 * kSecond, 2 * kSecond + 10}}};
  const ClockTrack track(samples, false);
  double last_s = 0;
  for (std::int64_t t = -kSecond; t < 4 * kSecond; t += kMillisecond) {
    const double there_s = static_cast<double>(t) * 1e-9 + track.at(t).offset_s;
    EXPECT_GE(there_s, last_s - 1e-9);
    last_s = there_s;
  }
  EXPECT_GE(track.at(kSecond / 2).error_s, 2.5 - 1e-9);
}

TEST(ClockTrack, TheErrorGrowsAwayFromSamples) {
  const std::array<ClockSample, 2> samples{
      {{0, 500, 100}, {kSecond, kSecond + 450, kSecond + 100}}};
  const ClockTrack track(samples, false);
  EXPECT_NEAR(track.at(50).offset_s, 450e-9, 1e-9);
  EXPECT_GT(track.at(-kSecond).error_s, ClockTrack::kDrift);
  EXPECT_GT(track.at(3 * kSecond).error_s, 1.9 * ClockTrack::kDrift);
  EXPECT_LT(track.at(2 * kSecond).error_s, track.at(3 * kSecond).error_s);
}

TEST(ClockTrack, SpansHoldTheErrorsWithin) {
  std::mt19937_64 random(5);
  const std::int64_t end_ns = 20 * kSecond;
  const Clocks clocks(random, end_ns, true);
  Asking asking(clocks, random);
  asking.ask_round(0, true);
  for (std::int64_t t = 100 * kMillisecond; t < end_ns; t += 100 * kMillisecond) asking.ask(t);
  const ClockTrack track = asking.follower.track(false);
  const std::int64_t begin_here = clocks.here.at(kSecond);
  const std::int64_t end_here = clocks.here.at(end_ns + kSecond);
  const std::vector<ClockTrack::Span> spans = track.errors(begin_here, end_here);
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(spans.back().until_ns, end_here);
  std::int64_t from = begin_here;
  for (const ClockTrack::Span& span : spans) {
    ASSERT_GT(span.until_ns, from);
    for (int i = 0; i < 5; ++i) {
      const std::int64_t t = from + 1 + (span.until_ns - from - 1) * i / 5;
      EXPECT_LE(track.at(t).error_s, span.error_s + 1e-9) << t;
    }
    from = span.until_ns;
  }
  // Of a moment, and of one clock.
  EXPECT_EQ(track.errors(begin_here, begin_here).size(), 1u);
  const std::vector<ClockTrack::Span> none = ClockTrack().errors(0, 5);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].error_s, 0);
}

// As when the mesh's question is held up while the transport's are answered at once.
TEST(ClockTrack, SpansHoldTheErrorsWithinWhereQuestionsOverlap) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const auto drawn = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution(least, most)(random);
    };
    const std::int64_t step_at_ns = kSecond + drawn(0, kMillisecond);
    const std::int64_t step_ns = drawn(-3 * kMillisecond, 3 * kMillisecond);
    const auto there_ns = [&](std::int64_t here_ns) {
      return here_ns + 77 * kSecond + (here_ns < step_at_ns ? 0 : step_ns);
    };
    std::vector<ClockSample> samples;
    std::int64_t asked_ns = kSecond;
    for (std::int64_t i = drawn(3, 8); i > 0; --i) {
      asked_ns += drawn(0, 1) == 0 ? drawn(0, 2'000) : drawn(0, 200'000);
      const std::int64_t answered_ns =
          asked_ns + (drawn(0, 3) == 0 ? drawn(50'000, 400'000) : drawn(1'000, 20'000));
      samples.push_back({asked_ns, there_ns(drawn(asked_ns, answered_ns)), answered_ns});
    }
    std::ranges::sort(samples, {}, &ClockSample::middle_ns);
    const ClockTrack track(samples, false);
    const std::int64_t begin_ns = kSecond - drawn(0, 100'000);
    const std::int64_t end_ns = asked_ns + drawn(0, 500'000);
    const std::vector<ClockTrack::Span> spans = track.errors(begin_ns, end_ns);
    ASSERT_EQ(spans.back().until_ns, end_ns) << seed;
    for (std::int64_t i = 1; i < 100; ++i) {
      const std::int64_t at_ns = begin_ns + (end_ns - begin_ns) * i / 100;
      const auto span = std::ranges::lower_bound(spans, at_ns, {}, &ClockTrack::Span::until_ns);
      if (span->until_ns == at_ns) continue;  // of the next one, too
      ASSERT_LE(track.at(at_ns).error_s, span->error_s + 1e-12)
          << "seed " << seed << " at " << at_ns;
    }
  }
}

TEST(ClockTrack, OneHostHasOneClockUntilItSaysOtherwise) {
  const std::array<ClockSample, 2> samples{{{100, 109, 110}, {200, 222, 210}}};
  const std::span<const ClockSample> first(samples.data(), 1);
  const ClockTrack one(first, true);
  EXPECT_TRUE(one.is_one_clock());
  EXPECT_EQ(one.at(105).offset_s, 0);
  EXPECT_EQ(one.at(105).error_s, 0);
  EXPECT_FALSE(ClockTrack(first, false).is_one_clock());
  EXPECT_FALSE(ClockTrack(samples, true).is_one_clock());
}

TEST(ClockFollower, TheShortestRoundTripOfARoundCounts) {
  ClockFollower follower;
  const std::int64_t ahead_ns = 5 * kSecond;
  std::mt19937 random(3);
  follower.begin_round(true);
  for (int i = 0; i < ClockFollower::kRound; ++i) {
    EXPECT_TRUE(follower.in_round());
    const std::int64_t asked_ns = i * kMillisecond;
    const std::int64_t there_ns = i == 20 ? 10'000 : 20'000 + random() % 100'000;
    const std::int64_t back_ns = i == 20 ? 14'000 : 20'000 + random() % 100'000;
    ASSERT_TRUE(follower.ask(asked_ns));
    EXPECT_FALSE(follower.ask(asked_ns)) << "one is under way";
    EXPECT_EQ(follower.answered(static_cast<std::uint64_t>(asked_ns),
                                static_cast<std::uint64_t>(asked_ns + there_ns + ahead_ns),
                                asked_ns + there_ns + back_ns),
              i + 1 == ClockFollower::kRound);
  }
  EXPECT_FALSE(follower.in_round());
  // The way there took 2 us less than the middle of 24 us.
  const ClockOffset offset = follower.track(false).at(20 * kMillisecond + 12'000);
  EXPECT_NEAR(offset.offset_s, 5.0 - 2e-6, 1e-9);
  EXPECT_NEAR(offset.error_s, 12e-6, 20e-9);
  // Clocks that cannot be the same are not, whatever the host says.
  EXPECT_FALSE(follower.track(true).is_one_clock());
  EXPECT_NEAR(follower.latest(true, 20 * kMillisecond).offset_s, 5.0 - 2e-6, 1e-9);
}

// Samples of another origin stand where their time is. Where better ones stand on both sides, a
// worse one says nothing.
TEST(ClockFollower, TakesSamplesOfOthers) {
  ClockFollower follower;
  const std::int64_t ahead_ns = 5 * kSecond;
  const auto ask = [&](std::int64_t asked_ns, std::int64_t one_way_ns) {
    ASSERT_TRUE(follower.ask(asked_ns));
    follower.answered(static_cast<std::uint64_t>(asked_ns),
                      static_cast<std::uint64_t>(asked_ns + one_way_ns + ahead_ns),
                      asked_ns + 2 * one_way_ns);
  };
  for (int i = 0; i < 3; ++i) ask(i * 100 * kMillisecond, 16'000);
  const std::int64_t at_ns = 100 * kMillisecond + 16'000;
  // What was known 100 ms before and after counts, and what clocks drift in that time.
  EXPECT_NEAR(follower.track(false).at(at_ns).error_s, 16e-6 + 10e-6, 0.1e-6);
  for (const std::int64_t middle_ns : {at_ns + 10 * kMillisecond, at_ns - 10 * kMillisecond}) {
    follower.add({middle_ns - 2'000, middle_ns + ahead_ns, middle_ns + 2'000});
  }
  EXPECT_EQ(follower.count(), 5u);
  EXPECT_NEAR(follower.track(false).at(at_ns).error_s, 2e-6 + 1e-6, 0.1e-6);
  EXPECT_NEAR(follower.track(false).at(at_ns).offset_s, 5.0, 1e-9);
}

TEST(ClockFollower, AnswersThatNobodyAskedForAreRefused) {
  ClockFollower follower;
  EXPECT_THROW(follower.answered(0, 0, 5), hw::WireError);
  ASSERT_TRUE(follower.ask(100));
  EXPECT_THROW(follower.answered(99, 7, 110), hw::WireError);
  EXPECT_THROW(follower.answered(100, 1ull << 63, 110), hw::WireError);
  EXPECT_FALSE(follower.answered(100, 7, 110));
  EXPECT_THROW(follower.answered(100, 7, 110), hw::WireError);
}

TEST(ClockFollower, SamplesHaveABound) {
  std::mt19937_64 random(1);
  const std::int64_t end_ns = 3 * static_cast<std::int64_t>(ClockFollower::kMost) * kSecond / 10;
  const Clocks clocks(random, end_ns, false);
  Asking asking(clocks, random);
  const std::int64_t begin_ns = asking.ask_round(0, true);
  for (std::int64_t t = 100 * kMillisecond; t < end_ns; t += 100 * kMillisecond) asking.ask(t);
  EXPECT_LT(asking.follower.count(), ClockFollower::kMost);
  const ClockTrack track = asking.follower.track(false);
  std::vector<std::int64_t> moments;
  for (std::int64_t t = begin_ns; t < end_ns; t += 91 * kMillisecond) moments.push_back(t);
  median_error_s(clocks, track, moments);
}

}  // namespace
}  // namespace slackline
