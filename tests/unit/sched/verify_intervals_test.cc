// What the verifier keeps neighbouring segments by, against sets and lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "sched/verify/bit_index.h"
#include "sched/verify/read_log.h"

namespace slackline::sched {
namespace {

TEST(BitIndex, FindsWhatASetFinds) {
  std::mt19937_64 random(1);
  for (const std::uint32_t size : {1u, 2u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 300'000u}) {
    for (const bool full : {false, true}) {
      BitIndex index(size, full);
      std::set<std::uint32_t> set;
      for (std::uint32_t i = 0; full && i < size; ++i) set.insert(set.end(), i);
      const std::uint32_t spread = size < 5000 ? 1 : 40'000;
      for (int step = 0; step < 3000; ++step) {
        // Far apart in the large one, so that whole words and levels are empty.
        const auto number = static_cast<std::uint32_t>(random() % size) / spread * spread;
        if (random() % 2 == 0) {
          index.insert(number);
          set.insert(number);
        } else {
          index.erase(number);
          set.erase(number);
        }
        const auto at = static_cast<std::uint32_t>(random() % size);
        const auto next = set.lower_bound(at);
        ASSERT_EQ(index.next(at), next == set.end() ? size : *next) << size << ' ' << at;
        ASSERT_EQ(index.contains(at), set.contains(at));
        if (const auto after = set.upper_bound(at); after != set.begin()) {
          ASSERT_EQ(index.last(at), *std::prev(after)) << size << ' ' << at;
        }
      }
      EXPECT_EQ(index.next(size), size);
    }
  }
}

TEST(BitIndex, ThatIsFullHasNothingBehindItsEnd) {
  for (const std::uint32_t size : {1u, 64u, 128u, 4096u, 5000u}) {
    BitIndex index(size, true);
    EXPECT_EQ(index.last(size - 1), size - 1);
    index.erase(size - 1);
    EXPECT_EQ(index.next(size - 1), size);
  }
}

TEST(ReadLog, TellsTheReadsSinceATime) {
  std::mt19937_64 random(2);
  for (const std::uint32_t segments : {1u, 7u, 64u, 200u}) {
    ReadLog log(segments);
    std::vector<ReadLog::Read> all;
    for (std::uint32_t time = 1; time < 150; ++time) {
      const auto run = [&] {
        const auto first = static_cast<std::uint32_t>(random() % segments);
        return sched::SegmentRun{
            first, first + 1 + static_cast<std::uint32_t>(random() % (segments - first))};
      };
      all.push_back({run(), time});
      log.add(all.back().run, time);
      const sched::SegmentRun asked = run();
      const auto since = static_cast<std::uint32_t>(random() % (time + 1));
      std::vector<std::uint32_t> expected;
      for (const ReadLog::Read& read : all) {
        const bool touches = read.run.first < asked.last && asked.first < read.run.last;
        if (read.time > since && touches) expected.push_back(read.time);
      }
      std::vector<std::uint32_t> found;
      log.for_each_since(since, asked, [&](const ReadLog::Read& read) {
        EXPECT_EQ(read.run.first, all[read.time - 1].run.first);
        EXPECT_EQ(read.run.last, all[read.time - 1].run.last);
        found.push_back(read.time);
      });
      std::sort(found.begin(), found.end());
      ASSERT_EQ(found, expected);
    }
  }
}

}  // namespace
}  // namespace slackline::sched
