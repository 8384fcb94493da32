#include "machine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "tests/property/random_runs.h"

namespace slackline::machine {
namespace {

ExecutionEvent event(std::uint32_t op) { return {sched::OpId(op), ExecutionEvent::Kind::kDone}; }

// Pushes one event at `time_s`, one half a picosecond later and one two picoseconds later.
std::vector<std::size_t> sizes_of_instants(double time_s) {
  EventQueue queue;
  queue.push(time_s + 2e-12, event(2));
  queue.push(time_s, event(0));
  queue.push(time_s + 0.5e-12, event(1));
  std::vector<std::size_t> sizes;
  std::vector<ExecutionEvent> events;
  for (int i = 0; i < 4 && !queue.empty(); ++i) {
    queue.pop_instant(events);
    sizes.push_back(events.size());
  }
  EXPECT_TRUE(queue.empty()) << "at " << time_s;
  return sizes;
}

TEST(EventQueue, WhatIsLessThanAPicosecondApartIsOneInstant) {
  for (const double time_s : {0.0, 1e-6, 1.0, 100.0}) {
    EXPECT_EQ(sizes_of_instants(time_s), (std::vector<std::size_t>{2, 1})) << time_s;
  }
}

// It is counted from the first of them: the third is less than one after the second, and later.
TEST(EventQueue, AnInstantIsCountedFromItsFirstEvent) {
  EventQueue queue;
  for (const std::uint32_t i : {2u, 0u, 1u}) queue.push(0.9e-12 * i, event(i));
  std::vector<ExecutionEvent> events;
  EXPECT_EQ(queue.pop_instant(events), 0);
  EXPECT_EQ(events.size(), 2u);
  EXPECT_EQ(queue.pop_instant(events), 1.8e-12);
  EXPECT_EQ(events.size(), 1u);
  EXPECT_TRUE(queue.empty());
}

// Where something that is not in the queue comes first, the instant is counted from that.
TEST(EventQueue, AnInstantMayBeginBeforeItsFirstEvent) {
  EventQueue queue;
  std::vector<ExecutionEvent> events{event(9)};
  queue.pop_instant(1, events);
  EXPECT_TRUE(events.empty());
  for (const std::uint32_t i : {2u, 0u, 1u}) queue.push(1 + 0.7e-12 * (i + 1), event(i));
  queue.pop_instant(0.5, events);
  EXPECT_TRUE(events.empty());
  queue.pop_instant(1, events);
  EXPECT_EQ(events.size(), 1u);
  queue.pop_instant(1 + 1.4e-12, events);
  EXPECT_EQ(events.size(), 2u);
  EXPECT_TRUE(queue.empty());
}

// Late enough, all three are one double.
TEST(EventQueue, EndsWhereADoubleHasNoPicoseconds) {
  for (const double time_s : {4096.0, 16384.0, 20000.0, 1e6, 1e9, 1e300}) sizes_of_instants(time_s);
  EXPECT_EQ(sizes_of_instants(1e6), std::vector<std::size_t>{3});
  EXPECT_EQ(sizes_of_instants(std::numeric_limits<double>::max()), std::vector<std::size_t>{3});
}

TEST(EventQueue, GivesEventsInOrderOfTime) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 1000; ++i) queue.push(1e-6 * (i * 7919 % 1000), event(i));
  std::vector<ExecutionEvent> events;
  double last_s = -1;
  std::size_t count = 0;
  while (!queue.empty()) {
    const double now_s = queue.pop_instant(events);
    EXPECT_GT(now_s, last_s);
    last_s = now_s;
    count += events.size();
  }
  EXPECT_EQ(count, 1000u);
}

// Against a map: few times and many, of which some come again when their events are gone already.
TEST(EventQueue, GivesWhatWasPushedAtItsTime) {
  for (std::uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    slackline::testing::Dice dice(seed);
    const std::uint32_t times = 1 + dice.below(seed % 2 == 0 ? 20 : 2000);
    EventQueue queue;
    std::multimap<double, std::uint32_t> pushed;
    std::vector<ExecutionEvent> events;
    std::uint32_t next = 0;
    double now_s = 0;
    for (std::uint32_t turn = 0; turn < 300; ++turn) {
      for (std::uint32_t left = dice.below(8); left != 0; --left) {
        const double time_s = now_s + 1e-6 * dice.below(times);
        queue.push(time_s, event(next));
        pushed.emplace(time_s, next++);
      }
      ASSERT_EQ(queue.empty(), pushed.empty());
      if (pushed.empty()) continue;
      now_s = pushed.begin()->first;
      ASSERT_EQ(queue.next_s(), now_s);
      std::vector<std::uint32_t> due;
      while (!pushed.empty() && pushed.begin()->first < now_s + kInstant_s) {
        due.push_back(pushed.begin()->second);
        pushed.erase(pushed.begin());
      }
      ASSERT_EQ(queue.pop_instant(events), now_s);
      std::vector<std::uint32_t> popped;
      for (const ExecutionEvent e : events) popped.push_back(e.op().value);
      std::sort(due.begin(), due.end());
      std::sort(popped.begin(), popped.end());
      ASSERT_EQ(popped, due) << "seed " << seed << ", turn " << turn;
    }
  }
}

}  // namespace
}  // namespace slackline::machine
