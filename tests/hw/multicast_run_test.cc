// Schedules whose copies go as datagrams that are lost, repeated and held back: every byte comes,
// the source sends each once, and operations keep the order that the schedule asks for.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "hw/executor.h"
#include "hw/multicast/flows.h"
#include "hw/multicast/transport.h"
#include "hw/multicast/words.h"
#include "sched/compile.h"
#include "sched/workloads/run_check.h"
#include "tests/hw/loop_transport.h"
#include "tests/hw/lossy_datagrams.h"
#include "tests/support/draft.h"

namespace slackline::hw {
namespace {

using testing::Loop;
using testing::LoopTransport;
using testing::LossyDatagrams;
using testing::LossyNetwork;

constexpr std::size_t kDatagramBytes = 24 + 100;

// All ranks in one process, by turns.
class MulticastRanks {
 public:
  MulticastRanks(const sched::Schedule& schedule, LossyNetwork& network,
                 const RepairOptions& options = {std::chrono::microseconds(0), 1000})
      : schedule_(schedule) {
    for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
      auto loop = std::make_unique<LoopTransport>(loop_);
      loop->in_order = true;
      loops_.push_back(loop.get());
      transports_.push_back(make_multicast_transport(
          std::move(loop), std::make_unique<LossyDatagrams>(network, kDatagramBytes, 7), options));
    }
    open();
  }

  // Opens the schedule's channels; anew, after close().
  void open() {
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) {
      executors_.push_back(
          std::make_unique<Executor>(schedule_, sched::RankId(r), *transports_[r]));
    }
    std::vector<Greeting> greetings;
    for (const auto& executor : executors_) greetings.push_back(executor->greeting());
    for (const auto& executor : executors_) executor->connect(greetings);
  }

  // Requests that each rank's transport below takes between two polls.
  void set_room(std::size_t room) {
    for (LoopTransport* loop : loops_) loop->room = loop->room_per_poll = room;
  }
  // Why it did not come to its end; empty if it did.
  std::string iterate() {
    const auto zero = Executor::Clock::now();
    for (const auto& executor : executors_) executor->post_ahead();
    for (const auto& executor : executors_) executor->begin(zero);
    const auto deadline = zero + std::chrono::seconds(30);
    while (!std::ranges::all_of(executors_, [](const auto& e) { return e->finished(); })) {
      if (Executor::Clock::now() > deadline) return "takes too long";
      for (const auto& executor : executors_) executor->progress();
    }
    for (const auto& executor : executors_) {
      if (const auto breach = executor->first_breach()) return *breach;
    }
    return disorder();
  }
  void again() {
    for (const auto& executor : executors_) executor->reset(true);
  }

  MulticastCounts counts(std::uint32_t rank) const { return *transports_[rank]->facts().multicast; }
  MulticastCounts all_counts() const {
    MulticastCounts all;
    for (std::uint32_t r = 0; r < transports_.size(); ++r) {
      all += counts(r);
    }
    return all;
  }
  void close() {
    for (const auto& executor : executors_) executor->close();
    executors_.clear();
    for (const LoopTransport* loop : loops_) {
      EXPECT_EQ(loop->open_ends, 0u);
      EXPECT_EQ(loop->registered, 0u);
    }
  }

 private:
  std::string disorder() const {
    sched::Trace trace;
    trace.schedule = schedule_.digest();
    for (const auto& executor : executors_) {
      trace.ops.insert(trace.ops.end(), executor->times().begin(), executor->times().end());
    }
    const sched::Diagnostics found = sched::check_order(schedule_, trace);
    return found.empty() ? "" : found.front().message;
  }

  const sched::Schedule& schedule_;
  Loop loop_;
  std::vector<LoopTransport*> loops_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Executor>> executors_;
};

std::uint64_t packets_of(std::uint64_t bytes, std::uint64_t block) {
  std::uint64_t packets = 0;
  for (std::uint64_t at = 0; at < bytes; at += block) {
    packets += (std::min(block, bytes - at) + 99) / 100;
  }
  return packets;
}

TEST(MulticastRun, WithoutLossEachPacketIsSentOnceToAllAndNothingIsRepaired) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("switch-multicast:ranks=5,bytes=5001,block=700"));
  LossyNetwork network;
  MulticastRanks ranks(schedule, network);
  EXPECT_EQ(ranks.iterate(), "");
  const std::uint64_t packets = packets_of(5001, 700);
  EXPECT_EQ(network.sent, packets);
  EXPECT_EQ(ranks.counts(0), (MulticastCounts{packets, 0, 0, 0, 0, 0}));
  // Three members, and the switch's own process.
  EXPECT_EQ(network.delivered, 4 * packets);
  for (std::uint32_t r = 1; r < 5; ++r) EXPECT_EQ(ranks.counts(r).received, packets) << r;
  EXPECT_EQ(ranks.all_counts().repaired, ranks.all_counts().early);
  ranks.close();
}

TEST(MulticastRun, WhateverTheNetworkDoesEveryByteComes) {
  for (const char* const spec :
       {"switch-multicast:ranks=4,bytes=3000,block=1000",
        "switch-multicast:ranks=6,bytes=5001,block=700,root=2,window=3,in-flight=2",
        "switch-multicast:ranks=4,bytes=3001,block=100,ready=none",
        "switch-multicast:ranks=4,bytes=2000,block=999,ready=write",
        "switch-multicast:ranks=9,bytes=4001,block=500,fan-out=3x2,root=4",
        "switch-multicast:ranks=5,bytes=3000,block=500,loss=300000,timeout=1us"}) {
    const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
    for (const std::uint64_t seed : {1u, 3u, 6u}) {
      SCOPED_TRACE(std::string(spec) + ", seed " + std::to_string(seed));
      LossyNetwork network;
      network.draws.seed(seed);
      network.lost = seed == 6 ? 1000 : static_cast<std::uint32_t>(60 * seed);
      network.repeated = 100;
      network.held = 200;
      MulticastRanks ranks(schedule, network);
      std::uint64_t sent = 0;
      for (int iteration = 0; iteration < 3; ++iteration) {
        if (iteration != 0) ranks.again();
        ASSERT_EQ(ranks.iterate(), "");
        // However much was lost.
        const std::uint64_t of_this = network.sent - sent;
        sent = network.sent;
        if (iteration == 0) continue;
        EXPECT_EQ(of_this, sent / (iteration + 1)) << iteration;
      }
      const MulticastCounts counts = ranks.all_counts();
      EXPECT_EQ(counts.sent, network.sent);
      // What is missing comes again, and may have been on its way.
      EXPECT_GE(counts.repairing, counts.repaired);
      EXPECT_GE(counts.repaired, network.dropped);
      EXPECT_GT(counts.repaired, 0u);
      ranks.close();
    }
  }
}

TEST(MulticastRun, WordsWaitForRoom) {
  const sched::Schedule schedule = sched::compile(
      sched::parse_spec("switch-multicast:ranks=5,bytes=30000,block=1000,in-flight=0,window=40"));
  LossyNetwork network;
  network.lost = 200;
  MulticastRanks ranks(schedule, network);
  ranks.set_room(2);
  EXPECT_EQ(ranks.iterate(), "");
  EXPECT_EQ(network.sent, packets_of(30000, 1000));
}

TEST(MulticastRun, StrangersDatagramsAreNobodys) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("switch-multicast:ranks=4,bytes=3000,block=1000"));
  LossyNetwork network;
  MulticastRanks ranks(schedule, network);
  LossyDatagrams stranger(network, kDatagramBytes, 1000);
  // In every group, of every flow, with bytes that no value has.
  auto members = network.members;
  for (const auto& [group, those] : members) network.members[stranger.group()] = those;
  const std::vector<std::byte> zeros(100);
  for (std::uint32_t flow = 0; flow < 8; ++flow) {
    for (std::uint32_t packet = 0; packet < 10; ++packet) {
      const DatagramHead head{12345, 0, flow, packet};
      stranger.send(std::as_bytes(std::span(&head, 1)), zeros);
    }
  }
  stranger.send({}, std::span(zeros).first(10));
  EXPECT_EQ(ranks.iterate(), "");
  EXPECT_EQ(ranks.all_counts().repeated, 0u);
}

// Rank 1 copies what rank 0 sends to rank 2, and back: a source that receives its own flow.
TEST(MulticastRun, ASourceMayGetItsOwnMessagesBack) {
  testing::Draft draft;
  draft.ranks = 3;
  const sched::ChannelId in = draft.channel(0, 1);
  const sched::ChannelId back = draft.channel(1, 0);
  const sched::ChannelId on = draft.channel(1, 2);
  const sched::BufferId from = draft.buffer(0, 950);
  const sched::BufferId there = draft.buffer(1, 950);
  draft.send(in, {{from, 0, 950}});
  const sched::BufferId own = draft.buffer(0, 950);
  const sched::BufferId last = draft.buffer(2, 950);
  draft.recv(back, {{own, 0, 950}});
  const sched::OpId came = draft.recv(in, {{there, 0, 950}});
  draft.edge(came, draft.send(back, {{there, 0, 950}}));
  draft.edge(came, draft.send(on, {{there, 0, 950}}));
  draft.recv(on, {{last, 0, 950}});
  draft.pre.push_back({{from, 0, 950}, sched::ValueId(0), 0});
  for (const sched::BufferId at : {own, last}) {
    draft.post.push_back({{at, 0, 950}, sched::ValueId(0), 0});
  }
  const sched::Schedule schedule = draft.build();
  ASSERT_EQ(multicast_flows(schedule), (std::vector<std::uint32_t>{0, 0, 0}));
  LossyNetwork network;
  network.lost = 300;
  MulticastRanks ranks(schedule, network);
  EXPECT_EQ(ranks.iterate(), "");
  EXPECT_EQ(network.sent, 10u);
  EXPECT_EQ(network.delivered, 30u);
}

TEST(MulticastRun, StrangersDatagramsWithoutEndHoldUpNothing) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("switch-multicast:ranks=4,bytes=3000,block=1000"));
  LossyNetwork network;
  network.lost = 200;
  network.floods = true;
  MulticastRanks ranks(schedule, network);
  EXPECT_EQ(ranks.iterate(), "");
  EXPECT_GT(ranks.all_counts().repaired, 0u);
}

// The same channels are opened twice, and the first time's datagrams come once more.
TEST(MulticastRun, WhatComesLateOfFormerChannelsIsNobodys) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("switch-multicast:ranks=4,bytes=3000,block=1000"));
  LossyNetwork network;
  MulticastRanks ranks(schedule, network);
  LossyDatagrams ear(network, kDatagramBytes);
  LossyDatagrams late(network, kDatagramBytes, 1000);
  ASSERT_EQ(network.members.size(), 1u);
  auto& [group, members] = *network.members.begin();
  network.members[late.group()] = members;
  members.push_back(&ear);
  EXPECT_EQ(ranks.iterate(), "");
  const std::uint64_t received = ranks.all_counts().received;
  ranks.close();
  ranks.open();
  const std::vector<std::byte> zeros(kDatagramBytes);
  std::size_t heard = 0;
  for (auto old = ear.receive(); !old.empty(); old = ear.receive(), ++heard) {
    late.send(old.first(sizeof(DatagramHead)), std::span(zeros).first(old.size() - 24));
  }
  EXPECT_EQ(heard, packets_of(3000, 1000));
  EXPECT_EQ(ranks.iterate(), "");
  EXPECT_EQ(ranks.all_counts().received, 2 * received);
  ranks.close();
}

}  // namespace
}  // namespace slackline::hw
