#include "base/flat_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "base/mix.h"

namespace slackline::base {
namespace {

struct Mixed {
  std::uint64_t operator()(std::uint64_t key) const { return sched::mixed(key); }
};
// All keys begin to look at the same place.
struct Same {
  std::uint64_t operator()(std::uint64_t) const { return 3; }
};

// Against a map, with keys that come again, 0 among them.
template <class Hash>
void expect_as_map(std::uint32_t keys, std::uint32_t steps) {
  FlatIndex<std::uint64_t, Hash> index;
  std::map<std::uint64_t, std::uint32_t> plain;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint64_t key = std::uint64_t{sched::below(sched::draw(1, {step}), keys)} << 32;
    index.look_ahead(key + 1);  // which makes no difference
    const auto found = index.find_or_add(key);
    const auto [same, fresh] = plain.try_emplace(key, step);
    ASSERT_EQ(found.fresh, fresh) << step;
    if (fresh) {
      EXPECT_EQ(found.number, 0u);
      found.number = step;
    }
    ASSERT_EQ(found.number, same->second) << step;
  }
  EXPECT_EQ(index.size(), plain.size());
}

TEST(FlatIndex, FindsWhatWasAdded) { expect_as_map<Mixed>(5000, 40'000); }

TEST(FlatIndex, KeepsOtherValuesThanNumbers) {
  struct Seen {
    std::uint64_t times = 0;
    std::uint32_t last = 7;
  };
  FlatIndex<std::uint64_t, Mixed, Seen> index;
  std::map<std::uint64_t, Seen> plain;
  for (std::uint32_t step = 0; step < 5000; ++step) {
    const std::uint64_t key = sched::below(sched::draw(2, {step}), 700);
    const auto found = index.find_or_add(key);
    Seen& same = plain[key];
    ASSERT_EQ(found.number.times, same.times) << step;
    ASSERT_EQ(found.number.last, same.last) << step;
    ++found.number.times;
    ++same.times;
    found.number.last = same.last = step;
  }
}
TEST(FlatIndex, GoesOnWhereAnotherKeyStands) { expect_as_map<Same>(60, 2000); }

}  // namespace
}  // namespace slackline::base
