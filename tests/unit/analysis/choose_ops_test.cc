// Which operations `validate` tries: the shares of each choice.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analysis/slack/validate.h"

namespace slackline::analysis {
namespace {

constexpr std::uint32_t kOps = 300;

// All different; operation i has the place 7 i mod kOps among them.
std::vector<double> floats() {
  std::vector<double> float_s(kOps);
  for (std::uint32_t i = 0; i < kOps; ++i) float_s[i] = 1e-6 * (7 * i % kOps);
  return float_s;
}

struct Share {
  std::uint32_t least = 0;  // so many of the least were chosen, without a gap
  std::uint32_t most = 0;
};

Share share_of(const std::vector<sched::OpId>& chosen) {
  std::vector<bool> at(kOps);
  for (const sched::OpId op : chosen) at[7 * op.value % kOps] = true;
  Share share;
  while (share.least < kOps && at[share.least]) ++share.least;
  while (share.most < kOps && at[kOps - 1 - share.most]) ++share.most;
  return share;
}

// The least share over many seeds: what a seed adds to it by chance, another does not.
Share certain_share(OpChoice choice, std::uint32_t count) {
  Share certain{kOps, kOps};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto chosen = choose_ops(floats(), choice, count, seed);
    EXPECT_EQ(chosen.size(), count);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end());
    const Share share = share_of(chosen);
    certain.least = std::min(certain.least, share.least);
    certain.most = std::min(certain.most, share.most);
  }
  return certain;
}

TEST(ChooseOps, AMixtureHasAThirdOfEach) {
  for (std::uint32_t count = 1; count <= 30; ++count) {
    const Share share = certain_share(OpChoice::kMixed, count);
    EXPECT_EQ(share.least, (count + 2) / 3) << count;
    EXPECT_EQ(share.most, (count + 1) / 3) << count;
  }
}

TEST(ChooseOps, OneKindHasAll) {
  for (const std::uint32_t count : {1u, 2u, 10u, 100u}) {
    EXPECT_EQ(certain_share(OpChoice::kLeast, count).least, count);
    EXPECT_EQ(certain_share(OpChoice::kLeast, count).most, 0u);
    EXPECT_EQ(certain_share(OpChoice::kMost, count).most, count);
    EXPECT_EQ(certain_share(OpChoice::kMost, count).least, 0u);
    EXPECT_EQ(certain_share(OpChoice::kRandom, count).least, 0u);
    EXPECT_EQ(certain_share(OpChoice::kRandom, count).most, 0u);
  }
  EXPECT_EQ(choose_ops(floats(), OpChoice::kMixed, 2 * kOps, 1).size(), kOps);
}

}  // namespace
}  // namespace slackline::analysis
