// The edges that passes and patterns add, one by one: what waits for what on one rank.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sched/compile.h"
#include "sched/pass/lower_transfers.h"
#include "sched/pattern/pattern.h"

namespace slackline::sched {
namespace {

bool has_edge(const Schedule& schedule, OpId pred, OpId succ) {
  for (const Edge& edge : schedule.edges()) {
    if (edge.pred == pred && edge.succ == succ && edge.on == On::kDone) return true;
  }
  return false;
}

// Whether `pred` is done before `succ` is issued, by edges of their rank alone.
bool comes_before(const Schedule& schedule, OpId pred, OpId succ) {
  std::vector<bool> after(schedule.op_count());
  std::vector<OpId> open = {pred};
  bool first = true;
  while (!open.empty()) {
    const OpId from = open.back();
    open.pop_back();
    for (const Edge& edge : schedule.edges()) {
      if (edge.pred != from || (first && edge.on != On::kDone) || after[edge.succ.value]) continue;
      after[edge.succ.value] = true;
      open.push_back(edge.succ);
    }
    first = false;
  }
  return after[succ.value];
}

// A send waits for the one `in_flight` places before it on its rank, and for no other send.
TEST(LowerTransfers, ASendWaitsForTheOneSoManyPlacesBefore) {
  std::uint32_t waits = 0;
  for (const PatternEntry& pattern : plan_patterns()) {
    MulticastOptions multicast;
    multicast.ranks = 6;
    multicast.bytes = 5;
    const Plan plan = pattern.plan(multicast);
    for (std::uint32_t in_flight = 0; in_flight <= 3; ++in_flight) {
      TransferOptions options;
      options.in_flight = in_flight;
      const Schedule schedule = lower_transfers(plan, options);
      for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
        std::vector<OpId> sends;
        for (OpId id = schedule.first_op(RankId(r)); id < schedule.end_op(RankId(r)); ++id.value) {
          if (schedule.op(id).kind == OpKind::kSend) sends.push_back(id);
        }
        for (std::size_t k = 0; k < sends.size(); ++k) {
          for (std::size_t before = 0; before < k; ++before) {
            const bool expected = in_flight != 0 && before + in_flight == k;
            EXPECT_EQ(has_edge(schedule, sends[before], sends[k]), expected)
                << pattern.name << ", in flight " << in_flight << ", rank " << r << ": " << before
                << " and " << k;
            if (expected) ++waits;
          }
        }
      }
    }
  }
  EXPECT_GT(waits, 200u);
}

// With start=all the first message of a rank on every channel waits for the readiness of all its
// targets; with start=pairwise there are first messages that do not.
TEST(LowerCredits, TheFirstMessagesWaitForAllTargetsOrTheirOwn) {
  for (const char* start : {"all", "pairwise"}) {
    std::uint32_t awaited = 0;
    std::uint32_t not_awaited = 0;
    for (const PatternEntry& pattern : plan_patterns()) {
      for (const char* more : {"", ",ready=write", ",window=3"}) {
        const std::string spec =
            fmt::format("{}:ranks=6,bytes=4,block=1,start={}{}", pattern.name, start, more);
        const Schedule schedule = compile(parse_spec(spec));
        std::vector<OpId> message(schedule.channels().size());  // the first of each channel
        for (std::uint32_t i = schedule.op_count(); i-- > 0;) {
          const Op& op = schedule.ops()[i];
          if (is_initiator(op.kind)) message[op.channel.value] = OpId(i);
        }
        for (std::size_t c = 0; c < message.size(); ++c) {
          const ChannelId credit = schedule.channels()[c].credit_on;
          if (!credit.valid()) continue;
          const OpId notice = schedule.op(message[credit.value]).match;
          ASSERT_TRUE(notice.valid()) << spec;
          EXPECT_TRUE(comes_before(schedule, notice, message[c])) << spec;
          for (std::size_t d = 0; d < message.size(); ++d) {
            const Channel& other = schedule.channels()[d];
            if (d == c || !other.credit_on.valid()) continue;
            if (other.src != schedule.channels()[c].src) continue;
            ++(comes_before(schedule, notice, message[d]) ? awaited : not_awaited);
          }
        }
      }
    }
    EXPECT_GT(awaited, 100u);
    EXPECT_EQ(not_awaited == 0, start == std::string("all")) << not_awaited;
  }
}

// At the level `checksum` a pop reads the entry once its checksum has been seen there.
TEST(QueuePop, ReadsTheEntryAfterItsChecksum) {
  std::uint32_t pops = 0;
  for (const char* spec : {"queue:ranks=4,operations=6,op=pop,level=checksum",
                           "queue:ranks=3,clients=1,operations=9,level=checksum"}) {
    const Schedule schedule = compile(parse_spec(spec));
    OpId sum;  // the last get that waits for a checksum
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const Op& op = schedule.ops()[i];
      if (op.kind != OpKind::kGet) continue;
      if (schedule.arguments(op).expect == Expect::kUnequal) {
        sum = OpId(i);
        continue;
      }
      ASSERT_TRUE(sum.valid());
      EXPECT_TRUE(has_edge(schedule, sum, OpId(i))) << spec << ", op " << i;
      sum = {};
      ++pops;
    }
  }
  EXPECT_GT(pops, 10u);
}

}  // namespace
}  // namespace slackline::sched
