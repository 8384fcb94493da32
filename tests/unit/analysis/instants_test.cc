// What comes about within one instant: the event engine against a machine of the test's own that
// searches everything at every step. Puts, and copies that make operations start apart; no latency,
// so that much ends in the instant in which it began.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::Platform;
using sched::OpId;
using testing::Program;

struct Step {
  std::uint32_t rank;
  std::uint32_t dst;    // its own rank: a copy
  std::uint64_t units;  // bytes in thousands; each takes 1 us on a port, or in a copy
  bool after_last;      // waits until the rank's former step is done
};

// In whole microseconds.
struct Costs {
  int o_post = 0;
  int o_complete = 0;
  int gap = 0;
  std::uint64_t interleave = 0;  // units
};

// docs/architecture.md, "A message, exactly" and "Instants", word by word.
class NaiveMachine {
 public:
  NaiveMachine(std::vector<Step> steps, std::uint32_t ranks, Costs costs)
      : steps_(std::move(steps)), costs_(costs), lane_busy_(ranks, false) {
    for (Ports& ports : ports_) {
      ports.queue.resize(ranks);
      ports.heading.resize(ranks, 0);
      ports.out_held.resize(ranks, false);
      ports.in_held.resize(ranks, false);
    }
    wire.assign(steps_.size(), -1);
    done.assign(steps_.size(), -1);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!waits(i)) ready_.push_back(i);
    }
    instant();
    while (!events_.empty()) {
      now_ = events_.begin()->first;
      ended_ = events_.begin()->second;
      events_.erase(events_.begin());
      instant();
    }
  }

  std::vector<int> wire;  // when each began there, and was done
  std::vector<int> done;

 private:
  enum Kind { kLaneEnd, kOutFree, kSent, kDone };
  using Event = std::tuple<std::size_t, Kind>;  // in the order of an instant
  struct Ports {
    std::vector<std::deque<std::size_t>> queue;
    std::vector<int> heading;
    std::vector<bool> out_held, in_held;
  };

  bool waits(std::size_t i) const {
    return i > 0 && steps_[i].after_last && steps_[i - 1].rank == steps_[i].rank;
  }
  bool is_copy(std::size_t i) const { return steps_[i].rank == steps_[i].dst; }
  int time(std::size_t i) const { return static_cast<int>(steps_[i].units); }
  Ports& ports_of(std::size_t i) { return ports_[steps_[i].units > costs_.interleave ? 1 : 0]; }

  void ends(int at, std::size_t i, Kind kind) {
    (at > now_ ? events_[at] : ended_).emplace_back(i, kind);
  }

  void instant() {
    for (;;) {
      if (!ended_.empty()) {
        std::vector<Event> batch;
        batch.swap(ended_);
        std::sort(batch.begin(), batch.end());
        for (const auto& [i, kind] : batch) handle(i, kind);
        continue;
      }
      take_lanes();
      if (!ended_.empty()) continue;
      while (start_one(ports_[0], true)) {
      }
      if (!ended_.empty()) continue;
      while (start_one(ports_[1], false) || start_one(ports_[0], false)) {
      }
      if (ended_.empty()) return;
    }
  }

  void take_lanes() {
    for (std::uint32_t rank = 0; rank < lane_busy_.size(); ++rank) {
      if (lane_busy_[rank]) continue;
      const auto first = std::find_if(ready_.begin(), ready_.end(),
                                      [&](std::size_t i) { return steps_[i].rank == rank; });
      if (first == ready_.end()) continue;
      const std::size_t i = *first;
      ready_.erase(first);
      lane_busy_[rank] = true;
      ends(now_ + (is_copy(i) ? time(i) : costs_.o_post), i, kLaneEnd);
    }
  }

  // Among the in-ports that are idle: one whose first rival may start.
  bool start_one(Ports& ports, bool empty_only) {
    for (std::uint32_t dst = 0; dst < lane_busy_.size(); ++dst) {
      if (ports.in_held[dst]) continue;
      std::vector<std::tuple<int, std::size_t>> rivals;
      for (std::uint32_t src = 0; src < lane_busy_.size(); ++src) {
        const auto& queue = ports.queue[src];
        if (ports.out_held[src] || queue.empty() || steps_[queue.front()].dst != dst) continue;
        rivals.emplace_back(ports.heading[src], queue.front());
      }
      if (rivals.empty()) continue;
      const std::size_t i = std::get<1>(*std::min_element(rivals.begin(), rivals.end()));
      if (empty_only && time(i) != 0) continue;
      ports.queue[steps_[i].rank].pop_front();
      ports.out_held[steps_[i].rank] = true;
      ports.in_held[dst] = time(i) != 0;
      wire[i] = now_;
      ends(now_ + std::max(costs_.gap, time(i)), i, kOutFree);
      ends(now_ + time(i), i, kSent);
      return true;
    }
    return false;
  }

  void handle(std::size_t i, Kind kind) {
    Ports& ports = ports_of(i);
    const std::uint32_t rank = steps_[i].rank;
    switch (kind) {
      case kLaneEnd:
        lane_busy_[rank] = false;
        if (is_copy(i)) return handle(i, kDone);
        if (ports.queue[rank].empty() && !ports.out_held[rank]) ports.heading[rank] = now_;
        ports.queue[rank].push_back(i);
        return;
      case kOutFree:
        ports.out_held[rank] = false;
        ports.heading[rank] = now_;
        return;
      case kSent:
        ports.in_held[steps_[i].dst] = false;
        ends(now_ + costs_.o_complete, i, kDone);
        return;
      case kDone:
        done[i] = now_;
        if (i + 1 < steps_.size() && waits(i + 1)) {
          ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), i + 1), i + 1);
        }
    }
  }

  const std::vector<Step> steps_;
  const Costs costs_;
  int now_ = 0;
  std::vector<std::size_t> ready_;  // in order
  std::vector<bool> lane_busy_;
  Ports ports_[2];  // small, large
  std::map<int, std::vector<Event>> events_;
  std::vector<Event> ended_;
};

void expect_agreement(const std::vector<Step>& steps, std::uint32_t ranks, const Costs& costs) {
  Program p(ranks);
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    ops.push_back(s.rank == s.dst ? p.copy(s.rank, 1000 * s.units)
                                  : p.put(p.channel(s.rank, s.dst), 1000 * s.units));
    if (i > 0 && s.after_last && steps[i - 1].rank == s.rank) p.after({ops[i - 1]}, ops[i]);
  }
  Platform platform;
  platform.rate = {8'000'000'000};
  platform.copy_rate = {8'000'000'000};
  platform.latency = sched::Time{0};
  platform.o_post = sched::Time{costs.o_post * 1'000'000};
  platform.o_complete = sched::Time{costs.o_complete * 1'000'000};
  platform.gap = sched::Time{costs.gap * 1'000'000};
  platform.interleave_bytes = 1000 * costs.interleave;
  const sched::Trace trace = run_events({p.build(), platform});
  const NaiveMachine naive(steps, ranks, costs);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ASSERT_NEAR(trace.ops[i].done_s, naive.done[i] * 1e-6, 1e-13) << "op " << i;
    if (steps[i].rank == steps[i].dst) continue;
    ASSERT_NEAR(trace.ops[i].wire_s, naive.wire[i] * 1e-6, 1e-13) << "op " << i;
  }
}

// Rank 1's second message heads its queue when its first, which takes no time, has left: in the
// instant in which rank 0's heads its own. Both want rank 2, and the lower operation has it first.
TEST(Instants, AnEmptyMessageEndsBeforeARivalTakesThePort) {
  Program p(4);
  p.put(p.channel(0, 3), 0);
  const OpId credit = p.put(p.channel(0, 2), 0);
  const OpId block = p.put(p.channel(1, 2), 4'000);
  Platform platform;
  platform.rate = {8'000'000'000};
  const sched::Trace trace = run_events({p.build(), platform});
  EXPECT_EQ(trace.ops[credit.value].wire_s, 0);
  EXPECT_EQ(trace.ops[block.value].wire_s, 0);
}

// Two ranks, two steps each, to any of three ranks, with bytes or none.
TEST(Instants, AreTheNaiveMachinesForAllShortPrograms) {
  for (std::uint32_t code = 0; code < 12 * 12 * 12 * 12; ++code) {
    std::vector<Step> steps;
    for (std::uint32_t i = 0, rest = code; i < 4; ++i, rest /= 12) {
      const std::uint32_t rank = i / 2;
      steps.push_back({rank, rest % 3, rest / 3 % 2, rest / 6 % 2 == 1});
    }
    if (steps[0].after_last || steps[2].after_last) continue;  // the same as without
    for (const int gap : {0, 1}) {
      ASSERT_NO_FATAL_FAILURE(expect_agreement(steps, 3, {0, 0, gap, 1}))
          << "program " << code << ", gap " << gap;
    }
  }
}

TEST(Instants, AreTheNaiveMachinesForRandomPrograms) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int trial = 0; trial < 4'000; ++trial) {
    const std::uint32_t ranks = 2 + below(4);
    std::vector<Step> steps;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t i = 1 + below(6); i > 0; --i) {
        steps.push_back({rank, below(ranks), below(2) * below(4), below(3) == 0});
      }
    }
    const Costs costs{static_cast<int>(below(3) / 2), static_cast<int>(below(2)),
                      static_cast<int>(below(2) * below(3)), below(4)};
    ASSERT_NO_FATAL_FAILURE(expect_agreement(steps, ranks, costs)) << "trial " << trial;
  }
}

// A receive is posted in the instant in which its message arrives, which a sum of other durations
// puts a rounding error later. What it releases goes before an operation of the same instant that
// has a higher id.
TEST(Instants, AnEndThatRoundingPutsLaterIsOfTheInstant) {
  int rounded = 0;
  for (int bytes = 1; bytes <= 40; ++bytes) {
    for (int latency_ns = 1; latency_ns <= 40; ++latency_ns) {
      const double at_s = sched::seconds(sched::Time{(bytes + latency_ns) * 1000});
      const double arrival_s = bytes / 1e9 + sched::seconds(sched::Time{latency_ns * 1000});
      if (arrival_s > at_s) ++rounded;
      Program p(2);
      const sched::ChannelId channel = p.channel(0, 1);
      p.send(channel, static_cast<std::uint64_t>(bytes));
      const OpId posted = p.delay(1, sched::Time{(bytes + latency_ns) * 1000});
      const OpId receive = p.recv(channel, static_cast<std::uint64_t>(bytes));
      const OpId first = p.calc(1, testing::us(1));
      const OpId second = p.calc(1, testing::us(1));
      p.after({posted}, receive);
      p.after({receive}, first);
      p.after({posted}, second);
      Platform platform;
      platform.rate = {8'000'000'000};
      platform.latency = sched::Time{latency_ns * 1000};
      const sched::Trace trace = run_events({p.build(), platform});
      ASSERT_NEAR(trace.ops[first.value].issued_s, at_s, 1e-15) << bytes << ", " << latency_ns;
      ASSERT_NEAR(trace.ops[second.value].issued_s, at_s + 1e-6, 1e-15)
          << bytes << ", " << latency_ns;
    }
  }
  EXPECT_GT(rounded, 100);
}

}  // namespace
}  // namespace slackline::analysis
