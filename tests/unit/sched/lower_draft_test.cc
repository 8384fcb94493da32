// A draft that is given back as it is lowered, and one that stays, come to the same schedule.
#include "sched/pass/lower_draft.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/mix.h"
#include "sched/compile.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

TEST(LowerDraft, IsThatOfTheDraftItself) {
  // Large enough that memory is given back in between: 2^13 operations at a time.
  for (const char* way : {"", ",ready=write,window=2", ",start=all", ",lower=put,in-flight=0"}) {
    SCOPED_TRACE(way);
    const Spec spec =
        parse_spec(fmt::format("binomial-pipeline:ranks=64,bytes=300MiB,block=1MiB{}", way));
    const Plan plan = plan_of(spec);
    Schedule draft = draft_transfers(plan, spec.transfers);
    ASSERT_GT(draft.op_count(), 4u << 13);
    const Schedule kept = lower_credits(draft, spec.credits);
    const Schedule given_back = lower_credits_of_draft(std::move(draft), spec.credits);
    EXPECT_EQ(to_string(given_back.digest()), to_string(kept.digest()));
    EXPECT_EQ(to_string(digest_of(given_back)), to_string(given_back.digest()));
  }
}

// Edges that stand by rank are sorted rank by rank; these do and do not, with repeats.
TEST(LowerDraft, EdgesComeOutAlikeInWhateverOrderTheyCame) {
  constexpr std::uint32_t kRanks = 5;
  constexpr std::uint32_t kOfRank = 40;
  const auto built = [](bool by_rank) {
    ProgramWriter out(kRanks + 1);  // the last rank has none
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      for (std::uint32_t i = 0; i < kOfRank; ++i) out.join({RankId(r)});
    }
    for (std::uint32_t k = 0; k < kRanks * kOfRank * 4; ++k) {
      const std::uint32_t rank = by_rank ? k / (kOfRank * 4) : k % kRanks;
      const std::uint64_t number = by_rank ? k % (kOfRank * 4) : k / kRanks;
      const auto succ = 1 + below(draw(7, {rank, number, 0}), kOfRank - 1);
      const auto pred = below(draw(7, {rank, number, 1}), succ);
      const On on = draw(7, {rank, number, 2}) % 2 == 0 ? On::kDone : On::kIssued;
      out.add_edge(OpId(rank * kOfRank + pred), OpId(rank * kOfRank + succ), on);
    }
    return out.build();
  };
  const Schedule by_rank = built(true);
  const Schedule mixed_up = built(false);
  EXPECT_EQ(to_string(by_rank.digest()), to_string(mixed_up.digest()));
  ASSERT_FALSE(by_rank.edges().empty());
  for (std::size_t e = 1; e < by_rank.edges().size(); ++e) {
    const Edge& a = by_rank.edges()[e - 1];
    const Edge& b = by_rank.edges()[e];
    EXPECT_LT(std::pair(a.succ, a), std::pair(b.succ, b)) << e;
  }
  for (std::uint32_t i = 0; i < by_rank.op_count(); ++i) {
    for (const Edge& edge : by_rank.edges_into(OpId(i))) EXPECT_EQ(edge.succ, OpId(i));
  }
}

}  // namespace
}  // namespace slackline::sched
