// What a stream counts is what the compiled schedule carries, and chances of noise are met exactly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/stream.h"
#include "machine/draw.h"
#include "sched/pattern/pattern.h"

namespace slackline::analysis {
namespace {

machine::Platform platform() {
  return machine::parse_platform_spec("star:rate=8Gbps,latency=2us,o_post=300ns,interleave=0");
}

TEST(StreamCounts, AreThoseOfTheSchedule) {
  for (const sched::PatternEntry& pattern : sched::plan_patterns()) {
    // Whole blocks, a short last one, a single one.
    for (const std::uint64_t bytes : {4000, 4100, 700}) {
      for (const std::uint32_t root : {0, 2}) {
        const sched::Spec spec = sched::parse_spec(
            fmt::format("{}:ranks=5,bytes={},block=1000,root={}", pattern.name, bytes, root));
        const auto found = stream(spec, platform());
        ASSERT_TRUE(found) << pattern.name;
        const sched::Schedule schedule = compile(spec);
        std::vector<std::uint64_t> sent(5), received(5);
        std::uint64_t transfers = 0;
        for (const sched::Op& op : schedule.ops()) {
          // Credits carry nothing.
          const std::uint64_t payload = schedule.payload_bytes(op);
          if (op.kind != sched::OpKind::kSend || payload == 0) continue;
          sent[op.rank.value] += payload;
          received[schedule.op(op.match).rank.value] += payload;
          ++transfers;
        }
        EXPECT_EQ(found->sent_bytes, sent) << pattern.name << ' ' << bytes << ' ' << root;
        EXPECT_EQ(found->received_bytes, received) << pattern.name << ' ' << bytes << ' ' << root;
        EXPECT_EQ(found->transfers, transfers) << pattern.name << ' ' << bytes << ' ' << root;
      }
    }
  }
}

using Wide = unsigned __int128;
constexpr Wide kMillion = 1'000'000;

// A seed with which the first draw of rank 1 that decides whether it is struck lies within.
std::uint64_t seed_with(Wide from, Wide to) {
  const std::uint64_t of_rank = machine::draw_stream(1, 1);
  for (std::uint64_t seed = 1;; ++seed) {
    const Wide bits = machine::draw_bits(of_rank, seed, 0);
    if (bits >= from && bits < to) return seed;
  }
}

// The first and the last draws that a chance takes in, and those next to them: a stream, its
// samples and the schedule's engine agree on each.
TEST(StreamCounts, ChancesAreMetAtTheirBounds) {
  const sched::Spec spec = sched::parse_spec("chain:ranks=3,bytes=4000,block=1000");
  const sched::Schedule schedule = compile(spec);
  const double quiet_s = stream(spec, platform())->makespan_s;
  for (const std::uint32_t chance : {1u, 999'999u, 1'000'000u}) {
    const Wide bound = (Wide{chance} << 64) / kMillion;
    const Wide width = (Wide{1} << 64) / kMillion / 2;
    for (const bool above : {false, true}) {
      if (above && chance == kMillion) continue;
      machine::DelayPlan plan;
      plan.seed = above ? seed_with(bound + 1, bound + width) : seed_with(bound - width, bound);
      plan.noise.resize(1);
      plan.noise[0].ranks = {sched::RankId(1)};
      plan.noise[0].of.low = plan.noise[0].of.high = sched::Time{100'000'000};
      plan.noise[0].chance = {chance};
      const double makespan_s = stream(spec, platform(), plan)->makespan_s;
      // Struck or not, the others of the rank's draws are likely what the chance says.
      if (chance == 1) {
        EXPECT_EQ(makespan_s > quiet_s, !above);
      }
      EXPECT_EQ(makespan_s, run_analytic({schedule, platform(), plan}).makespan_s()) << chance;
      const auto samples = stream_samples(spec, platform(), plan, {1, 1, {}});
      ASSERT_TRUE(samples);
      EXPECT_EQ(samples->samples.makespan_s[0], makespan_s) << chance << ' ' << above;
    }
  }
}

TEST(StreamCounts, SamplesSayHowManyAreDone) {
  const sched::Spec spec = sched::parse_spec("chain:ranks=40,bytes=400000,block=1000");
  machine::DelayPlan plan;
  plan.noise.resize(1);
  plan.noise[0].of.low = sched::Time{1'000'000};
  std::uint32_t last = 0;
  const auto samples = stream_samples(spec, platform(), plan, {37, 1, [&](std::uint32_t done) {
                                                                 EXPECT_LE(last, done);
                                                                 last = done;
                                                               }});
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->samples.makespan_s.size(), 37u);
  EXPECT_TRUE(last == 0 || last == 16 || last == 32 || last == 37) << last;
}

}  // namespace
}  // namespace slackline::analysis
