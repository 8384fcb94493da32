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
using sched::RankId;

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
  ports.join(0, OpId(5), RankId(0), RankId(1));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.op, OpId(5));
  EXPECT_EQ(start.src, RankId(0));
  EXPECT_EQ(start.dst, RankId(1));
  EXPECT_FALSE(start.behind.valid());
  EXPECT_FALSE(ports.next_start(start));
}

TEST(PortArbiter, RivalsGoByTimeOfHeadingThenOp) {
  PortArbiter ports(5);
  ports.join(0, OpId(1), RankId(0), RankId(4));
  EXPECT_EQ(starts(ports), Ops{1});
  ports.join(2, OpId(3), RankId(3), RankId(4));
  ports.join(2, OpId(2), RankId(1), RankId(4));
  ports.join(1, OpId(9), RankId(2), RankId(4));
  EXPECT_EQ(starts(ports), Ops{});
  for (const std::uint32_t next : {9, 2, 3}) {
    ports.free_in(RankId(4));
    EXPECT_EQ(starts(ports), Ops{next});
  }
}

TEST(PortArbiter, AHeadBlocksWhatIsBehindIt) {
  PortArbiter ports(4);
  ports.join(0, OpId(1), RankId(0), RankId(2));
  EXPECT_EQ(starts(ports), Ops{1});
  ports.join(0, OpId(2), RankId(1), RankId(2));
  ports.join(0, OpId(3), RankId(1), RankId(3));  // rank 3 is idle
  EXPECT_EQ(starts(ports), Ops{});
  ports.free_in(RankId(2));
  EXPECT_EQ(starts(ports), Ops{2});
  ports.free_out(1, RankId(1));
  EXPECT_EQ(starts(ports), Ops{3});
}

// The time that counts is when a message came to head its queue, not when it joined.
TEST(PortArbiter, HeadingCountsFromTheFormerHeadsEnd) {
  PortArbiter ports(4);
  ports.join(0, OpId(1), RankId(0), RankId(2));
  ports.join(0, OpId(2), RankId(0), RankId(3));
  ports.join(0, OpId(3), RankId(1), RankId(3));
  EXPECT_EQ(starts(ports).size(), 2u);           // 1 and 3
  ports.join(4, OpId(9), RankId(2), RankId(3));  // heads at 4
  ports.free_out(5, RankId(0));                  // 2 heads at 5
  ports.free_in(RankId(3));
  EXPECT_EQ(starts(ports), Ops{9});
}

TEST(PortArbiter, SaysBehindWhatAMessageWaited) {
  PortArbiter ports(3);
  PortArbiter::Start start;
  ports.join(0, OpId(1), RankId(0), RankId(2));
  ports.join(0, OpId(2), RankId(0), RankId(1));
  ports.join(0, OpId(3), RankId(1), RankId(2));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_FALSE(start.behind.valid());
  ASSERT_FALSE(ports.next_start(start));
  ports.free_out(4, RankId(0));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.op, OpId(2));
  EXPECT_EQ(start.behind, OpId(1));  // for the out-port
  ports.free_in(RankId(2));
  ASSERT_TRUE(ports.next_start(start));
  EXPECT_EQ(start.op, OpId(3));
  EXPECT_EQ(start.behind, OpId(1));  // for the in-port
}

// The same rule without any cleverness: all queues are searched at every question.
class NaivePorts {
 public:
  explicit NaivePorts(std::uint32_t ranks) : out_(ranks), in_held_(ranks, false) {}

  void join(double now_s, std::uint32_t op, std::uint32_t src, std::uint32_t dst) {
    out_[src].queue.push_back({op, dst});
    if (!out_[src].held && out_[src].queue.size() == 1) out_[src].heading_s = now_s;
  }
  // Of every idle in-port the rival that is first.
  std::vector<std::uint32_t> starts() {
    std::vector<std::uint32_t> ops;
    for (std::uint32_t dst = 0; dst < in_held_.size(); ++dst) {
      if (in_held_[dst]) continue;
      std::optional<std::tuple<double, std::uint32_t, std::uint32_t>> first;
      for (std::uint32_t src = 0; src < out_.size(); ++src) {
        const Out& out = out_[src];
        if (out.held || out.queue.empty() || out.queue.front().dst != dst) continue;
        const std::tuple rival{out.heading_s, out.queue.front().op, src};
        if (!first || rival < *first) first = rival;
      }
      if (!first) continue;
      Out& out = out_[std::get<2>(*first)];
      ops.push_back(out.queue.front().op);
      out.queue.pop_front();
      out.held = in_held_[dst] = true;
    }
    return ops;
  }
  void free_out(double now_s, std::uint32_t src) {
    out_[src].held = false;
    out_[src].heading_s = now_s;
  }
  void free_in(std::uint32_t dst) { in_held_[dst] = false; }
  bool out_held(std::uint32_t src) const { return out_[src].held; }
  bool in_held(std::uint32_t dst) const { return in_held_[dst]; }

 private:
  struct Message {
    std::uint32_t op;
    std::uint32_t dst;
  };
  struct Out {
    std::deque<Message> queue;
    double heading_s = 0;
    bool held = false;
  };
  std::vector<Out> out_;
  std::vector<bool> in_held_;
};

TEST(PortArbiter, AgreesWithANaiveOne) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::size_t started = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint32_t ranks = 1 + below(6);
    PortArbiter ports(ranks);
    NaivePorts naive(ranks);
    std::vector<std::uint32_t> names(400);  // operations join in any order of their numbers
    for (std::uint32_t i = 0; i < names.size(); ++i) names[i] = i;
    std::shuffle(names.begin(), names.end(), random);
    std::size_t joined = 0;
    for (int now = 0; now < 200; ++now) {
      for (std::uint32_t r = 0; r < ranks; ++r) {
        if (naive.out_held(r) && below(2) == 0) {
          ports.free_out(now, RankId(r));
          naive.free_out(now, r);
        }
        if (naive.in_held(r) && below(2) == 0) {
          ports.free_in(RankId(r));
          naive.free_in(r);
        }
      }
      while (joined < names.size() && below(3) != 0) {
        const std::uint32_t src = below(ranks);
        const std::uint32_t dst = below(ranks);
        ports.join(now, OpId(names[joined]), RankId(src), RankId(dst));
        naive.join(now, names[joined++], src, dst);
      }
      std::vector<std::uint32_t> got = starts(ports);
      std::vector<std::uint32_t> expected = naive.starts();
      std::sort(got.begin(), got.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(got, expected) << "trial " << trial << ", at " << now;
      started += got.size();
    }
  }
  EXPECT_GT(started, 10'000u);
}

}  // namespace
}  // namespace slackline::machine
