// Time that counts as waited: what passes while nobody looks hardly does.
#include "hw/watched_time.h"

#include <gtest/gtest.h>

namespace slackline::hw {
namespace {

using namespace std::chrono_literals;
using Moment = WatchedTime::Clock::time_point;

double ms(WatchedTime::Duration time) { return 1e3 * time.count(); }

TEST(WatchedTime, CountsAllOfAWaitThatIsLookedAtOften) {
  WatchedTime time(800ms);
  const Moment begin{1h};
  time.restart(begin);
  for (int look = 1; look <= 10; ++look) {
    EXPECT_NEAR(ms(time.look(begin + look * 100ms)), look * 100, 1e-6);
  }
  EXPECT_NEAR(ms(time.watched()), 1000, 1e-6);
}

TEST(WatchedTime, CountsAnEighthOfThePatienceWhereTheProcessStoodStill) {
  WatchedTime time(800ms);
  const Moment begin{1h};
  time.restart(begin);
  EXPECT_NEAR(ms(time.look(begin + 50ms)), 50, 1e-6);
  EXPECT_NEAR(ms(time.look(begin + 1h)), 150, 1e-6);
  EXPECT_NEAR(ms(time.look(begin + 1h)), 150, 1e-6);
  EXPECT_NEAR(ms(time.look(begin + 1h + 100ms)), 250, 1e-6);
  EXPECT_NEAR(ms(time.look(begin + 1h + 201ms)), 350, 1e-6);
  time.restart(begin + 2h);
  EXPECT_EQ(ms(time.watched()), 0);
  EXPECT_NEAR(ms(time.look(begin + 2h + 10ms)), 10, 1e-6);
}

}  // namespace
}  // namespace slackline::hw
