// The order in which things planned come, held against a sorted list.
#include "sched/workloads/tasks/plan_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace slackline::sched {
namespace {

using Times = std::multimap<std::int64_t, int>;  // equal ones stay in the order of their insertion

TEST(PlanQueue, ComesByTimeAndThenAsItWasPlanned) {
  std::mt19937_64 random(11);
  // Nothing ahead, within a slot, among the slots, at their end, beyond them.
  const std::int64_t reach[] = {1, 5'000, 300'000, 4'200'000, 1'000'000'000};
  for (int n = 0; n < 200; ++n) {
    PlanQueue<int> queue;
    Times expected;
    int planned = 0;
    const auto plan = [&] {
      const std::int64_t ahead = reach[random() % 5];
      // Now and then at a time that others have, too.
      const std::int64_t step = random() % 2 == 0 ? ahead : ahead / 3 + 1;
      const std::int64_t at = queue.now() + static_cast<std::int64_t>(random() % 4) * step / 3 +
                              (random() % 3 == 0 ? static_cast<std::int64_t>(random() % 7'000) : 0);
      queue.push(at, planned);
      expected.emplace(at, planned++);
    };
    for (int i = 0; i < 20; ++i) plan();
    for (int i = 0; i < 400; ++i) {
      ASSERT_EQ(queue.empty(), expected.empty());
      if (!expected.empty()) {
        const auto first = expected.begin();
        ASSERT_EQ(queue.pop(), first->second);
        ASSERT_EQ(queue.now(), first->first);
        expected.erase(first);
      }
      for (auto more = random() % 3; i < 300 && more > 0; --more) plan();
    }
    while (!expected.empty()) {
      ASSERT_EQ(queue.pop(), expected.begin()->second);
      expected.erase(expected.begin());
    }
    ASSERT_TRUE(queue.empty());
  }
}

TEST(PlanQueue, FindsWhatIsAloneFarAhead) {
  PlanQueue<int> queue;
  // Of 4,096 ps is a slot, and there are 1,024: the third comes in the last of them, just before
  // the one that it is time for.
  for (const std::int64_t at :
       {0LL, 40'960LL, 4'231'168LL, 12'000'000LL, 3'600'000'000'000'000LL}) {
    queue.push(at, 5);
    EXPECT_EQ(queue.pop(), 5);
    EXPECT_EQ(queue.now(), at);
  }
}

}  // namespace
}  // namespace slackline::sched
