// The flat queues of a run against the standard library's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <vector>

#include "machine/heap.h"
#include "machine/short_heap.h"
#include "machine/word_queues.h"

namespace slackline::machine {
namespace {

struct Less {
  bool operator()(int a, int b) const { return a < b; }
};

template <class Queue>
void expect_least_first() {
  std::mt19937 random(1);
  Queue queue;
  std::priority_queue<int, std::vector<int>, std::greater<>> expected;
  for (int i = 0; i < 20000; ++i) {
    if (expected.empty() || random() % 5 < (i < 10000 ? 3u : 2u)) {
      const int item = static_cast<int>(random() % 1000);
      queue.push(item);
      expected.push(item);
    } else {
      ASSERT_EQ(queue.top(), expected.top());
      ASSERT_EQ(queue.pop(), expected.top());
      expected.pop();
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

TEST(Heap, GivesWhatIsLeast) { expect_least_first<Heap<int, Less>>(); }

TEST(ShortHeap, GivesWhatIsLeast) { expect_least_first<ShortHeap<int, Less>>(); }

TEST(ShortHeap, TellsAllItsItems) {
  ShortHeap<int, Less> queue;
  EXPECT_EQ(queue.items(), std::vector<int>{});
  std::vector<int> pushed;
  for (const int item : {7, 3, 9, 3}) {
    queue.push(item);
    pushed.push_back(item);
    std::vector<int> items = queue.items();
    EXPECT_TRUE(std::is_permutation(items.begin(), items.end(), pushed.begin(), pushed.end()));
  }
}

// Few words, so that their places collide and lists grow; then many, so that the table does.
TEST(WordQueues, ServesEachWordInOrderOfArrival) {
  for (const std::uint32_t words : {3u, 50u, 3000u}) {
    std::mt19937 random(words);
    WordQueues queues;
    std::map<std::uint64_t, std::deque<std::uint32_t>> expected;  // who is served comes first
    for (std::uint32_t i = 0; i < 30000; ++i) {
      const std::uint64_t address = 8 * (random() % words);
      std::deque<std::uint32_t>& at = expected[address];
      if (random() % 2 == 0) {
        ASSERT_EQ(queues.arrive(address, sched::OpId(i)), at.empty());
        at.push_back(i);
      } else if (!at.empty()) {
        at.pop_front();
        const sched::OpId next = queues.leave(address);
        ASSERT_EQ(next.valid(), !at.empty());
        if (next.valid()) {
          ASSERT_EQ(next.value, at.front());
        }
      }
    }
  }
}

}  // namespace
}  // namespace slackline::machine
