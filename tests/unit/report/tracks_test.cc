#include "report/tracks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/support/compiled.h"
#include "tests/unit/analysis/program.h"

namespace slackline::report {
namespace {

struct Case {
  explicit Case(const std::string& spec)
      : schedule(testing::compiled(spec)),
        platform(machine::load_platform("fractus")),
        trace(analysis::run_analytic({schedule, platform})) {}
  std::vector<Track> tracks() const {
    const machine::Wiring wiring(platform, schedule.rank_count());
    return tracks_of({schedule, platform}, machine::Paths(schedule, wiring, {}), trace);
  }
  sched::Schedule schedule;
  machine::Platform platform;
  sched::Trace trace;
};

TEST(Tracks, AreInOrderAndHoldEveryMessageOnce) {
  const Case c("binomial-pipeline:ranks=8,bytes=4MiB,block=256KiB");
  std::set<std::uint32_t> sent, received;
  std::tuple<std::uint32_t, Band, std::uint32_t> before{};
  for (const Track& track : c.tracks()) {
    const std::tuple place(track.rank.value, track.band, track.lane);
    EXPECT_LE(before, place);
    before = place;
    EXPECT_TRUE(
        std::is_sorted(track.bars.begin(), track.bars.end(),
                       [](const TrackBar& a, const TrackBar& b) { return a.begin_s < b.begin_s; }));
    for (const TrackBar& bar : track.bars) {
      EXPECT_LE(bar.begin_s, bar.end_s);
      EXPECT_EQ(c.schedule.op(bar.op).rank, track.rank);
      if (track.band != Band::kOut && track.band != Band::kIn) continue;
      auto& seen = track.band == Band::kOut ? sent : received;
      EXPECT_TRUE(seen.insert(bar.op.value).second);
    }
  }
  std::size_t sends = 0;
  for (const sched::Op& op : c.schedule.ops()) sends += op.kind == sched::OpKind::kSend ? 1 : 0;
  EXPECT_EQ(sent.size(), sends);
  EXPECT_EQ(received.size(), sends);
}

TEST(Tracks, BarsOfALaneDoNotOverlap) {
  for (const Track& track : Case("allreduce:ranks=4,bytes=1MiB").tracks()) {
    if (track.band != Band::kLane) continue;
    for (std::size_t i = 1; i < track.bars.size(); ++i) {
      EXPECT_GE(track.bars[i].begin_s, track.bars[i - 1].end_s - 1e-15);
    }
  }
}

TEST(Tracks, LeaveOutWhatNeverHappened) {
  Case c("chain:ranks=3,bytes=1MiB");
  for (sched::OpTimes& t : c.trace.ops) {
    t.ready_s = t.issued_s = t.wire_s = t.done_s = std::numeric_limits<double>::infinity();
  }
  EXPECT_TRUE(c.tracks().empty() || std::all_of(c.tracks().begin(), c.tracks().end(),
                                                [](const Track& t) { return t.bars.empty(); }));
}

TEST(Tracks, LeaveOutWhatWasPassedOver) {
  Case c("chain:ranks=3,bytes=1MiB");
  for (std::size_t i = 0; i < c.trace.ops.size(); i += 2) c.trace.ops[i].attempts = 0;
  std::size_t bars = 0;
  for (const Track& track : c.tracks()) {
    for (const TrackBar& bar : track.bars) {
      ++bars;
      EXPECT_EQ(c.trace.ops[bar.op.value].attempts, 1u) << bar.op.value;
    }
  }
  EXPECT_GT(bars, 0u);
}

TEST(Tracks, OfARealRunEndMessagesAtTheirReceipt) {
  Case c("chain:ranks=2,bytes=1MiB,ready=none");
  c.trace.engine = "run:shm";
  EXPECT_TRUE(is_measured(c.trace));
  for (const Track& track : c.tracks()) {
    if (track.band != Band::kOut) continue;
    for (const TrackBar& bar : track.bars) {
      const sched::OpId match = c.schedule.op(bar.op).match;
      EXPECT_EQ(bar.end_s, c.trace.ops[match.value].done_s);
    }
  }
}

// 8 puts of 1000 bytes in two bundles, of which each is one message of 4 us.
TEST(Tracks, OfABundleEndWhenAllOfItHasLeft) {
  testing::Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  p.builder().channel(c).bundle = sched::Bundle::kTraditional;
  p.builder().channel(c).bundle_bytes = 4'000;
  for (int i = 0; i < 8; ++i) p.put(c, 1'000);
  const sched::Schedule schedule = p.build();
  const machine::Platform platform = machine::parse_platform_spec("star:rate=8Gbps,latency=1us");
  const sched::Trace trace = analysis::run_events({schedule, platform});
  const machine::Wiring wiring(platform, 2);
  std::size_t bars = 0;
  for (const Track& track :
       tracks_of({schedule, platform}, machine::Paths(schedule, wiring, {}), trace)) {
    if (track.band != Band::kOut) continue;
    for (const TrackBar& bar : track.bars) {
      EXPECT_NEAR(bar.end_s - bar.begin_s, 4e-6, 1e-12) << bar.op.value;
      ++bars;
    }
  }
  EXPECT_EQ(bars, 8u);
}

}  // namespace
}  // namespace slackline::report
