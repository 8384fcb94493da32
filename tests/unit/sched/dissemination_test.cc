#include "sched/dissemination.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sched/event_graph.h"
#include "sched/verify.h"

namespace slackline::sched {
namespace {

TEST(Dissemination, ReachesEveryRank) {
  for (std::uint32_t ranks = 1; ranks <= 65; ++ranks) {
    const Dissemination way{ranks};
    EXPECT_LT(ranks, 2u << way.rounds());
    EXPECT_TRUE(way.rounds() == 0 || ranks > 1u << (way.rounds() - 1));
    // heard[a][b]: a has heard of b.
    std::vector<std::vector<bool>> heard(ranks, std::vector<bool>(ranks, false));
    for (std::uint32_t r = 0; r < ranks; ++r) heard[r][r] = true;
    for (std::uint32_t t = 0; t < way.rounds(); ++t) {
      const auto before = heard;
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const RankId to = way.target(RankId(r), t);
        EXPECT_EQ(way.source(to, t), RankId(r));
        for (std::uint32_t of = 0; of < ranks; ++of) {
          if (before[r][of]) heard[to.value][of] = true;
        }
      }
    }
    for (const auto& of : heard) EXPECT_EQ(of, std::vector<bool>(ranks, true));
  }
}

TEST(MessageBarrier, IsProvedAndCarriesNoData) {
  for (std::uint32_t ranks = 1; ranks <= 17; ++ranks) {
    ProgramWriter out(ranks);
    MessageBarrier barrier(out, ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::vector<OpId> receives = barrier.post({RankId(r), 1});
      EXPECT_EQ(receives.size(), barrier.rounds());
      const MessageBarrier::Ends ends = barrier.pass({RankId(r), 2}, receives);
      EXPECT_LT(ends.enter, ends.exit);
    }
    const Schedule made = out.build();
    EXPECT_TRUE(verify(made).empty()) << ranks;
    EXPECT_EQ(made.op_count(), ranks * (2 * barrier.rounds() + 2));
    EXPECT_EQ(made.control_channels(), std::vector<bool>(made.channels().size(), true));
    EXPECT_EQ(made.channels().size(), ranks * barrier.rounds());
  }
}

TEST(MessageBarrier, MakesChannelsOnce) {
  ProgramWriter out(3);
  MessageBarrier barrier(out, 3);
  const ChannelId first = barrier.channel(RankId(2), 1);
  EXPECT_EQ(first, ChannelId(0));
  EXPECT_EQ(barrier.channel(RankId(2), 1), first);
  EXPECT_EQ(out.channel(first).dst, RankId(1));
  EXPECT_EQ(out.channel(first).credit_on, first);
}

}  // namespace
}  // namespace slackline::sched
