// Collectives of which one rank stands for all, against the engines that have the whole schedule:
// the same times to the last bit wherever there is an answer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/stream.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Spec;
using testing::Dice;

struct Family {
  std::string spec;
  bool pairs = false;  // ranks are a power of two
  bool even = false;   // bytes are a multiple of the ranks
  bool sums = false;   // has operands
};

// Of 2 to 20 ranks, or to 32.
Spec random_spec(Dice& dice, const Family& family) {
  const std::uint32_t ranks = family.pairs ? 2u << dice.below(5) : 2 + dice.below(19);
  const std::uint64_t share = dice.pick<std::uint64_t>({0, 100, 5'000, 30'001, 70'000});
  const std::uint64_t bytes = family.even ? share * ranks : share + dice.below(3);
  std::string text = fmt::format("{},ranks={},in-flight={},window={},ready={}", family.spec, ranks,
                                 dice.pick({1, 1, 1, 2, 0}), dice.pick({1, 1, 1, 2, 3}),
                                 dice.pick({"send", "send", "send", "write", "none"}));
  if (!family.spec.starts_with("barrier")) {
    text += fmt::format(",bytes={},block={}", bytes,
                        dice.pick<std::uint64_t>({4u << 20, 4u << 20, 60'000, 1'000}));
  }
  if (family.sums) {
    text += fmt::format(",slots={},adders={}", 1 + dice.below(3), dice.pick({0, 0, 1, 2, 3}));
  } else if (!family.spec.starts_with("alltoall") && dice.one_in(4)) {
    text += ",start=all";
  }
  return sched::parse_spec(text);
}

class CollectiveStreams : public ::testing::TestWithParam<Family> {};

TEST_P(CollectiveStreams, OneRankStandsForAll) {
  std::uint32_t answered = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Spec spec = random_spec(dice, GetParam());
    const auto nic =
        dice.one_in(3) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial;
    const Platform platform = testing::random_platform(dice, nic);
    const auto stream = analysis::stream(spec, platform);
    if (!stream) continue;
    ++answered;
    SCOPED_TRACE(fmt::format("seed {}: {} on {}", seed, format_spec(spec), platform.spec()));
    ASSERT_TRUE(stream->exact);
    const sched::Schedule schedule = compile(spec);
    const sched::Trace trace = analysis::run_analytic({schedule, platform});
    ASSERT_EQ(stream->makespan_s, trace.makespan_s());
    ASSERT_EQ(stream->rank_finish_s, machine::rank_finish_s(schedule, trace.ops));
    ASSERT_FALSE(trace.contended);
    ASSERT_EQ(stream->message_bytes, schedule.message_bytes());
    std::vector<std::uint64_t> sent(schedule.rank_count()), received(schedule.rank_count());
    for (const sched::Op& op : schedule.ops()) {
      if (!op.channel.valid() || op.kind == sched::OpKind::kRecv) continue;
      sent[op.rank.value] += schedule.payload_bytes(op);
      received[schedule.channel(op.channel).dst.value] += schedule.payload_bytes(op);
    }
    ASSERT_EQ(stream->sent_bytes, sent);
    ASSERT_EQ(stream->received_bytes, received);
  }
  EXPECT_GT(answered, 80u);
}

// Where ranks differ, or a port may choose by their numbers, the schedule is made.
TEST(StreamOfCollective, IsRefusedWhereRanksDiffer) {
  const Platform star = machine::parse_platform_spec("star:rate=100Gbps,o_post=200ns,latency=1us");
  const auto why = [&](const std::string& spec, const Platform& platform,
                       const machine::DelayPlan& delays = {}) {
    const Spec parsed = sched::parse_spec(spec);
    const auto reason = analysis::why_not_streamed(parsed, platform, delays);
    EXPECT_TRUE(!reason || !analysis::stream(parsed, platform, delays)) << spec;
    return reason.value_or("");
  };
  const std::string ring = "allreduce:by=ring,ranks=8,bytes=8MiB,block=8MiB";
  EXPECT_EQ(why(ring, star), "");
  const std::string differ = " has no steps, and its ranks do not all do the same";
  for (const char* const spec :
       {"allreduce:by=ring,ranks=8,bytes=8388609", "allreduce:by=circulant,ranks=8,bytes=8MiB",
        "allreduce:by=recursive-doubling,ranks=6,bytes=8MiB",
        "allreduce:by=hierarchical,ranks=8,bytes=8MiB", "allreduce:by=ring,ranks=1,bytes=8MiB",
        "allreduce:by=rabenseifner,ranks=8,bytes=8MiB,block=4194303"}) {
    EXPECT_EQ(why(spec, star), "allreduce" + differ) << spec;
  }
  EXPECT_EQ(why("allreduce:by=rabenseifner,ranks=8,bytes=8MiB,block=4MiB", star), "");
  EXPECT_EQ(why("allgather:by=recursive-doubling,ranks=8,bytes=1MiB,block=4MiB", star), "");
  EXPECT_EQ(why("allgather:by=recursive-doubling,ranks=8,bytes=1MiB,block=4194303", star),
            "allgather" + differ);
  EXPECT_EQ(why("allgather:by=circulant,ranks=8,bytes=1MiB,block=1MiB", star), "");
  EXPECT_EQ(why("allgather:by=circulant,ranks=8,bytes=1MiB,block=1048575", star),
            "allgather" + differ);
  EXPECT_EQ(why("reduce:ranks=8,bytes=8MiB", star), "reduce" + differ);
  EXPECT_EQ(why(ring + ",messages=2", star), "there are several messages");
  EXPECT_EQ(why(ring + ",stripes=2", star), "messages go in stripes");
  EXPECT_EQ(why(ring, machine::load_platform("apt")), "the network is no star");
  EXPECT_EQ(why(ring, machine::load_platform("fractus:placement=random:1")),
            "ranks have places, which may be wrong");
  machine::DelayPlan delays;
  delays.stragglers.push_back({sched::RankId(0), 2, sched::Time{0}});
  EXPECT_EQ(why(ring, star, delays), "delays make ranks differ");
  EXPECT_FALSE(analysis::stream_samples(sched::parse_spec(ring), star, delays, {2, 1, {}}));
  // Messages of several ranks, or messages and credits, may meet at a serial port.
  for (const char* text : {"alltoall:ranks=8,bytes=1MiB,window=2", "alltoall:ranks=8,bytes=1KiB"}) {
    const Spec met = sched::parse_spec(text);
    EXPECT_EQ(analysis::why_not_streamed(met, star, {}), std::nullopt);
    EXPECT_FALSE(analysis::stream(met, star)) << text;
  }
}

// What one rank does takes memory for its steps, not for the square of the ranks.
TEST(StreamOfCollective, AnswersForManyRanks) {
  const Platform star =
      machine::parse_platform_spec("star:rate=8Gbps,o_post=1us,latency=2us,interleave=0");
  const auto stream = analysis::stream(
      sched::parse_spec_of_any_size("allgather:by=ring,ranks=65536,bytes=1000000"), star);
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->sent_bytes.back(), 65535ull * 1000000);
  EXPECT_EQ(stream->transfers, 65535ull * 65536);
  // In each step 1 ms on the wire and at least two posts, the latencies there and back.
  EXPECT_GT(stream->makespan_s, 65535 * 1.004e-3);
  EXPECT_LT(stream->makespan_s, 65535 * 1.012e-3);
}

INSTANTIATE_TEST_SUITE_P(
    Families, CollectiveStreams,
    ::testing::Values(Family{"allgather:by=ring"}, Family{"allgather:by=bruck"},
                      Family{"allgather:by=circulant"},
                      Family{"allgather:by=recursive-doubling", true},
                      Family{"reduce-scatter:by=ring", false, true, true},
                      Family{"reduce-scatter:by=recursive-halving", true, true, true},
                      Family{"allreduce:by=ring", false, true, true},
                      Family{"allreduce:by=recursive-doubling", true, false, true},
                      Family{"allreduce:by=rabenseifner", true, true, true},
                      Family{"allreduce:by=bruck", false, false, true},
                      Family{"alltoall:by=pairwise"}, Family{"alltoall:by=bruck"},
                      Family{"barrier:by=circulant"}, Family{"barrier:by=ring"},
                      Family{"barrier:by=bruck"}, Family{"barrier:by=recursive-doubling", true}),
    [](const auto& test) {
      std::string name = test.param.spec;
      std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return name;
    });

}  // namespace
}  // namespace slackline
