// What became of ranks in runs with failures, by hand. NICs of 1 GB/s, 1 us of latency, no
// overheads: 10,000 bytes take 10 us to leave and arrive a microsecond later.
#include "analysis/outcome.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "machine/platform.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::DelayPlan;
using sched::OpId;
using sched::RankId;
using sched::Schedule;
using testing::Program;
using testing::us;

constexpr std::uint64_t kBytes = 10'000;

struct Ran {
  Schedule schedule;
  machine::Paths paths;
  sched::Trace trace;
  Outcome outcome;

  Ran(Schedule s, const DelayPlan& plan, const machine::Platform& platform)
      : schedule(std::move(s)),
        paths(schedule, machine::Wiring(platform, schedule.rank_count()), plan),
        trace(run_events({schedule, platform, plan})),
        outcome(outcome_of(schedule, paths, trace)) {}
  Ran(Schedule s, const DelayPlan& plan)
      : Ran(std::move(s), plan, machine::parse_platform_spec("star:rate=8Gbps,latency=1us")) {}

  std::vector<RankFate> fates() const {
    std::vector<RankFate> result;
    for (const RankOutcome& rank : outcome.ranks) result.push_back(rank.fate);
    return result;
  }
  const RankOutcome& rank(std::uint32_t r) const { return outcome.ranks[r]; }
  std::string why(std::uint32_t op) const { return why_stuck(schedule, paths, trace, OpId(op)); }
};

using Fates = std::vector<RankFate>;
constexpr RankFate kComplete = RankFate::kComplete;
constexpr RankFate kGone = RankFate::kGone;
constexpr RankFate kCutOff = RankFate::kCutOff;
constexpr RankFate kStranded = RankFate::kStranded;

DelayPlan link_fails(const char* link, double at_us) {
  DelayPlan plan;
  plan.failures.push_back({link, RankId::none(), us(at_us)});
  return plan;
}
DelayPlan rank_fails(std::uint32_t rank, double at_us) {
  DelayPlan plan;
  plan.failures.push_back({"", RankId(rank), us(at_us)});
  return plan;
}

// Four ranks, each passing on to the next what it received: op 0 sends, 1 receives, 2 sends, 3
// receives, 4 sends, 5 receives. Rank r receives at 11 r us.
Schedule relay() {
  Program p(4);
  const sched::ChannelId to[] = {p.channel(0, 1), p.channel(1, 2), p.channel(2, 3)};
  p.send(to[0], kBytes);
  for (std::uint32_t r = 1; r < 4; ++r) {
    const OpId in = p.recv(to[r - 1], kBytes);
    if (r < 3) p.after({in}, p.send(to[r], kBytes));
  }
  return p.build();
}

TEST(Outcome, WithoutFailuresIsComplete) {
  const Ran run(relay(), {});
  EXPECT_TRUE(run.outcome.complete);
  EXPECT_EQ(run.fates(), (Fates{kComplete, kComplete, kComplete, kComplete}));
  EXPECT_NEAR(run.outcome.last_done_s, 34e-6, 1e-12);  // the last acknowledgement
  EXPECT_EQ(run.outcome.delivered_bytes, 3 * kBytes);
  EXPECT_EQ(run.outcome.expected_bytes, 3 * kBytes);
  EXPECT_EQ(run.rank(0).expected_bytes, 0u);
  EXPECT_EQ(run.rank(1).ops, 2u);
  EXPECT_EQ(run.rank(1).ops_done, 2u);
  EXPECT_NEAR(run.rank(1).last_done_s, 23e-6, 1e-12);
  EXPECT_FALSE(run.rank(1).stuck.valid());
}

// Rank 1 is gone after it has received, in the middle of sending: rank 2, which waits for it alone,
// is cut off, and rank 3, whose way from 2 is sound, stranded. Rank 0 was acknowledged at 12 us.
TEST(Outcome, OfAHostThatFails) {
  const Ran run(relay(), rank_fails(1, 15));
  EXPECT_FALSE(run.outcome.complete);
  EXPECT_EQ(run.fates(), (Fates{kComplete, kGone, kCutOff, kStranded}));
  EXPECT_NEAR(run.rank(0).last_done_s, 12e-6, 1e-12);
  EXPECT_NEAR(run.rank(1).last_done_s, 11e-6, 1e-12);
  EXPECT_EQ(run.rank(1).ops_done, 1u);
  EXPECT_EQ(run.rank(1).delivered_bytes, kBytes);
  EXPECT_EQ(run.rank(1).stuck, OpId(2));
  EXPECT_EQ(run.rank(2).stuck, OpId(3));
  EXPECT_EQ(run.rank(2).ops_done, 0u);
  EXPECT_EQ(run.rank(2).delivered_bytes, 0u);
  EXPECT_EQ(run.rank(2).expected_bytes, kBytes);
  EXPECT_EQ(run.rank(3).stuck, OpId(5));
  EXPECT_NEAR(run.outcome.last_done_s, 12e-6, 1e-12);
  EXPECT_EQ(run.outcome.delivered_bytes, kBytes);
  EXPECT_EQ(run.outcome.expected_bytes, 3 * kBytes);
  EXPECT_EQ(run.why(2), "op 2 (send, rank 1): its host failed at 15 us");
  EXPECT_EQ(run.why(3), "op 3 (recv, rank 2): its message, op 2 (send, rank 1), was lost");
  EXPECT_EQ(run.why(4), "op 4 (send, rank 2): it waits for op 3 (recv, rank 2)");
  EXPECT_EQ(run.why(5), "op 5 (recv, rank 3): its message, op 4 (send, rank 2), was never sent");
}

// A rank that has done all it had to do by then is complete; so are the others.
TEST(Outcome, OfAHostThatFailsAfterItsPart) {
  const Ran run(relay(), rank_fails(0, 13));
  EXPECT_TRUE(run.outcome.complete);
  EXPECT_EQ(run.fates(), (Fates{kComplete, kComplete, kComplete, kComplete}));
}

// The way into rank 1 fails while its message is on it. Rank 0, which waits for an acknowledgement
// alone, is stranded.
TEST(Outcome, OfALinkThatFails) {
  const Ran run(relay(), link_fails("host-1.in", 5));
  EXPECT_EQ(run.fates(), (Fates{kStranded, kCutOff, kStranded, kStranded}));
  EXPECT_EQ(run.outcome.delivered_bytes, 0u);
  EXPECT_EQ(run.outcome.last_done_s, 0);
  EXPECT_EQ(run.why(0), "op 0 (send, rank 0): its message or its acknowledgement was lost");
  EXPECT_EQ(run.why(1), "op 1 (recv, rank 1): its message, op 0 (send, rank 0), was lost");
  EXPECT_EQ(run.why(2), "op 2 (send, rank 1): it waits for op 1 (recv, rank 1)");
}

// The way back alone: everything is delivered, and rank 0 never learns of it.
TEST(Outcome, OfALostAcknowledgement) {
  const Ran run(relay(), link_fails("host-0.in", 5));
  EXPECT_FALSE(run.outcome.complete);
  EXPECT_EQ(run.fates(), (Fates{kStranded, kComplete, kComplete, kComplete}));
  EXPECT_EQ(run.outcome.delivered_bytes, 3 * kBytes);
  EXPECT_NEAR(run.outcome.last_done_s, 34e-6, 1e-12);
  EXPECT_EQ(run.rank(0).stuck, OpId(0));
  EXPECT_EQ(run.why(0), "op 0 (send, rank 0): its acknowledgement was lost");
}

// A link that fails when the last byte has left it in time takes nothing: failures are of links,
// and the latency's part of the way is past them.
TEST(Outcome, OfALinkThatFailsBehindAMessage) {
  const Ran run(relay(), link_fails("host-0.out", 10.5));
  EXPECT_EQ(run.rank(1).delivered_bytes, kBytes);
  EXPECT_EQ(run.fates(), (Fates{kComplete, kComplete, kComplete, kComplete}));
}

// Rank 2 waits for two messages, of which only one's way has failed: it is not cut off. Sends of
// one rank behind a message that cannot leave never leave either.
TEST(Outcome, IsStrandedWhileAWayIsOpen) {
  Program p(3);
  const sched::ChannelId a = p.channel(0, 2);
  const sched::ChannelId b = p.channel(1, 2);
  const sched::ChannelId c = p.channel(0, 1);
  p.send(a, kBytes);                      // op 0: lost
  p.send(c, kBytes);                      // op 1: behind it, gone with rank 0
  const OpId before = p.recv(c, kBytes);  // op 2
  p.after({before}, p.send(b, kBytes));   // op 3
  p.recv(a, kBytes);                      // op 4
  p.recv(b, kBytes);                      // op 5
  const Ran run(p.build(), rank_fails(0, 5));
  EXPECT_EQ(run.fates(), (Fates{kGone, kCutOff, kStranded}));
  EXPECT_EQ(run.rank(2).stuck, OpId(4));
  EXPECT_EQ(run.rank(2).expected_bytes, 2 * kBytes);
  EXPECT_EQ(run.why(2), "op 2 (recv, rank 1): its message, op 1 (send, rank 0), was never sent");
  EXPECT_EQ(run.why(4), "op 4 (recv, rank 2): its message, op 0 (send, rank 0), was lost");
}

// Of gets and atomics the bytes come back to who asked.
TEST(Outcome, CountsRepliesWhereTheyArrive) {
  Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  p.get(c, kBytes);
  const OpId add = p.fetch_add(c, 0);
  p.after({add}, p.get(c, 500));
  const Ran healthy(p.build(), {});
  EXPECT_TRUE(healthy.outcome.complete);
  EXPECT_EQ(healthy.rank(0).delivered_bytes, kBytes + 8 + 500);
  EXPECT_EQ(healthy.rank(1).expected_bytes, 0u);

  Program q(2);
  const sched::ChannelId d = q.channel(0, 1);
  q.get(d, kBytes);
  const Ran run(q.build(), link_fails("host-1.out", 5));
  EXPECT_EQ(run.fates(), (Fates{kCutOff, kComplete}));
  EXPECT_EQ(run.rank(0).expected_bytes, kBytes);
  EXPECT_EQ(run.rank(0).delivered_bytes, 0u);
  EXPECT_EQ(run.why(0), "op 0 (get, rank 0): its message or its acknowledgement was lost");
}

// A put whose flag is polled: the poll waits for a message.
TEST(Outcome, OfAPollWithoutItsPut) {
  Program p(2);
  const OpId put = p.put(p.channel(0, 1), kBytes, sched::Notify::kFlag);
  p.flag(put, p.poll(1));
  const Ran run(p.build(), rank_fails(0, 0));
  EXPECT_EQ(run.fates(), (Fates{kGone, kCutOff}));
  EXPECT_EQ(run.why(1), "op 1 (poll, rank 1): its message, op 0 (put, rank 0), was never sent");
}

// The uplink of a rack: what stays in the rack is delivered.
TEST(Outcome, OfAnUplinkThatFails) {
  Program p(4);
  const sched::ChannelId near = p.channel(0, 1);
  const sched::ChannelId far = p.channel(0, 2);
  const sched::ChannelId back = p.channel(3, 1);
  p.send(near, kBytes);
  p.send(far, kBytes);
  p.recv(near, kBytes);
  p.recv(back, kBytes);
  p.recv(far, kBytes);
  p.send(back, kBytes);
  const Ran run(p.build(), link_fails("rack-0.up", 0),
                machine::parse_platform_spec("two-level:racks=2,hosts=2,rate=8Gbps,latency=1us"));
  // Rank 0 and rank 3 wait for acknowledgements: 2's, and 1's over the failed uplink.
  EXPECT_EQ(run.fates(), (Fates{kStranded, kComplete, kCutOff, kStranded}));
  EXPECT_EQ(run.rank(1).delivered_bytes, 2 * kBytes);
  EXPECT_EQ(run.rank(2).delivered_bytes, 0u);
  EXPECT_EQ(run.rank(0).ops_done, 1u);
}

// Two receives of what one operation sends twice: only the first has it by the schedule.
TEST(Outcome, OfWhatIsSentAgain) {
  Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  sched::Region repeat;
  repeat.kind = sched::RegionKind::kRepeat;
  repeat.entry = p.send(c, kBytes);
  repeat.count = 1;
  repeat.max_attempts = 2;
  p.builder().add_region(repeat);
  p.recv(c, kBytes);
  p.recv(c, kBytes);
  const Ran run(p.build(), rank_fails(0, 5));
  EXPECT_EQ(run.why(2), "op 2 (recv, rank 1): its message never came");
}

// A put that is passed over, and one that runs three times, each 12 us after the other.
TEST(Outcome, CountsEachAttempt) {
  for (const auto& [at_us, sent] : {std::pair(15.0, 2u), std::pair(30.0, 3u)}) {
    Program p(2);
    const sched::ChannelId c = p.channel(0, 1);
    sched::Region alt;
    alt.kind = sched::RegionKind::kAlt;
    alt.entry = p.put(c, 500);
    alt.count = 1;
    alt.p.value = 1;
    p.builder().add_region(alt);
    sched::Region repeat;
    repeat.kind = sched::RegionKind::kRepeat;
    repeat.entry = p.put(c, kBytes);
    repeat.count = 1;
    repeat.max_attempts = 3;
    p.builder().add_region(repeat);
    const Ran run(p.build(), link_fails("host-1.in", at_us));
    EXPECT_EQ(run.rank(1).expected_bytes, sent * kBytes);
    EXPECT_EQ(run.rank(1).delivered_bytes, (sent - 1) * kBytes);
  }
}

TEST(Outcome, NamesFates) {
  EXPECT_EQ(name(kComplete), "complete");
  EXPECT_EQ(name(kGone), "gone");
  EXPECT_EQ(name(kCutOff), "cut off");
  EXPECT_EQ(name(kStranded), "stranded");
}

}  // namespace
}  // namespace slackline::analysis
