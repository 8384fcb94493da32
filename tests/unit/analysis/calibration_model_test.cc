// The equations of measured points, against the event engine.
#include "analysis/fit/calibration_model.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/measured.h"

namespace slackline::testing {
namespace {

using analysis::predicted_s;
using analysis::unknowns_of;

std::vector<machine::Platform> platforms() {
  std::vector<machine::Platform> all;
  for (const char* spec :
       {"star:rate=100Gbps,latency=600ns,o_post=200ns,o_complete=150ns,gap=20ns,"
        "atomic_service=250ns,copy_rate=64Gbps",
        "star:rate=25Gbps,latency=1.7us,o_post=70ns,o_complete=31ns,gap=500ns,"
        "atomic_service=90ns,copy_rate=10GBps",
        "star:rate=8Gbps,latency=3us,o_post=0,o_complete=0,gap=100ns,interleave=0",
        "star:rate=40Gbps,latency=10ns,o_post=1us,o_complete=1us,gap=0,interleave=64KiB"}) {
    all.push_back(machine::parse_platform_spec(spec));
  }
  return all;
}

TEST(CalibrationModel, SaysWhatTheEventEngineSays) {
  for (const machine::Platform& platform : platforms()) {
    for (int k = 0; k < analysis::kPointKinds; ++k) {
      const auto kind = static_cast<PointKind>(k);
      if (kind == PointKind::kBehind) continue;
      for (const std::uint64_t bytes : {1u, 8u, 100u, 1000u, 4096u, 5000u, 100'000u}) {
        if (kind == PointKind::kAtomic && bytes != 8) continue;
        for (const std::uint64_t messages : {1u, 2u, 3u, 10u, 33u}) {
          const MeasuredPoint point = measured(kind, bytes, messages, platform);
          EXPECT_NEAR(predicted_s(point, unknowns_of(platform)), point.seconds,
                      1e-9 * point.seconds)
              << name(kind) << ' ' << bytes << " bytes " << messages << " times on "
              << platform.spec();
        }
      }
    }
  }
}

// Posts are over before the first completion comes, and a stream's last post before its turn.
TEST(CalibrationModel, SaysWhatCompletionsCost) {
  for (const char* spec :
       {"star:rate=100Gbps,latency=600ns,o_post=90ns,o_complete=150ns,gap=20ns,atomic_service="
        "250ns,"
        "copy_rate=64Gbps,o_post_recv=70ns,o_signal=30ns,o_poll=110ns,o_match=45ns",
        "star:rate=25Gbps,latency=1.7us,o_post=70ns,o_complete=31ns,gap=500ns,o_signal=10ns,"
        "o_poll=600ns,poll_batch=4",
        "star:rate=8Gbps,latency=3us,o_post=0,o_complete=0,gap=100ns,interleave=0,o_match=2us",
        "star:rate=40Gbps,latency=10ns,o_post=1us,o_complete=1us,gap=0,o_signal=300ns,o_match=1us,"
        "o_poll=2us,poll_batch=1000"}) {
    const machine::Platform platform = machine::parse_platform_spec(spec);
    for (int k = 0; k < analysis::kPointKinds; ++k) {
      const auto kind = static_cast<PointKind>(k);
      if (kind == PointKind::kBehind) continue;
      const bool held = kind == PointKind::kSignaled || kind == PointKind::kDrain;
      for (const std::uint64_t bytes : {8u, 1000u, 5000u, 1'000'000u}) {
        if (kind == PointKind::kAtomic && bytes != 8) continue;
        if (held && bytes < 1'000'000) continue;
        for (const std::uint64_t messages : {1u, 2u, 3u, 10u, 33u}) {
          const MeasuredPoint point = measured(kind, bytes, messages, platform);
          EXPECT_NEAR(predicted_s(point, unknowns_of(platform), platform.poll_batch), point.seconds,
                      1e-9 * point.seconds + 1e-15)
              << name(kind) << ' ' << bytes << " bytes " << messages << " times on "
              << platform.spec();
        }
      }
    }
  }
}

using analysis::index_of;
using analysis::is_paced;
using analysis::Pace;
using analysis::Unknown;
using analysis::Unknowns;

// Of equal figures, a post paces before a gap, and a gap before the wire.
TEST(CalibrationModel, SaysWhatPaces) {
  const auto pace = [](PointKind kind, double post, double gap, double byte) {
    Unknowns figures{};
    figures[index_of(Unknown::kPost)] = post;
    figures[index_of(Unknown::kGap)] = gap;
    figures[index_of(Unknown::kByte)] = byte;
    return analysis::pace_under({kind, 10, 4, 1, 0}, figures);
  };
  const PointKind stream = PointKind::kStream, burst = PointKind::kBurst;
  EXPECT_EQ(pace(stream, 20, 20, 2), Pace::kPost);
  EXPECT_EQ(pace(stream, 20, 19, 1), Pace::kPost);
  EXPECT_EQ(pace(stream, 19, 20, 2), Pace::kGap);
  EXPECT_EQ(pace(stream, 20, 21, 1), Pace::kGap);
  EXPECT_EQ(pace(stream, 20, 19, 2.1), Pace::kWire);
  EXPECT_EQ(pace(stream, 20, 20, 2.1), Pace::kWire);
  EXPECT_EQ(pace(burst, 99, 20, 2), Pace::kGap);
  EXPECT_EQ(pace(burst, 99, 19, 2), Pace::kWire);
  // One message has no pace.
  for (int k = 0; k < analysis::kPointKinds; ++k) {
    const auto kind = static_cast<PointKind>(k);
    EXPECT_FALSE(is_paced({kind, 10, 1, 1, 0})) << name(kind);
    EXPECT_EQ(is_paced({kind, 10, 2, 1, 0}), kind == stream || kind == burst) << name(kind);
  }
}

// Every figure of a kind, as often as it is paid.
TEST(CalibrationModel, HasARowOfEachKind) {
  // post, complete, gap, latency, byte, atomic, copy byte, copy start: in the order of Unknown.
  const auto row = [](PointKind kind, Pace pace) {
    const Unknowns found = analysis::row_of({kind, 10, 3, 1, 0}, pace);
    std::vector<double> named;
    for (const Unknown u :
         {Unknown::kPost, Unknown::kComplete, Unknown::kGap, Unknown::kLatency, Unknown::kByte,
          Unknown::kAtomic, Unknown::kCopyByte, Unknown::kCopyStart}) {
      named.push_back(found[index_of(u)]);
    }
    return named;
  };
  using Row = std::vector<double>;
  EXPECT_EQ(row(PointKind::kPost, Pace::kGap), (Row{3, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(row(PointKind::kPingpong, Pace::kGap), (Row{3, 3, 0, 3, 30, 0, 0, 0}));
  EXPECT_EQ(row(PointKind::kSend, Pace::kGap), (Row{3, 3, 0, 6, 30, 0, 0, 0}));
  EXPECT_EQ(row(PointKind::kGet, Pace::kGap), (Row{3, 3, 0, 6, 30, 0, 0, 0}));
  EXPECT_EQ(row(PointKind::kAtomic, Pace::kGap), (Row{3, 3, 0, 6, 30, 3, 0, 0}));
  for (const PointKind kind : {PointKind::kStream, PointKind::kBurst}) {
    EXPECT_EQ(row(kind, Pace::kGap), (Row{1, 1, 2, 2, 10, 0, 0, 0}));
    EXPECT_EQ(row(kind, Pace::kPost), (Row{3, 1, 0, 2, 10, 0, 0, 0}));
    EXPECT_EQ(row(kind, Pace::kWire), (Row{1, 1, 0, 2, 30, 0, 0, 0}));
  }
  EXPECT_EQ(row(PointKind::kCopy, Pace::kGap), (Row{0, 0, 0, 0, 0, 0, 30, 3}));
  EXPECT_EQ(row(PointKind::kBehind, Pace::kGap), (Row{0, 0, 0, 0, 0, 0, 0, 0}));
}

// The same of completions: post of a receive, signal, poll, match.
TEST(CalibrationModel, HasWhatCompletionsCostInEachRow) {
  const auto row = [](PointKind kind, Pace pace, std::uint64_t messages = 3,
                      const analysis::Reading& reading = {}) {
    const Unknowns found = analysis::row_of({kind, 10, messages, 1, 0}, pace, reading);
    return std::vector<double>{found[index_of(Unknown::kPost)], found[index_of(Unknown::kPostRecv)],
                               found[index_of(Unknown::kSignal)], found[index_of(Unknown::kPoll)],
                               found[index_of(Unknown::kMatch)]};
  };
  using Row = std::vector<double>;
  EXPECT_EQ(row(PointKind::kPost, Pace::kGap), (Row{3, 0, 0, 0, 0}));
  EXPECT_EQ(row(PointKind::kPingpong, Pace::kGap), (Row{3, 0, 3, 3, 3}));
  EXPECT_EQ(row(PointKind::kSend, Pace::kGap), (Row{3, 0, 3, 3, 0}));
  EXPECT_EQ(row(PointKind::kGet, Pace::kGap), (Row{3, 0, 3, 3, 0}));
  EXPECT_EQ(row(PointKind::kAtomic, Pace::kGap), (Row{3, 0, 3, 3, 0}));
  EXPECT_EQ(row(PointKind::kStream, Pace::kGap), (Row{1, 0, 0, 1, 0}));
  EXPECT_EQ(row(PointKind::kStream, Pace::kWire), (Row{1, 0, 0, 1, 0}));
  EXPECT_EQ(row(PointKind::kStream, Pace::kPost), (Row{3, 0, 1, 1, 0}));
  EXPECT_EQ(row(PointKind::kStream, Pace::kGap, 1), (Row{1, 0, 1, 1, 0}));
  EXPECT_EQ(row(PointKind::kBurst, Pace::kGap), (Row{1, 0, 1, 1, 0}));
  EXPECT_EQ(row(PointKind::kCopy, Pace::kGap), (Row{0, 0, 0, 0, 0}));
  EXPECT_EQ(row(PointKind::kPostRecv, Pace::kGap), (Row{0, 3, 0, 0, 0}));
  EXPECT_EQ(row(PointKind::kSignaled, Pace::kGap), (Row{3, 0, 3, 0, 0}));
  EXPECT_EQ(row(PointKind::kDrain, Pace::kGap), (Row{0, 0, 0, 3, 0}));
  EXPECT_EQ(row(PointKind::kDrainRecv, Pace::kGap), (Row{0, 0, 0, 3, 3}));
  EXPECT_EQ(row(PointKind::kDrainRecv, Pace::kGap, 8, {4, {}}), (Row{0, 0, 0, 2, 8}));
  EXPECT_EQ(row(PointKind::kDrainRecv, Pace::kGap, 9, {4, {}}), (Row{0, 0, 0, 3, 9}));
  // What is within another figure has no place of its own.
  analysis::Reading within;
  within.within.set(index_of(Unknown::kSignal)).set(index_of(Unknown::kMatch));
  EXPECT_EQ(row(PointKind::kPingpong, Pace::kGap, 3, within), (Row{3, 0, 0, 3, 0}));
  EXPECT_EQ(row(PointKind::kStream, Pace::kGap, 3, within), (Row{1, 0, 0, 1, 0}));
}

}  // namespace
}  // namespace slackline::testing
