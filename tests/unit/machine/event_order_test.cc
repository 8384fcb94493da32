#include "machine/event_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace slackline::machine {
namespace {

using Kind = ExecutionEvent::Kind;

// What std::sort() makes of it.
void expect_sorted(EventOrder& order, std::vector<ExecutionEvent> events) {
  std::vector<ExecutionEvent> expected = events;
  std::sort(expected.begin(), expected.end());
  order.sort(events);
  EXPECT_EQ(events, expected) << events.size() << " events";
}

// Operations of a narrow and of a wide range, some far from the others, with several events of one
// operation among them, in numbers around the bound from which on events are spread over buckets.
TEST(EventOrder, IsThatOfAPlainSort) {
  std::mt19937 random(1);
  EventOrder order;
  for (const std::size_t count : {0u, 1u, 2u, 47u, 48u, 49u, 500u, 3000u}) {
    for (const std::uint32_t range : {1u, 2u, 40u, 4000u, 1u << 30}) {
      for (const std::uint32_t outlier : {0u, std::numeric_limits<std::uint32_t>::max()}) {
        std::vector<ExecutionEvent> events;
        for (std::size_t i = 0; i < count; ++i) {
          const auto kind = static_cast<Kind>(random() % 3 == 0 ? random() % 4 : 5);
          events.emplace_back(sched::OpId(static_cast<std::uint32_t>(random()) % range), kind);
        }
        if (outlier != 0 && count > 1) events.back() = {sched::OpId(outlier), Kind::kDone};
        expect_sorted(order, events);
        std::sort(events.begin(), events.end());
        expect_sorted(order, events);
      }
    }
  }
}

}  // namespace
}  // namespace slackline::machine
