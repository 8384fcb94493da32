// Queues with times: the emulator against NICs of the test's own that look at every queue and every
// port again at each step, in whole nanoseconds; and small runs told by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "offload/compile_queues.h"
#include "offload/emulate_timed.h"
#include "offload/queue_text.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::offload {
namespace {

using machine::Platform;
using machine::Wiring;
using sched::OpId;
using sched::RankId;
using sched::Schedule;

// Every pair of ranks has a link and a latency of its own in each direction.
struct Network {
  explicit Network(std::uint32_t ranks_in)
      : ranks(ranks_in), byte_ns(ranks * ranks, 1), latency_ns(ranks * ranks, 1000) {}

  Wiring wiring() const {
    std::vector<std::string> hosts;
    std::vector<machine::Link> links;
    std::vector<machine::Wiring::FixedRoute> ways;
    for (std::uint32_t r = 0; r < ranks; ++r) hosts.push_back(fmt::format("h{}", r));
    for (std::uint32_t i = 0; i < ranks * ranks; ++i) {
      links.push_back({fmt::format("l{}", i), sched::Rate{8'000'000'000u / byte_ns[i]}});
      ways.push_back({RankId(i / ranks),
                      RankId(i % ranks),
                      {{machine::LinkId(i)}, sched::Time{latency_ns[i] * 1000}}});
    }
    return Wiring(hosts, links, ways, machine::Node(), sched::Rate{8'000'000'000});
  }
  Platform platform() const {
    Platform on;
    on.gap = sched::Time{gap_ns * 1000};
    on.interleave_bytes = interleave_bytes;
    return on;
  }

  std::uint32_t ranks;
  std::vector<unsigned> byte_ns;  // by source and destination: what a byte takes
  std::vector<int> latency_ns;
  int gap_ns = 0;
  std::uint64_t interleave_bytes = 0;
};

// emulate_timed.h and "A message, exactly" of docs/architecture.md, for queues.
class NaiveNics {
 public:
  NaiveNics(const QueueProgram& program, const Schedule& schedule, const Network& network,
            Egress egress, int entry_ns)
      : program_(program),
        schedule_(schedule),
        network_(network),
        egress_(egress),
        entry_ns_(entry_ns),
        lines_(program.queues().size()),
        ports_{Ports(program.rank_count()), Ports(program.rank_count())} {
    ready.assign(schedule.op_count(), -1);
    wire = done = ready;
    for (const CompletionQueue& cq : program.cqs()) count_.push_back(cq.start);
    for (std::uint32_t q = 0; q < lines_.size(); ++q) {
      const Queue& queue = program.queues()[q];
      lines_[q].enabled = queue.managed ? 0 : queue.count;
    }
    settle();
    while (!events_.empty()) {
      now_ = events_.begin()->first;
      std::vector<Event> batch = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      std::sort(batch.begin(), batch.end());
      for (const Event& event : batch) handle(event.first, event.second);
      settle();
    }
  }

  std::vector<int> ready, wire, done;  // by operation; -1 if it never happened

 private:
  // What ends in one instant does so in this order, then in that of queues or ranks.
  enum Kind { kEntryEnds, kSent, kSmallOutFree, kLargeOutFree, kArrived, kAcknowledged };
  using Event = std::pair<Kind, std::uint32_t>;
  struct Line {
    std::uint64_t head = 0, enabled = 0;
    bool busy = false;
    int offered = 0, began = 0;
    std::deque<std::uint32_t> arrived;  // entries
    std::deque<std::uint32_t> flying;
    std::deque<std::uint32_t> unacknowledged;
    std::uint32_t landed = 0;
  };
  struct Ports {
    explicit Ports(std::uint32_t ranks)
        : waiting(ranks), heading(ranks), out_held(ranks), served(ranks), in_held(ranks) {}
    std::vector<std::vector<std::uint32_t>> waiting;  // queues, by rank
    std::vector<std::vector<std::tuple<int, std::uint32_t, std::uint32_t>>> heading;  // by receiver
    std::vector<bool> out_held;
    std::vector<std::uint32_t> served;
    std::vector<bool> in_held;
  };

  const Queue& queue(std::uint32_t q) const { return program_.queues()[q]; }
  const Entry& head(std::uint32_t q) const { return program_.entries(queue(q))[lines_[q].head]; }
  std::uint32_t peer_rank(std::uint32_t q) const {
    return program_.queue(queue(q).peer).rank.value;
  }
  std::size_t pair(std::uint32_t from, std::uint32_t to) const {
    return from * network_.ranks + to;
  }
  std::uint64_t bytes(const Entry& entry) const { return program_.bytes(entry.local); }
  bool large(const Entry& entry) const { return bytes(entry) > network_.interleave_bytes; }
  void at(int time, Kind kind, std::uint32_t which) { events_[time].emplace_back(kind, which); }
  std::uint32_t message(std::uint32_t q) const {
    return head(q).op.valid() ? head(q).op.value
                              : static_cast<std::uint32_t>(schedule_.op_count()) + q;
  }

  void handle(Kind kind, std::uint32_t which) {
    switch (kind) {
      case kEntryEnds:
        lines_[which].busy = false;
        carry_out(which);
        break;
      case kSent: {
        Line& line = lines_[which];
        const Entry& entry = program_.entries(queue(which))[line.head - 1];
        line.busy = false;
        if (bytes(entry) != 0) {
          Ports& ports = ports_[large(entry)];
          ports.in_held[peer_rank(which)] = false;
          free_out(which, large(entry));
        }
        at(now_ + network_.latency_ns[pair(queue(which).rank.value, peer_rank(which))], kArrived,
           which);
        break;
      }
      case kSmallOutFree:
      case kLargeOutFree:
        ports_[kind == kLargeOutFree].out_held[which] = false;
        break;
      case kArrived:
        lines_[which].arrived.push_back(lines_[which].flying.front());
        lines_[which].flying.pop_front();
        break;
      case kAcknowledged: {
        const Entry& entry = program_.entries(queue(which))[lines_[which].unacknowledged.front()];
        lines_[which].unacknowledged.pop_front();
        if (entry.op.valid()) done[entry.op.value] = now_;
        if (entry.signaled) ++count_[queue(which).cq.value];
        break;
      }
    }
  }

  void free_out(std::uint32_t q, bool is_large) {
    const std::uint32_t rank = queue(q).rank.value;
    const int free = lines_[q].began + network_.gap_ns;
    if (free <= now_) {
      ports_[is_large].out_held[rank] = false;
    } else {
      at(free, is_large ? kLargeOutFree : kSmallOutFree, rank);
    }
  }

  void carry_out(std::uint32_t q) {
    const Entry& entry = head(q);
    ++lines_[q].head;
    if (is_enable(entry.kind)) {
      std::uint64_t& enabled = lines_[entry.target].enabled;
      enabled = std::max(enabled, entry.count - queue(entry.target).start);
    }
    if (entry.signaled) ++count_[queue(q).cq.value];
  }

  bool work(std::uint32_t q) {
    Line& line = lines_[q];
    if (queue(q).kind == QueueKind::kReceive) return land(queue(q).peer.value);
    if (line.busy || line.head >= line.enabled) return false;
    const Entry& entry = head(q);
    if (entry.kind == EntryKind::kWait && count_[entry.target] < entry.count) return false;
    if (is_message(entry.kind)) {
      line.busy = true;
      line.offered = now_;
      if (entry.op.valid()) ready[entry.op.value] = now_;
      ports_[large(entry)].waiting[queue(q).rank.value].push_back(q);
    } else if (entry.kind != EntryKind::kNop && entry_ns_ > 0) {
      line.busy = true;
      at(now_ + entry_ns_, kEntryEnds, q);
    } else {
      carry_out(q);
    }
    return true;
  }

  bool land(std::uint32_t q) {
    Line& line = lines_[q];
    const std::uint32_t to = queue(q).peer.value;
    if (line.arrived.empty() || line.landed >= lines_[to].enabled) return false;
    line.unacknowledged.push_back(line.arrived.front());
    line.arrived.pop_front();
    const OpId receive = program_.entries(queue(to))[line.landed++].op;
    if (receive.valid()) done[receive.value] = now_;
    ++count_[queue(to).cq.value];
    at(now_ + network_.latency_ns[pair(peer_rank(q), queue(q).rank.value)], kAcknowledged, q);
    return true;
  }

  void settle() {
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t q = 0; q < lines_.size(); ++q) more = work(q) || more;
    }
    for (const bool is_large : {false, true}) {
      Ports& ports = ports_[is_large];
      for (std::uint32_t rank = 0; rank < network_.ranks; ++rank) choose(ports, rank);
      while (start_one(ports, is_large, true)) {
      }
      while (start_one(ports, is_large, false)) {
      }
    }
  }

  void choose(Ports& ports, std::uint32_t rank) {
    auto& waiting = ports.waiting[rank];
    if (ports.out_held[rank] || waiting.empty()) return;
    const auto turn = [&](std::uint32_t q) -> std::uint64_t {
      if (egress_ == Egress::kLeastSlack) return head(q).latest;
      const auto queues = static_cast<std::uint32_t>(lines_.size());
      if (egress_ == Egress::kRoundRobin) return (q + queues - ports.served[rank] - 1) % queues;
      return 0;
    };
    const auto best = std::min_element(waiting.begin(), waiting.end(), [&](auto a, auto b) {
      return std::tuple(turn(a), lines_[a].offered, message(a)) <
             std::tuple(turn(b), lines_[b].offered, message(b));
    });
    const std::uint32_t q = *best;
    waiting.erase(best);
    ports.out_held[rank] = true;
    ports.served[rank] = q;
    ports.heading[peer_rank(q)].emplace_back(now_, message(q), q);
  }

  bool start_one(Ports& ports, bool is_large, bool empty_only) {
    for (std::uint32_t to = 0; to < network_.ranks; ++to) {
      auto& rivals = ports.heading[to];
      if (ports.in_held[to] || rivals.empty()) continue;
      const auto first = std::min_element(rivals.begin(), rivals.end());
      const std::uint32_t q = std::get<2>(*first);
      const Entry& entry = head(q);
      if (empty_only && bytes(entry) != 0) continue;
      rivals.erase(first);
      Line& line = lines_[q];
      line.began = now_;
      line.flying.push_back(static_cast<std::uint32_t>(line.head++));
      if (entry.op.valid()) wire[entry.op.value] = now_;
      ports.in_held[to] = bytes(entry) != 0;
      if (bytes(entry) == 0) free_out(q, is_large);
      const unsigned byte_ns = network_.byte_ns[pair(queue(q).rank.value, to)];
      at(now_ + static_cast<int>(bytes(entry) * byte_ns), kSent, q);
      return true;
    }
    return false;
  }

  const QueueProgram& program_;
  const Schedule& schedule_;
  const Network& network_;
  const Egress egress_;
  const int entry_ns_;
  int now_ = 0;
  std::vector<std::uint64_t> count_;  // by completion queue
  std::vector<Line> lines_;
  Ports ports_[2];  // small, large
  std::map<int, std::vector<Event>> events_;
};

Emulation emulate(const QueueProgram& program, const Schedule& schedule, const Network& network,
                  const NicTiming& timing = {}) {
  const MessageGraph graph(schedule);
  return emulate_timed(program, {schedule, network.platform(), network.wiring()}, graph, timing);
}

TEST(TimedQueues, AreTheNaiveNicsForRandomPrograms) {
  std::mt19937 random(31);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const char* const patterns[] = {"chain",      "binomial-tree", "binomial-pipeline",
                                  "circulant",  "sequential",    "scatter-allgather",
                                  "double-tree"};
  for (int trial = 0; trial < 600; ++trial) {
    const std::uint32_t ranks = 2 + below(5);
    const std::string spec =
        fmt::format("{}:ranks={},bytes={},block={}{}", patterns[below(7)], ranks, below(6000),
                    1000 + 500 * below(3), below(3) == 0 ? ",lower=put" : "");
    const Schedule schedule = sched::compile(sched::parse_spec(spec));
    QueueOptions options;
    options.mode = static_cast<Mode>(below(3));
    options.readiness =
        options.mode == Mode::kRdmcMq ? Readiness::kNone : static_cast<Readiness>(below(3));
    options.window = 1 + below(2);
    options.limits.queue_depth = below(2) == 0 ? 8 : 100;
    const QueueProgram program = compile_queues(schedule, options);
    Network network(ranks);
    for (unsigned& byte_ns : network.byte_ns) byte_ns = 1 + below(4) / 3;
    for (int& latency_ns : network.latency_ns) latency_ns = static_cast<int>(100 * below(12));
    network.gap_ns = below(2) == 0 ? 0 : static_cast<int>(700 * below(4));
    network.interleave_bytes = 1000 * below(3);
    NicTiming timing;
    timing.egress = static_cast<Egress>(below(3));
    const int entry_ns = below(2) == 0 ? 0 : static_cast<int>(50 * below(20));
    timing.entry_time = sched::Time{entry_ns * 1000};
    const Emulation run = emulate(program, schedule, network, timing);
    const std::string what =
        fmt::format("trial {}: {}, {}, {}, egress {}, gap {}, entry {}, interleave {}", trial, spec,
                    name(options.mode), name(options.readiness), name(timing.egress),
                    network.gap_ns, entry_ns, network.interleave_bytes);
    ASSERT_TRUE(run.sound()) << what << ": " << run.faults.front();
    const NaiveNics naive(program, schedule, network, timing.egress, entry_ns);
    const MessageGraph graph(schedule);
    for (const Message& m : graph.messages()) {
      const sched::OpTimes& source = run.trace.ops[m.source.value];
      ASSERT_NEAR(source.ready_s, naive.ready[m.source.value] * 1e-9, 1e-13) << what;
      ASSERT_NEAR(source.wire_s, naive.wire[m.source.value] * 1e-9, 1e-13) << what;
      ASSERT_NEAR(source.done_s, naive.done[m.source.value] * 1e-9, 1e-13) << what;
      ASSERT_EQ(source.issued_s, source.ready_s) << what;
      ASSERT_NEAR(run.trace.ops[m.receive.value].done_s, naive.done[m.receive.value] * 1e-9, 1e-13)
          << what;
    }
  }
}

// Rank 0 has 2000 bytes for rank 1 and then 1000 each for ranks 2 and 1; rank 2 has 1000 for
// rank 1. Everything may go at once.
Schedule four_messages() {
  return sched::read_text(
      "slackline schedule 1\nranks 3\nbuffer 0 rank 0 bytes 4000\nbuffer 1 rank 1 bytes 4000\n"
      "buffer 2 rank 2 bytes 4000\nchannel 0 from 0 to 1\nchannel 1 from 0 to 2\n"
      "channel 2 from 2 to 1\nrank 0\n  0 send on 0 reads 0[0+2000]\n"
      "  1 send on 1 reads 0[2000+1000]\n  2 send on 0 reads 0[3000+1000]\nrank 1\n"
      "  3 recv on 0 writes 1[0+2000]\n  4 recv on 0 writes 1[2000+1000]\n"
      "  5 recv on 2 writes 1[3000+1000]\nrank 2\n  6 send on 2 reads 2[1000+1000]\n"
      "  7 recv on 1 writes 2[0+1000]\npre 0[0+4000] value 0\npre 2[1000+1000] value 1\n",
      "four");
}

QueueProgram without_readiness(const Schedule& schedule) {
  QueueOptions options;
  options.readiness = Readiness::kNone;
  return compile_queues(schedule, options);
}

// A message that waited says for which: the one that had the port, its own or the other end's.
TEST(TimedQueues, WhoWaitedForAPortSaysBehindWhom) {
  const Schedule schedule = four_messages();
  const Emulation run = emulate(without_readiness(schedule), schedule, Network(3));
  ASSERT_TRUE(run.sound()) << run.faults.front();
  const auto wire_us = [&](std::uint32_t op) { return run.trace.ops[op].wire_s * 1e6; };
  const auto cause = [&](std::uint32_t op) { return run.trace.ops[op].cause; };
  // 0 has both ports first; 1 waits for the out-port, 6 for rank 1's in-port, and 2, which is first
  // of its queue when 0 has left, for 1 at the out-port and for 6 at the in-port, until 3 us.
  EXPECT_NEAR(wire_us(0), 0, 1e-9);
  EXPECT_NEAR(wire_us(1), 2, 1e-9);
  EXPECT_NEAR(wire_us(6), 2, 1e-9);
  EXPECT_NEAR(wire_us(2), 3, 1e-9);
  EXPECT_EQ(cause(0), OpId::none());
  EXPECT_EQ(cause(1), OpId(0));
  EXPECT_EQ(cause(6), OpId(0));
  EXPECT_EQ(cause(2), OpId(6));
  EXPECT_EQ(cause(3), OpId(0));
  EXPECT_EQ(cause(4), OpId(2));
  EXPECT_EQ(cause(5), OpId(6));
  EXPECT_EQ(cause(7), OpId(1));
}

// One after another at a port of their own rank, each named by the next.
TEST(TimedQueues, WhoWaitedForItsOwnPortNamesTheOneBefore) {
  const Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 4\nbuffer 0 rank 0 bytes 3000\nbuffer 1 rank 1 bytes 1000\n"
      "buffer 2 rank 2 bytes 1000\nbuffer 3 rank 3 bytes 1000\nchannel 0 from 0 to 1\n"
      "channel 1 from 0 to 2\nchannel 2 from 0 to 3\nrank 0\n  0 send on 0 reads 0[0+1000]\n"
      "  1 send on 1 reads 0[1000+1000]\n  2 send on 2 reads 0[2000+1000]\nrank 1\n"
      "  3 recv on 0 writes 1[0+1000]\nrank 2\n  4 recv on 1 writes 2[0+1000]\nrank 3\n"
      "  5 recv on 2 writes 3[0+1000]\npre 0[0+3000] value 0\n",
      "fan");
  const QueueProgram program = without_readiness(schedule);
  const auto order = [&](Egress egress, int gap_ns) {
    Network network(4);
    network.gap_ns = gap_ns;
    const Emulation run = emulate(program, schedule, network, {egress, sched::Time{0}});
    std::string text;
    for (std::uint32_t op = 0; op < 3; ++op) {
      const sched::OpTimes& t = run.trace.ops[op];
      text += fmt::format("{:.0f} behind {}, ", t.wire_s * 1e9,
                          t.cause.valid() ? fmt::format("{}", t.cause.value) : "none");
    }
    return text;
  };
  EXPECT_EQ(order(Egress::kFifo, 0), "0 behind none, 1000 behind 0, 2000 behind 1, ");
  EXPECT_EQ(order(Egress::kFifo, 1500), "0 behind none, 1500 behind 0, 3000 behind 1, ");
  // All three must start in step 0, one after another: the last may start no later than that.
  EXPECT_EQ(order(Egress::kLeastSlack, 0), "0 behind none, 1000 behind 0, 2000 behind 1, ");
}

// What waits for ever leaves its times at infinity, and is counted.
TEST(TimedQueues, WhatHangsIsTold) {
  const Schedule schedule = four_messages();
  std::string text = write_queues(without_readiness(schedule));
  const std::size_t digest = text.find("digest");
  text.erase(digest, text.find("schedule", digest) - digest);
  const std::size_t at = text.find("  send 0[3000+1000]");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "  wait 0 count 7\n");
  const Emulation run = emulate(read_queues(text, "f"), schedule, Network(3));
  // The send's queue, the receives that it leaves open, and the two that are told of both.
  EXPECT_EQ(run.stuck, 4u);
  EXPECT_FALSE(run.sound());
  EXPECT_EQ(run.faults.front(), "stuck: entry 1 (wait) of queue 0 (data send, rank 0)");
  EXPECT_TRUE(std::isinf(run.trace.ops[2].ready_s));
  EXPECT_TRUE(std::isinf(run.trace.ops[2].done_s));
  EXPECT_TRUE(std::isinf(run.trace.ops[4].done_s));
  EXPECT_NEAR(run.trace.ops[1].done_s, 5e-6, 1e-12);
  EXPECT_NEAR(run.trace.ops[7].done_s, 4e-6, 1e-12);
}

TEST(TimedQueues, TracesSayWhatMadeThem) {
  const Schedule schedule = four_messages();
  const MessageGraph graph(schedule);
  const QueueProgram program = without_readiness(schedule);
  const Platform on = machine::parse_platform_spec("star:rate=8Gbps,latency=1us");
  machine::DelayPlan delays;
  delays.pairs.push_back({RankId(0), RankId(1), sched::Rate{4'000'000'000}});
  NicClock clock;
  clock.engine = "offload:other";
  const Emulation run = emulate_timed(program, {schedule, on, delays}, graph, {}, clock);
  EXPECT_EQ(run.trace.schedule, schedule.digest());
  EXPECT_EQ(run.trace.platform, on.spec());
  EXPECT_EQ(run.trace.delays, delays.text());
  EXPECT_EQ(run.trace.engine, "offload:other");
  EXPECT_EQ(run.trace.title, schedule.title());
  // Half the rate: 4 us for the first message.
  EXPECT_NEAR(run.trace.ops[3].done_s, 5e-6, 1e-12);
}

TEST(TimedQueues, RefusalsSayWhatIsExpected) {
  const Schedule schedule = four_messages();
  const MessageGraph graph(schedule);
  const QueueProgram program = without_readiness(schedule);
  const auto refusal = [&](const char* platform,
                           const machine::DelayPlan& delays = {}) -> std::string {
    return testing::error_of<Unsupported>([&] {
      const Platform on = machine::parse_platform_spec(platform);
      emulate_timed(program, {schedule, on, delays}, graph);
    });
  };
  EXPECT_EQ(refusal("star:rate=8Gbps"), "");
  EXPECT_EQ(refusal("star:nic=fair"),
            "offload: NICs that share their ports fairly; expected nic=serial");
  EXPECT_EQ(refusal("star:ranks_per_node=2"),
            "offload: nodes of several ranks; expected ranks_per_node=1");
  EXPECT_EQ(refusal("star:own_messages=memory"),
            "offload: own messages through memory; expected own_messages=nic");
  machine::DelayPlan delays;
  delays.failures.push_back({"", RankId(0), sched::Time{0}});
  EXPECT_EQ(refusal("star:rate=8Gbps", delays),
            "offload: a delay plan with failures; expected delays only");
}

TEST(TimedQueues, EgressHasThreeNames) {
  for (const Egress egress : {Egress::kFifo, Egress::kRoundRobin, Egress::kLeastSlack}) {
    EXPECT_EQ(egress_named(name(egress)), egress);
  }
  EXPECT_EQ(name(Egress::kFifo), "fifo");
  EXPECT_EQ(name(Egress::kRoundRobin), "round-robin");
  EXPECT_EQ(name(Egress::kLeastSlack), "least-slack");
  EXPECT_EQ(egress_named("lifo"), std::nullopt);
}

}  // namespace
}  // namespace slackline::offload
