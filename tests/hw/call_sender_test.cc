// One direction of calls at its source, in one thread: which records travel in one write, how the
// window grows and is used again, and what the counters say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "hw/call/receiver.h"
#include "hw/call/sender.h"
#include "hw/run.h"
#include "tests/hw/loop_transport.h"

namespace slackline {
namespace {

using hw::Aggregate;
using ::testing::ElementsAre;

class CallSender : public ::testing::Test {
 protected:
  static constexpr std::size_t kRecord = 72;  // of a buffer of 40 bytes
  static constexpr std::uint64_t kInChunk = 3;

  CallSender() {
    options.chunk_bytes = kInChunk * kRecord + hw::kEndBytes;
    options.chunks_per_request = 2;
    options.chunk_limit = 3;
    options.record_bytes = 1024;
    start_anew();
  }

  void make(Aggregate aggregate, std::size_t bundle_bytes = 4096) {
    options.aggregate = aggregate;
    options.bundle_bytes = bundle_bytes;
    auto owned = std::make_unique<testing::LoopTransport>(loop);
    transport = owned.get();
    port.emplace(mesh, std::move(owned), options);
    slabs.emplace(*transport, options.record_bytes, 4);
    line.emplace(*port, *slabs, 0, 3, 64, false);
    port->set_lines({&*line});
    sender.emplace(options, hw::RecordStamps(0, 0, 1), *port, *line, *slabs,
                   reinterpret_cast<const std::byte*>(&consumed), [this](std::uint32_t count) {
                     grown.push_back(count);
                     std::vector<hw::CallChunk> more;
                     for (; count != 0; --count) {
                       more.push_back({granted, {{address_of(granted), 11}, nullptr}});
                       ++granted;
                     }
                     return more;
                   });
  }
  // As if nothing had been made. Then make().
  void start_anew() {
    sender.reset();
    line.reset();
    slabs.reset();
    port.reset();
    chunks = {};
    granted = 0;
    consumed = 0;
    looked_at = 0;
    receiver.emplace(
        hw::RecordStamps(0, 0, 1),
        [this](std::uint32_t id) {
          return id < granted ? std::as_writable_bytes(std::span(chunks[id]))
                              : std::span<std::byte>();
        },
        [this](std::uint64_t count) { consumed = count; });
  }
  std::uint64_t address_of(std::size_t chunk) {
    return reinterpret_cast<std::uint64_t>(chunks[chunk].data());
  }

  hw::RecordDraft next_call() {
    hw::RecordDraft draft;
    draft.function = made++;
    draft.buffer = buffer;
    return draft;
  }
  // Calls until the window is full; how many were taken.
  std::uint32_t fill() {
    const std::uint32_t before = made;
    while (sender->add(next_call(), nullptr, nullptr)) {
    }
    --made;  // the last was not taken
    return made - before;
  }
  // Where in which chunk the writes went, as chunk · 1000 + offset; only those since the last time.
  std::vector<std::uint64_t> places() {
    std::vector<std::uint64_t> found;
    for (; looked_at < transport->posted.size(); ++looked_at) {
      const std::uint64_t address = transport->posted[looked_at].remote.address;
      for (std::size_t c = 0; c < chunks.size(); ++c) {
        if (address - address_of(c) < sizeof chunks[c]) {
          found.push_back(1000 * c + address - address_of(c));
        }
      }
    }
    return found;
  }
  std::size_t writes() { return places().size(); }
  // The functions that the destination finds; it tells how many chunks it has used up.
  std::vector<std::uint32_t> received() {
    std::vector<std::uint32_t> functions;
    while (receiver->next() != nullptr) {
      functions.push_back(receiver->head().function);
      receiver->pop();
    }
    return functions;
  }

  hw::CallsOptions options;
  hw::Mesh mesh{hw::MeshOptions{}};
  testing::Loop loop;
  testing::LoopTransport* transport = nullptr;
  std::optional<hw::CallPort> port;
  std::optional<hw::Slabs> slabs;
  std::optional<hw::CallLine> line;
  std::optional<hw::CallSender> sender;
  std::array<std::array<std::uint64_t, 64>, 4> chunks{};
  std::uint32_t granted = 0;
  std::vector<std::uint32_t> grown;
  std::uint64_t consumed = 0;
  std::array<std::byte, 40> buffer{};
  std::uint32_t made = 0;
  std::size_t looked_at = 0;
  std::optional<hw::CallReceiver> receiver;
};

TEST_F(CallSender, WritesEachCallAlone) {
  make(Aggregate::kNone);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sender->add(next_call(), nullptr, nullptr));
  EXPECT_THAT(places(), ElementsAre(0, kRecord, 2 * kRecord));
  EXPECT_THAT(received(), ElementsAre(0, 1, 2));
}

TEST_F(CallSender, GathersUntilABundleIsThere) {
  make(Aggregate::kTrad, 2 * kRecord);
  sender->add(next_call(), nullptr, nullptr);
  EXPECT_EQ(writes(), 0u);
  sender->add(next_call(), nullptr, nullptr);
  EXPECT_THAT(places(), ElementsAre(0));
  sender->add(next_call(), nullptr, nullptr);
  EXPECT_EQ(writes(), 0u);
  sender->flush();
  sender->flush();
  EXPECT_THAT(places(), ElementsAre(2 * kRecord));
  EXPECT_THAT(received(), ElementsAre(0, 1, 2));
}

// A chunk takes the last record that leaves room for an end record, and chunks come by requests.
TEST_F(CallSender, GrowsUpToItsLimit) {
  make(Aggregate::kNone);
  EXPECT_EQ(fill(), 3 * kInChunk);
  EXPECT_THAT(grown, ElementsAre(2, 1));
  const std::uint64_t last = kInChunk * kRecord;
  EXPECT_THAT(places(),
              ElementsAre(0, 72, 144, last, 1000, 1072, 1144, 1000 + last, 2000, 2072, 2144));
  EXPECT_THAT(received(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(consumed, 2u);
  EXPECT_EQ(fill(), 2 * kInChunk) << "of the chunks that are used up";
  EXPECT_THAT(received(), ElementsAre(9, 10, 11, 12, 13, 14));
  EXPECT_EQ(grown.size(), 2u);
}

TEST_F(CallSender, AChunkThatIsAWordTooShortTakesOneRecordLess) {
  options.chunk_bytes -= 8;
  make(Aggregate::kNone);
  EXPECT_EQ(fill(), 3 * (kInChunk - 1));
  EXPECT_EQ(received().size(), 3 * (kInChunk - 1));
}

TEST_F(CallSender, Counts) {
  make(Aggregate::kNone);
  EXPECT_EQ(sender->counters().registered_bytes, 0u);
  transport->held = true;
  fill();
  hw::CallCounters counters = sender->counters();
  const std::uint64_t all = 9 * kRecord + 2 * hw::kEndBytes;
  EXPECT_EQ(counters.window_bytes, 3 * options.chunk_bytes);
  EXPECT_EQ(counters.outstanding_bytes, all);
  EXPECT_EQ(counters.most_outstanding_bytes, all);
  EXPECT_EQ(counters.chunks, 3u);
  EXPECT_EQ(counters.queued_bytes, 0u);
  EXPECT_EQ(counters.calls, 9u);
  EXPECT_EQ(counters.writes, 11u);
  EXPECT_EQ(counters.in_flight, 11u);
  EXPECT_EQ(counters.registered_bytes, options.record_bytes);
  sender->add_or_queue(next_call(), nullptr, nullptr);
  sender->add_or_queue(next_call(), nullptr, nullptr);
  EXPECT_EQ(sender->counters().queued_bytes, 2 * kRecord);
  EXPECT_EQ(sender->queued_bytes(), 2 * kRecord);
  EXPECT_EQ(sender->counters().calls, 11u);
  EXPECT_FALSE(sender->drain());
  received();
  EXPECT_TRUE(sender->drain());
  counters = sender->counters();
  EXPECT_EQ(counters.queued_bytes, 0u);
  EXPECT_EQ(counters.calls, 11u);
  // Two chunks were used up; the third has an end record now.
  EXPECT_EQ(counters.outstanding_bytes, 5 * kRecord + hw::kEndBytes);
  EXPECT_EQ(counters.most_outstanding_bytes, all);
  transport->held = false;
  port->progress();
  EXPECT_EQ(sender->counters().in_flight, 0u);
}

TEST_F(CallSender, QueuesInOrder) {
  make(Aggregate::kNone);
  fill();
  for (int i = 0; i < 4; ++i) sender->add_or_queue(next_call(), nullptr, nullptr);
  EXPECT_EQ(received().size(), 9u);
  EXPECT_FALSE(sender->queue_is_empty());
  EXPECT_FALSE(sender->add(next_call(), nullptr, nullptr)) << "before what is queued";
  EXPECT_TRUE(sender->drain());
  EXPECT_TRUE(sender->queue_is_empty());
  EXPECT_FALSE(sender->drain());
  EXPECT_THAT(received(), ElementsAre(9, 10, 11, 12));
}

// Only what waited for room travels together.
TEST_F(CallSender, OverflowIsGathered) {
  make(Aggregate::kOvfl);
  fill();
  EXPECT_EQ(writes(), 11u);
  for (int i = 0; i < 3; ++i) sender->add_or_queue(next_call(), nullptr, nullptr);
  received();
  EXPECT_TRUE(sender->drain());
  const std::uint64_t last = kInChunk * kRecord;
  EXPECT_THAT(places(), ElementsAre(2000 + last, 0)) << "the end of a chunk, and one bundle";
  EXPECT_TRUE(sender->add(next_call(), nullptr, nullptr));
  EXPECT_THAT(places(), ElementsAre(last, 1000)) << "alone again";
  EXPECT_TRUE(sender->add(next_call(), nullptr, nullptr));
  EXPECT_THAT(places(), ElementsAre(1000 + kRecord));
}

TEST_F(CallSender, OverflowIsGatheredUpToABundle) {
  make(Aggregate::kOvfl, 2 * kRecord);
  fill();
  writes();
  for (int i = 0; i < 3; ++i) sender->add_or_queue(next_call(), nullptr, nullptr);
  received();
  EXPECT_TRUE(sender->drain());
  EXPECT_THAT(places(), ElementsAre(2000 + kInChunk * kRecord, 0, 2 * kRecord));
}

TEST_F(CallSender, ABuffersWriteComesBetweenTheRecords) {
  make(Aggregate::kTrad);
  std::array<std::uint64_t, 2> from{1, 2};
  std::array<std::uint64_t, 2> to{};
  const hw::CallWrite before{{reinterpret_cast<std::byte*>(from.data()), sizeof from, 7},
                             {{reinterpret_cast<std::uint64_t>(to.data()), 11}, nullptr}};
  sender->add(next_call(), nullptr, nullptr);
  sender->add(next_call(), &before, nullptr);
  ASSERT_EQ(transport->posted.size(), 2u);
  EXPECT_EQ(transport->posted[0].remote.address, address_of(0));
  EXPECT_EQ(transport->posted[1].remote.address, before.to.remote.address);
  EXPECT_EQ(to, from);
  EXPECT_THAT(received(), ElementsAre(0));
  sender->flush();
  EXPECT_THAT(received(), ElementsAre(1));
}

TEST_F(CallSender, AQueuedCallsWriteComesBeforeIt) {
  make(Aggregate::kNone);
  fill();
  std::array<std::uint64_t, 2> from{1, 2};
  std::array<std::uint64_t, 2> to{};
  const hw::CallWrite before{{reinterpret_cast<std::byte*>(from.data()), sizeof from, 7},
                             {{reinterpret_cast<std::uint64_t>(to.data()), 11}, nullptr}};
  sender->add_or_queue(next_call(), &before, nullptr);
  EXPECT_NE(to, from);
  received();
  sender->drain();
  EXPECT_EQ(to, from);
}

TEST_F(CallSender, TellsWhoWaitsWhenItsRecordIsTransmitted) {
  make(Aggregate::kTrad);
  std::array<hw::SyncState, 4> states;
  for (hw::SyncState& state : states) state.pending = 1;
  sender->add(next_call(), nullptr, &states[0]);
  sender->add(next_call(), nullptr, &states[1]);
  sender->forget(&states[1]);
  port->progress();
  EXPECT_EQ(states[0].pending, 1u) << "not posted yet";
  sender->flush();
  port->progress();
  EXPECT_EQ(states[0].pending, 0u);
  EXPECT_EQ(states[1].pending, 1u) << "forgotten";
  fill();
  sender->add_or_queue(next_call(), nullptr, &states[2]);
  sender->add_or_queue(next_call(), nullptr, &states[3]);
  sender->forget(&states[2]);
  received();
  sender->drain();
  sender->flush();
  port->progress();
  EXPECT_EQ(states[2].pending, 1u) << "forgotten";
  EXPECT_EQ(states[3].pending, 0u);
}

// Who stood still looked for nothing meanwhile.
TEST_F(CallSender, WaitsDoNotEndByTheTimeInWhichTheProcessStoodStill) {
  start_anew();
  options.patience = std::chrono::milliseconds(80);
  make(Aggregate::kNone, kRecord);
  hw::CallRest rest(*port, "something");
  rest.rest();
  std::this_thread::sleep_for(2 * options.patience);
  rest.rest();
  std::this_thread::sleep_for(2 * options.patience);
  EXPECT_NO_THROW(rest.rest());
  EXPECT_THROW(while (true) rest.rest(), hw::Stalled);
}

// Posting stalls: that call is not made, its record never comes, and it tells nobody. The others'
// come, whether it was the first behind a full chunk, gathered, or queued.
TEST_F(CallSender, WhatCannotBePostedIsAsIfItHadNeverBeenMade) {
  for (const Aggregate aggregate : {Aggregate::kNone, Aggregate::kTrad, Aggregate::kOvfl}) {
    for (const std::uint64_t before : {std::uint64_t{0}, kInChunk - 1, kInChunk}) {
      SCOPED_TRACE(static_cast<int>(aggregate));
      SCOPED_TRACE(before);
      start_anew();
      options.patience = std::chrono::milliseconds(1);
      make(aggregate, kRecord);
      hw::SyncState told{100, 0, 0, {}};
      std::vector<std::uint32_t> expected;
      for (std::uint64_t i = 0; i < before; ++i) {
        expected.push_back(made);
        ASSERT_TRUE(sender->add(next_call(), nullptr, &told));
      }
      if (aggregate == Aggregate::kOvfl) {
        expected.push_back(made);
        sender->queue(next_call(), nullptr, &told);
      }
      transport->room = transport->room_per_poll = 0;
      if (aggregate == Aggregate::kOvfl) {
        EXPECT_THROW(sender->drain(), hw::Stalled);
      } else {
        EXPECT_THROW(sender->add(next_call(), nullptr, &told), hw::Stalled);
      }
      transport->room = transport->room_per_poll = 100;
      expected.push_back(made);
      sender->add_or_queue(next_call(), nullptr, &told);
      sender->drain();
      sender->flush();
      while (port->progress()) {
      }
      EXPECT_EQ(received(), expected);
      EXPECT_EQ(told.pending, 100 - expected.size());
    }
  }
}

}  // namespace
}  // namespace slackline
