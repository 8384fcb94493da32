#include "machine/port_arbiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <tuple>
#include <vector>

namespace slackline::machine {
namespace {

using sched::OpId;

constexpr std::uint64_t kBytes = 1000;

std::vector<std::uint32_t> starts(PortArbiter& ports) {
  std::vector<std::uint32_t> ops;
  PortArbiter::Start start;
  while (ports.next_start(start)) ops.push_back(start.op.value);
  return ops;
}

using Ops = std::vector<std::uint32_t>;

TEST(PortArbiter, AMessageStartsAtOnceOnIdlePorts) {
  PortArbiter ports(2);
  PortArbiter::Start start;
  EXPECT_FALSE(ports.next_start(start));
  ports.join(0, OpId(5), NicId(0), NicId(1), kBytes);
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.op, OpId(5));
  EXPECT_EQ(start.src, NicId(0));
  EXPECT_EQ(start.dst, NicId(1));
  EXPECT_FALSE(start.behind.valid());
  EXPECT_FALSE(ports.next_start(start));
}

TEST(PortArbiter, RivalsGoByTimeOfHeadingThenOp) {
  PortArbiter ports(5);
  ports.join(0, OpId(1), NicId(0), NicId(4), kBytes);
  EXPECT_EQ(starts(ports), Ops{1});
  ports.join(2, OpId(3), NicId(3), NicId(4), kBytes);
  ports.join(2, OpId(2), NicId(1), NicId(4), kBytes);
  ports.join(1, OpId(9), NicId(2), NicId(4), kBytes);
  EXPECT_EQ(starts(ports), Ops{});
  for (const std::uint32_t next : {9, 2, 3}) {
    ports.free_in(NicId(4));
    EXPECT_EQ(starts(ports), Ops{next});
  }
}

TEST(PortArbiter, AHeadBlocksWhatIsBehindIt) {
  PortArbiter ports(4);
  ports.join(0, OpId(1), NicId(0), NicId(2), kBytes);
  EXPECT_EQ(starts(ports), Ops{1});
  ports.join(0, OpId(2), NicId(1), NicId(2), kBytes);
  ports.join(0, OpId(3), NicId(1), NicId(3), kBytes);  // NIC 3 is idle
  EXPECT_EQ(starts(ports), Ops{});
  ports.free_in(NicId(2));
  EXPECT_EQ(starts(ports), Ops{2});
  ports.free_out(1, NicId(1));
  EXPECT_EQ(starts(ports), Ops{3});
}

// The time that counts is when a message came to head its queue, not when it joined.
TEST(PortArbiter, HeadingCountsFromTheFormerHeadsEnd) {
  PortArbiter ports(4);
  ports.join(0, OpId(1), NicId(0), NicId(2), kBytes);
  ports.join(0, OpId(2), NicId(0), NicId(3), kBytes);
  ports.join(0, OpId(3), NicId(1), NicId(3), kBytes);
  EXPECT_EQ(starts(ports).size(), 2u);                 // 1 and 3
  ports.join(4, OpId(9), NicId(2), NicId(3), kBytes);  // heads at 4
  ports.free_out(5, NicId(0));                         // 2 heads at 5
  ports.free_in(NicId(3));
  EXPECT_EQ(starts(ports), Ops{9});
}

TEST(PortArbiter, SaysBehindWhatAMessageWaited) {
  PortArbiter ports(3);
  PortArbiter::Start start;
  ports.join(0, OpId(1), NicId(0), NicId(2), kBytes);
  ports.join(0, OpId(2), NicId(0), NicId(1), kBytes);
  ports.join(0, OpId(3), NicId(1), NicId(2), kBytes);
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_FALSE(start.behind.valid());
  ASSERT_FALSE(ports.next_start(start));
  ports.free_out(4, NicId(0));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.op, OpId(2));
  EXPECT_EQ(start.behind, OpId(1));  // for the out-port
  ports.free_in(NicId(2));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.op, OpId(3));
  EXPECT_EQ(start.behind, OpId(1));  // for the in-port
}

TEST(PortArbiter, SaysBehindWhomOneWaitedThatCameLater) {
  PortArbiter ports(4);
  PortArbiter::Start start;
  ports.join(0, OpId(1), NicId(0), NicId(3), kBytes);
  ASSERT_TRUE(ports.next_start(start));
  ASSERT_FALSE(ports.next_start(start));
  ports.join(1, OpId(2), NicId(1), NicId(3), kBytes);
  ASSERT_FALSE(ports.next_start(start));
  ports.free_in(NicId(3));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.behind, OpId(1));
  ports.free_in(NicId(3));
  ASSERT_FALSE(ports.next_start(start));
  ports.join(2, OpId(3), NicId(2), NicId(3), kBytes);  // waits for nobody
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_FALSE(start.behind.valid());
}

TEST(PortArbiter, OneWithoutBytesIsAskedForFirst) {
  PortArbiter ports(5);
  PortArbiter::Start start;
  ports.join(0, OpId(1), NicId(0), NicId(4), kBytes);
  ports.join(0, OpId(7), NicId(1), NicId(3), 0);
  ports.join(0, OpId(8), NicId(2), NicId(4), 0);  // behind 1, which takes time
  ASSERT_TRUE(ports.next_empty(start));
  EXPECT_EQ(start.op, OpId(7));
  EXPECT_FALSE(ports.has_queued(NicId(1)));
  ports.free_in(NicId(3));
  EXPECT_FALSE(ports.next_empty(start));
  ports.join(0, OpId(0), NicId(3), NicId(4), 0);  // before 1
  EXPECT_TRUE(ports.has_queued(NicId(3)));
  ASSERT_TRUE(ports.next_empty(start));
  EXPECT_EQ(start.op, OpId(0));
  ports.free_in(NicId(4));
  EXPECT_FALSE(ports.next_empty(start));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.op, OpId(1));
  EXPECT_FALSE(ports.next_start(start));
}

struct Begun {
  std::uint32_t op;
  std::uint32_t behind;
  friend auto operator<=>(const Begun&, const Begun&) = default;
};

// The same rule without any cleverness: all queues are searched at every question.
class NaivePorts {
 public:
  explicit NaivePorts(std::uint32_t ranks) : out_(ranks), in_(ranks) {}

  void join(double now_s, std::uint32_t op, std::uint32_t src, std::uint32_t dst, bool empty) {
    Out& out = out_[src];
    out.queue.push_back({op, dst, empty, out.held || !out.queue.empty()});
    if (!out.held && out.queue.size() == 1) out.heading_s = now_s;
  }
  // Of every idle in-port the rival that is first; none that has bytes if `empty_only`.
  std::vector<Begun> starts(bool empty_only) {
    std::vector<Begun> begun;
    for (std::uint32_t dst = 0; dst < in_.size(); ++dst) {
      if (in_[dst].held) continue;
      std::optional<std::tuple<double, std::uint32_t, std::uint32_t>> first;
      for (std::uint32_t src = 0; src < out_.size(); ++src) {
        const Out& out = out_[src];
        if (out.held || out.queue.empty() || out.queue.front().dst != dst) continue;
        const std::tuple rival{out.heading_s, out.queue.front().op, src};
        if (!first || rival < *first) first = rival;
      }
      if (!first) in_[dst].last = OpId::none().value;  // nobody waits for it
      if (!first) continue;
      Out& out = out_[std::get<2>(*first)];
      const Message message = out.queue.front();
      if (empty_only && !message.empty) continue;
      const bool waited_there = in_[dst].last != OpId::none().value;
      begun.push_back({message.op, waited_there     ? in_[dst].last
                                   : message.waited ? out.last
                                                    : OpId::none().value});
      out.queue.pop_front();
      out.held = in_[dst].held = true;
      out.last = in_[dst].last = message.op;
    }
    return begun;
  }
  void free_out(double now_s, std::uint32_t src) {
    out_[src].held = false;
    out_[src].heading_s = now_s;
  }
  void free_in(std::uint32_t dst) { in_[dst].held = false; }
  bool out_held(std::uint32_t src) const { return out_[src].held; }
  bool in_held(std::uint32_t dst) const { return in_[dst].held; }
  bool has_queued(std::uint32_t src) const { return !out_[src].queue.empty(); }

 private:
  struct Message {
    std::uint32_t op;
    std::uint32_t dst;
    bool empty;
    bool waited;  // for its out-port
  };
  struct Out {
    std::deque<Message> queue;
    double heading_s = 0;
    bool held = false;
    std::uint32_t last = OpId::none().value;
  };
  struct In {
    bool held = false;
    std::uint32_t last = OpId::none().value;  // if somebody has waited ever since it held the port
  };
  std::vector<Out> out_;
  std::vector<In> in_;
};

std::vector<Begun> begun(PortArbiter& ports, bool empty_only) {
  std::vector<Begun> all;
  PortArbiter::Start start;
  while (empty_only ? ports.next_empty(start) : ports.next_start(start)) {
    all.push_back({start.op.value, start.behind.value});
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(PortArbiter, AgreesWithANaiveOne) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::size_t started = 0;
  std::size_t empty = 0;
  std::size_t waited = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint32_t ranks = 1 + below(6);
    const bool any_empty = trial % 4 != 0;
    PortArbiter ports(ranks);
    NaivePorts naive(ranks);
    std::vector<std::uint32_t> names(400);  // operations join in any order of their numbers
    for (std::uint32_t i = 0; i < names.size(); ++i) names[i] = i;
    std::shuffle(names.begin(), names.end(), random);
    std::size_t joined = 0;
    for (int now = 0; now < 200; ++now) {
      // What ends in this instant, what may start in it, and again.
      for (std::uint32_t round = below(3); round < 3; ++round) {
        for (std::uint32_t r = 0; r < ranks; ++r) {
          if (naive.out_held(r) && below(2) == 0) {
            ports.free_out(now, NicId(r));
            naive.free_out(now, r);
          }
          if (naive.in_held(r) && below(2) == 0) {
            ports.free_in(NicId(r));
            naive.free_in(r);
          }
        }
        while (joined < names.size() && below(3) != 0) {
          const std::uint32_t src = below(ranks);
          const std::uint32_t dst = below(ranks);
          const bool is_empty = any_empty && below(2) == 0;
          ports.join(now, OpId(names[joined]), NicId(src), NicId(dst), is_empty ? 0 : kBytes);
          naive.join(now, names[joined++], src, dst, is_empty);
        }
        for (const bool empty_only : {true, false}) {
          if (!empty_only && round != 2) continue;
          if (empty_only && !any_empty) continue;  // one who never has any need not ask
          const std::vector<Begun> got = begun(ports, empty_only);
          std::vector<Begun> expected = naive.starts(empty_only);
          std::sort(expected.begin(), expected.end());
          ASSERT_EQ(got, expected) << "trial " << trial << ", at " << now;
          started += got.size();
          if (empty_only) empty += got.size();
          for (const Begun& b : got) waited += b.behind != OpId::none().value ? 1 : 0;
        }
        for (std::uint32_t r = 0; r < ranks; ++r) {
          ASSERT_EQ(ports.has_queued(NicId(r)), naive.has_queued(r));
        }
      }
    }
  }
  EXPECT_GT(started, 20'000u);
  EXPECT_GT(empty, 3'000u);
  EXPECT_GT(waited, 5'000u);
}

}  // namespace
}  // namespace slackline::machine
