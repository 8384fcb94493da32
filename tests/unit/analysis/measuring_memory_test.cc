// Where the messages of measurements lie, and on which channels and lanes they go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/fit/measuring_schedule.h"
#include "analysis/fit/standard_measurements.h"
#include "base/error.h"

namespace slackline::analysis {
namespace {

using sched::Op;
using sched::OpKind;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::uint64_t kMemory = 10'000;

// One rank's pieces of memory that operations of a kind and step read or write, in program order.
std::vector<sched::Slice> pieces(const sched::Schedule& schedule, std::uint32_t step,
                                 std::uint32_t rank, OpKind kind, bool reads) {
  std::vector<sched::Slice> all;
  for (const Op& op : schedule.ops()) {
    if (op.step != step || op.rank.value != rank || op.kind != kind) continue;
    for (const sched::Slice& s : schedule.slices(reads ? op.reads : op.writes)) all.push_back(s);
  }
  return all;
}

std::vector<sched::Slice> row(std::uint32_t buffer, std::uint64_t from, std::uint64_t bytes,
                              std::uint64_t count) {
  std::vector<sched::Slice> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    all.push_back({sched::BufferId(buffer), from + i * bytes, bytes});
  }
  return all;
}

// The buffers: what rank 0 sends and receives, the same of rank 1, and the word of atomics.
constexpr std::uint32_t kFrom0 = 0, kTo0 = 1, kFrom1 = 2, kTo1 = 3, kWord = 4;

TEST(MeasuringMemory, MessagesLieBehindEachOther) {
  const Measurement all[] = {
      {PointKind::kSend, 100, 3},    {PointKind::kPingpong, 200, 5}, {PointKind::kGet, 300, 2},
      {PointKind::kStream, 400, 4},  {PointKind::kBurst, 500, 3},    {PointKind::kCopy, 700, 2},
      {PointKind::kPost, 900, 3},    {PointKind::kAtomic, 8, 3},     {PointKind::kPingpong, 50, 4},
      {PointKind::kPingpong, 50, 1},
  };
  const MeasuringSchedule made = measuring_schedule(all, kMemory);
  const sched::Schedule& s = made.schedule;
  for (std::size_t b = 0; b < 4; ++b) EXPECT_EQ(s.buffers()[b].bytes, kMemory);
  EXPECT_EQ(s.buffers()[kWord].bytes, 8u);
  const auto is = [&](std::uint32_t step, std::uint32_t rank, OpKind kind, bool reads,
                      const std::vector<sched::Slice>& expected) {
    EXPECT_EQ(pieces(s, step, rank, kind, reads), expected) << "measurement " << step;
  };
  const auto sent = [&](std::uint32_t step, std::uint64_t from, std::uint64_t count) {
    is(step, 0, OpKind::kSend, true, row(kFrom0, from, all[step].bytes, count));
    is(step, 1, OpKind::kRecv, false, row(kTo1, from, all[step].bytes, count));
  };
  const auto answered = [&](std::uint32_t step, std::uint64_t from, std::uint64_t count) {
    is(step, 1, OpKind::kSend, true, row(kFrom1, from, all[step].bytes, count));
    is(step, 0, OpKind::kRecv, false, row(kTo0, from, all[step].bytes, count));
  };
  sent(0, 0, 3);
  answered(0, 0, 0);
  sent(1, 300, 3);  // of five, three go forth
  answered(1, 300, 2);
  is(2, 0, OpKind::kGet, true, row(kFrom1, 900, 300, 2));
  is(2, 0, OpKind::kGet, false, row(kTo0, 900, 300, 2));
  sent(3, 1500, 4);
  sent(4, 3100, 3);
  is(5, 0, OpKind::kCopy, true, row(kFrom0, 4600, 700, 2));
  is(5, 0, OpKind::kCopy, false, row(kTo0, 4600, 700, 2));
  sent(6, 6000, 3);
  is(7, 0, OpKind::kFetchAdd, true, std::vector<sched::Slice>(3, {sched::BufferId(kWord), 0, 8}));
  // Atomics take memory, too, though they have a word of their own.
  sent(8, 8724, 2);
  answered(8, 8724, 2);
  sent(9, 8824, 1);
  answered(9, 8824, 0);
}

TEST(MeasuringMemory, BeginsAnewWhereAMeasurementDoesNotFit) {
  const auto firsts = [](std::uint64_t bytes, std::uint64_t memory_bytes) {
    const std::vector<Measurement> all(4, {PointKind::kStream, bytes, 2});
    const MeasuringSchedule made = measuring_schedule(all, memory_bytes);
    std::vector<std::uint64_t> offsets;
    for (std::uint32_t step = 0; step < 4; ++step) {
      offsets.push_back(pieces(made.schedule, step, 0, OpKind::kSend, true).front().offset);
      EXPECT_EQ(pieces(made.schedule, step, 1, OpKind::kRecv, false).front().offset,
                offsets.back());
    }
    return offsets;
  };
  EXPECT_THAT(firsts(100, 600), ElementsAre(0, 200, 400, 0));
  EXPECT_THAT(firsts(100, 599), ElementsAre(0, 200, 0, 200));
  EXPECT_THAT(firsts(100, 800), ElementsAre(0, 200, 400, 600));
  EXPECT_THAT(firsts(100, 1), Each(0));
}

TEST(MeasuringMemory, IsAtLeastThatOfTheLargest) {
  const auto bytes = [](Measurement m) {
    return measuring_schedule({&m, 1}, 1).schedule.buffers().front().bytes;
  };
  EXPECT_EQ(bytes({PointKind::kStream, 100, 5}), 500u);
  EXPECT_EQ(bytes({PointKind::kPingpong, 100, 5}), 300u);
  EXPECT_EQ(bytes({PointKind::kPingpong, 100, 6}), 300u);
  EXPECT_EQ(bytes({PointKind::kBehind, 100, 1}), kAheadBytes + 100);
  EXPECT_EQ(bytes({PointKind::kBehind, 100, 3}), 3 * kAheadBytes + 2 * 100);
}

TEST(MeasuringMemory, BehindTheLargeOnesLiesTheSmall) {
  const Measurement all[] = {{PointKind::kBehind, 100, 2}};
  const sched::Schedule s = measuring_schedule(all).schedule;
  std::vector<sched::Slice> expected = row(kFrom0, 0, kAheadBytes, 2);
  expected.push_back({sched::BufferId(kFrom0), 2 * kAheadBytes, 100});
  EXPECT_EQ(pieces(s, 0, 0, OpKind::kSend, true), expected);
  std::vector<sched::ChannelId> channels;
  for (const Op& op : s.ops()) {
    if (op.kind == OpKind::kSend && op.reads.count != 0) channels.push_back(op.channel);
  }
  ASSERT_EQ(channels.size(), 3u);
  EXPECT_EQ(channels[0], channels[1]);
  EXPECT_NE(channels[1], channels[2]);
}

TEST(MeasuringMemory, OnlyBurstsHaveLanesAndChannelsOfTheirOwn) {
  const Measurement all[] = {
      {PointKind::kBurst, 10, 3}, {PointKind::kBurst, 10, 5}, {PointKind::kStream, 10, 9}};
  const MeasuringSchedule made = measuring_schedule(all, kMemory);
  EXPECT_EQ(made.schedule.channels().size(), 5u + 5u);
  for (std::uint32_t step = 0; step < 3; ++step) {
    std::vector<std::uint32_t> lanes;
    std::vector<std::uint32_t> channels;
    for (const Op& op : made.schedule.ops()) {
      if (op.step != step || op.kind != OpKind::kSend || op.reads.count == 0) continue;
      lanes.push_back(op.lane);
      channels.push_back(op.channel.value - 5);
    }
    std::vector<std::uint32_t> expected(all[step].messages, 0);
    if (all[step].kind == PointKind::kBurst) std::iota(expected.begin(), expected.end(), 0u);
    EXPECT_EQ(lanes, expected);
    EXPECT_EQ(channels, expected);
  }
}

TEST(MeasuringMemory, WhatFitsNoPointIsRefused) {
  const auto refused = [](Measurement m) {
    try {
      measuring_schedule({&m, 1}, 1);
    } catch (const InputError& error) {
      return std::string(error.what()).find("a measurement of") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused({PointKind::kSend, kMaxPointBytes + 1, 1}));
  EXPECT_TRUE(refused({PointKind::kStream, 0, kMaxPointMessages + 1}));
  EXPECT_FALSE(refused({PointKind::kSend, 0, 1}));
  EXPECT_FALSE(refused({PointKind::kSend, kMaxPointBytes, 1}));
}

TEST(StandardMeasurements, OfALittleMemoryHaveFewerMessages) {
  const std::vector<Measurement> all = standard_measurements(1, false, 8192);
  EXPECT_THAT(all, ::testing::Contains(Measurement{PointKind::kStream, 512, 16}));
  EXPECT_THAT(all, ::testing::Contains(Measurement{PointKind::kStream, 4096, 2}));
  for (const Measurement& m : all) {
    EXPECT_NE(m.kind, PointKind::kAtomic);
    EXPECT_NE(m.kind, PointKind::kBehind);
    EXPECT_LE(m.bytes * m.messages, 8192u);
    EXPECT_GE(m.messages, 2u);
  }
  const std::vector<Measurement> behind = standard_measurements(1, true, 2 * (kAheadBytes + 8));
  EXPECT_EQ(std::count_if(behind.begin(), behind.end(),
                          [](const Measurement& m) { return m.kind == PointKind::kBehind; }),
            1);
  EXPECT_EQ(std::count_if(behind.begin(), behind.end(),
                          [](const Measurement& m) { return m.kind == PointKind::kAtomic; }),
            2);
}

}  // namespace
}  // namespace slackline::analysis
