// Patterns whose last ranks are switches: proved for all small sizes, and what crosses each cable.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sched/compile.h"
#include "sched/pattern/switch_ranks.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

struct Shape {
  std::uint32_t ranks;
  std::uint32_t members;
  std::string tree;
};

// One switch above up to six members, and trees with and without places that stay free.
const std::vector<Shape> kShapes = {{1, 1, ""},      {2, 1, ""},    {3, 2, ""},    {4, 3, ""},
                                    {7, 6, ""},      {9, 5, "2x3"}, {5, 2, "1x2"}, {9, 6, "3x2"},
                                    {11, 7, "3x3"},  {3, 1, "4x2"}, {4, 2, "4x2"}, {12, 6, "2x2x2"},
                                    {14, 7, "2x2x2"}};

std::string spec_text(const Shape& shape, const std::string& pattern, std::uint64_t bytes,
                      const std::string& more) {
  return pattern + ":ranks=" + std::to_string(shape.ranks) + ",bytes=" + std::to_string(bytes) +
         ",block=3" + (shape.tree.empty() ? "" : ",fan-out=" + shape.tree) + more;
}

Schedule proved(const std::string& text) {
  const Spec spec = parse_spec(text);
  EXPECT_EQ(format_spec(parse_spec(format_spec(spec))), format_spec(spec));
  Schedule schedule = compile(spec);
  EXPECT_LE(schedule.op_count(), most_ops(spec) + 4 * spec.multicast.ranks * spec.messages) << text;
  const Diagnostics findings = verify(schedule);
  EXPECT_TRUE(findings.empty()) << text << ": " << findings.front().message;
  return schedule;
}

std::map<std::pair<RankId, RankId>, std::uint64_t> bytes_between(const Schedule& schedule) {
  std::map<std::pair<RankId, RankId>, std::uint64_t> bytes;
  for (const Op& op : schedule.ops()) {
    if (op.kind != OpKind::kSend) continue;
    const Channel& channel = schedule.channel(op.channel);
    const std::uint64_t payload = schedule.payload_bytes(op);
    if (payload != 0) bytes[{channel.src, channel.dst}] += payload;
  }
  return bytes;
}

TEST(SwitchPatterns, AreProvedForAllSmallSizes) {
  for (const Shape& shape : kShapes) {
    for (const std::uint64_t bytes : {0, 1, 3, 4, 10}) {
      for (const char* more : {"", ",window=2,in-flight=2", ",ready=write", ",ready=none",
                               ",window=3,in-flight=0,messages=2"}) {
        for (std::uint32_t root = 0; root < shape.members; ++root) {
          const std::string of_root = ",root=" + std::to_string(root) + more;
          proved(spec_text(shape, "switch-multicast", bytes, of_root));
          proved(spec_text(shape, "switch-reduce", bytes, of_root));
        }
        proved(spec_text(shape, "switch-allreduce", bytes, more));
      }
    }
  }
}

// A loss of a third, of all, and of none.
TEST(SwitchPatterns, RepairWhatIsLost) {
  for (const Shape& shape : kShapes) {
    for (const std::uint64_t bytes : {0, 3, 19}) {
      for (const char* more : {",loss=333333", ",loss=1000000", ",loss=333333,ready=none",
                               ",loss=500000,window=2,in-flight=2,ready=write,messages=2"}) {
        for (std::uint32_t seed = 0; seed < 6; ++seed) {
          proved(spec_text(shape, "switch-multicast", bytes,
                           ",root=" + std::to_string(seed % shape.members) +
                               ",seed=" + std::to_string(seed) + more));
        }
      }
    }
  }
  const std::string spec = "switch-multicast:ranks=9,bytes=64KiB,block=1KiB";
  EXPECT_EQ(compile(parse_spec(spec + ",seed=4")).digest(), compile(parse_spec(spec)).digest());
  EXPECT_NE(compile(parse_spec(spec + ",loss=100000,seed=4")).digest(),
            compile(parse_spec(spec + ",loss=100000,seed=5")).digest());
}

// Of 7 members that each miss some of 1024 blocks with a probability of 1 %: 71.7 are expected,
// with a deviation of 8.4. Each is asked for once and sent once more.
TEST(SwitchPatterns, LoseAsManyAsTheyShould) {
  const std::string spec = "switch-multicast:ranks=9,bytes=1MiB,block=1KiB,ready=none";
  const auto count = [](const Schedule& schedule, bool empty) {
    std::size_t sends = 0;
    for (const Op& op : schedule.ops()) {
      sends += op.kind == OpKind::kSend && (schedule.payload_bytes(op) == 0) == empty ? 1 : 0;
    }
    return sends;
  };
  const Schedule lossless = compile(parse_spec(spec));
  const Schedule lossy = compile(parse_spec(spec + ",loss=10000,seed=1"));
  const std::size_t lost = count(lossy, true);
  EXPECT_GT(lost, 71u - 26u);
  EXPECT_LT(lost, 71u + 26u);
  EXPECT_EQ(count(lossy, false), count(lossless, false) + lost);
}

// A multicast crosses each cable that leads to members once, in the one direction away from the
// root; an allreduce once in each.
TEST(SwitchPatterns, CrossEachCableOnce) {
  for (const Shape& shape : kShapes) {
    const SwitchRanks ranks(
        shape.ranks, parse_spec(spec_text(shape, "switch-allreduce", 10, "")).own<SwitchOptions>());
    ASSERT_EQ(ranks.members(), shape.members);
    const auto multicast =
        bytes_between(compile(parse_spec(spec_text(shape, "switch-multicast", 10, ""))));
    const auto both =
        bytes_between(compile(parse_spec(spec_text(shape, "switch-allreduce", 10, ""))));
    const auto up = bytes_between(compile(parse_spec(spec_text(shape, "switch-reduce", 10, ""))));
    std::size_t cables = 0;
    for (std::uint32_t r = 0; r < shape.ranks; ++r) {
      const auto above = ranks.above(RankId(r));
      if (!above) continue;
      ++cables;
      EXPECT_EQ(both.at({RankId(r), *above}), 10u);
      EXPECT_EQ(both.at({*above, RankId(r)}), 10u);
      EXPECT_EQ(up.at({RankId(r), *above}), 10u);
      EXPECT_EQ(multicast.count({RankId(r), *above}) + multicast.count({*above, RankId(r)}), 1u);
    }
    EXPECT_EQ(both.size(), 2 * cables);
    EXPECT_EQ(multicast.size(), cables);
    for (const auto& [ends, bytes] : multicast) EXPECT_EQ(bytes, 10u);
    // The sum goes down from the top to rank 0 alone: one cable a level.
    EXPECT_EQ(up.size(), cables + ranks.levels());
  }
}

// A member asks once a block has come that was not lost, or its timer has run out.
TEST(SwitchPatterns, AskWhenTheyKnow) {
  const Schedule schedule =
      compile(parse_spec("switch-multicast:ranks=9,bytes=64KiB,block=1KiB,ready=none,loss=400000"));
  std::size_t by_timer = 0;
  std::size_t questions = 0;
  for (const Edge& edge : schedule.edges()) {
    const Op& asks = schedule.op(edge.succ);
    if (asks.kind != OpKind::kSend || schedule.payload_bytes(asks) != 0) continue;
    ++questions;
    const Op& sees = schedule.op(edge.pred);
    if (sees.kind == OpKind::kDelay) {
      ++by_timer;
    } else {
      // Of a rank the message's buffer comes first.
      EXPECT_EQ(schedule.slices(sees.writes).front().buffer, BufferId(sees.rank.value));
    }
  }
  EXPECT_GT(questions, 100u);
  EXPECT_GT(by_timer, 0u);
  EXPECT_LT(by_timer, 40u);
}

TEST(SwitchPatterns, SayWhatTheyCannotBe) {
  const auto error = [](const std::string& spec) {
    return testing::error_of([&] { compile(parse_spec("switch-" + spec)); });
  };
  EXPECT_EQ(
      error("multicast:ranks=8,bytes=8,fan-out=2x3"),
      "ranks: 8 are no members with the switches of fan-out=2x3; expected 7 for 4 members, or 9 "
      "for 5");
  EXPECT_EQ(
      error("multicast:ranks=4,bytes=8,fan-out=2"),
      "ranks: 4 are no members with the switches of fan-out=2; expected 3 for 2 members, or a "
      "larger fan-out");
  EXPECT_EQ(error("allreduce:ranks=13,bytes=8,fan-out=2x3"),
            "fan-out: 2x3 has 2 switches at its last level for 7 members; expected one");
  EXPECT_EQ(error("reduce:ranks=9,bytes=8,fan-out=2x3,root=5"),
            "root: 5 is a switch; expected 0 to 4");
  EXPECT_EQ(error("multicast:ranks=9,bytes=8,root=8"), "root: 8 is a switch; expected 0 to 7");
  EXPECT_EQ(error("multicast:ranks=9,bytes=8,fan-out=2x0"),
            "fan-out: '0' is not a whole number from 1 to 16777216");
}

}  // namespace
}  // namespace slackline::sched
