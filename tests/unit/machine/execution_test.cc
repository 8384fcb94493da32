// The state machine under both simulators, driven by a clock of the test's own. What each rule
// costs is held to numbers in tests/unit/analysis.
#include "machine/run/execution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "machine/run/executable.h"
#include "tests/unit/analysis/program.h"

namespace slackline::machine {
namespace {

using sched::ChannelId;
using sched::OpId;
using sched::RankId;
using testing::Program;

// Large messages take a second each, whatever their size; notes what it was asked.
class FakeClock final : public DrivenClock {
 public:
  struct Large {
    double now_s;
    RankId src;
    RankId dst;
    std::uint64_t bytes;
    double bytes_per_s;
  };

  void at(double time_s, ExecutionEvent event) override {
    EXPECT_GE(time_s, now_s);
    timers.push_back({time_s, event});
  }
  void transmit(double now, PathId path, std::uint64_t bytes, sched::OpId op) override {
    const Path& way = (*paths)[path];
    large.push_back({now, way.src, way.dst, bytes, way.bytes_per_s});
    at(now + 1, {op, ExecutionEvent::Kind::kSent});
  }

  void run(Execution& execution) {
    execution.start();
    while (!timers.empty()) {
      // Last in, first out: the execution has to put an instant in order by itself.
      std::stable_sort(timers.begin(), timers.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      now_s = timers.front().first;
      std::vector<ExecutionEvent> events;
      while (!timers.empty() && timers.front().first < now_s + kInstant_s) {
        events.insert(events.begin(), timers.front().second);
        timers.erase(timers.begin());
      }
      ++instants;
      execution.instant(now_s, events);
    }
  }

  const Paths* paths = nullptr;
  double now_s = 0;
  int instants = 0;
  std::vector<Large> large;
  std::vector<std::pair<double, ExecutionEvent>> timers;
};

struct Ran {
  FakeClock clock;
  std::vector<sched::OpTimes> times;
  bool shared = false;
};

Ran run(const sched::Schedule& schedule, const Platform& platform, const DelayPlan& plan = {},
        IssuePolicy policy = IssuePolicy::kInOrder) {
  Ran result;
  result.times.resize(schedule.op_count());
  const Setting setting(schedule, platform, plan, policy);
  const Delays delays(setting);
  std::vector<double> request_s(request_count(schedule));
  const Paths paths(setting);
  result.clock.paths = &paths;
  std::vector<std::uint64_t> results(request_count(schedule));
  Execution execution(setting, delays, paths,
                      {result.times, request_s, results, {}, sched::KeptMemory(schedule)},
                      result.clock);
  result.clock.run(execution);
  result.shared = execution.shared();
  return result;
}

Platform instant_platform() {
  Platform p;
  p.rate = {8'000'000'000};
  p.latency = sched::Time{0};
  return p;
}

TEST(Execution, OnlyLargeMessagesAreTheNetworks) {
  Program p(3);
  p.put(p.channel(0, 1), 4'096);
  p.put(p.channel(0, 2), 4'097);
  p.get(p.channel(0, 1), 10'000);
  DelayPlan plan;
  plan.pairs.push_back({RankId(1), RankId(0), {1'000}});
  const Ran r = run(p.build(), instant_platform(), plan);
  ASSERT_EQ(r.clock.large.size(), 2u);
  EXPECT_EQ(r.clock.large[0].src, RankId(0));
  EXPECT_EQ(r.clock.large[0].dst, RankId(2));
  EXPECT_EQ(r.clock.large[0].bytes, 4'097u);
  EXPECT_EQ(r.clock.large[0].bytes_per_s, 1e9);
  EXPECT_EQ(r.clock.large[1].src, RankId(1));  // the reply
  EXPECT_EQ(r.clock.large[1].dst, RankId(0));
  EXPECT_EQ(r.clock.large[1].bytes, 10'000u);
  EXPECT_EQ(r.clock.large[1].bytes_per_s, 125.0);
}

TEST(Execution, SerialPortsCarryOneLargeMessageAtATime) {
  Program p(4);
  for (std::uint32_t src : {0, 1, 2}) p.put(p.channel(src, 3), 10'000);
  const sched::Schedule schedule = p.build();
  Platform platform = instant_platform();
  Ran serial = run(schedule, platform);
  EXPECT_FALSE(serial.shared);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(serial.clock.large[static_cast<std::size_t>(i)].now_s, i);
  platform.nic = NicDiscipline::kFair;
  Ran fair = run(schedule, platform);
  EXPECT_TRUE(fair.shared);
  for (const auto& large : fair.clock.large) EXPECT_EQ(large.now_s, 0);
}

TEST(Execution, FairPortsOfDifferentRanksAreNotShared) {
  Program p(4);
  p.put(p.channel(0, 1), 10'000);
  p.put(p.channel(1, 0), 10'000);  // the other direction
  p.put(p.channel(2, 3), 10'000);
  Platform platform = instant_platform();
  platform.nic = NicDiscipline::kFair;
  EXPECT_FALSE(run(p.build(), platform).shared);
}

// Events less than a picosecond apart are one instant; rivals in it go by operation.
TEST(Execution, ATieWithinAPicosecondGoesToTheLowerOperation) {
  const auto first_start = [](double apart_ps) {
    Program p(3);
    const ChannelId a = p.channel(0, 2);
    const ChannelId b = p.channel(1, 2);
    const OpId copy_a = p.copy(0, 1'000'003);
    const OpId put_a = p.put(a, 10'000);
    const OpId copy_b = p.copy(1, 1'000'000);
    const OpId put_b = p.put(b, 10'000);
    p.after({copy_a}, put_a);
    p.after({copy_b}, put_b);
    Platform platform = instant_platform();
    // Three bytes more to copy make `apart_ps`.
    platform.copy_rate = {static_cast<std::uint64_t>(3 * 8 / (apart_ps * 1e-12))};
    return run(p.build(), platform).clock.large.front().src;
  };
  EXPECT_EQ(first_start(0.9), RankId(0));
  EXPECT_EQ(first_start(1.2), RankId(1));
}

TEST(Execution, ManyFreeOperationsAreOneInstant) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  OpId before = p.join(0);
  for (int i = 0; i < 50; ++i) {
    const OpId put = p.put(c, 0);
    p.after({before}, put);
    before = put;
  }
  Ran r = run(p.build(), instant_platform());
  for (const sched::OpTimes& t : r.times) EXPECT_EQ(t.done_s, 0.0);
}

TEST(Execution, CausesLeadBackToTheStart) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId calc = p.calc(0, sched::Time{5'000'000});
  const OpId send = p.send(c, 10'000);
  const OpId other = p.put(p.channel(0, 1), 10'000);
  p.after({calc}, send);
  const OpId recv = p.recv(c, 10'000);
  const OpId copy = p.copy(1, 1'000);
  p.after({recv}, copy);
  const Ran r = run(p.build(), instant_platform());
  const auto cause = [&](OpId id) { return r.times[id.value].cause; };
  EXPECT_FALSE(cause(calc).valid());
  EXPECT_EQ(cause(send), calc);
  EXPECT_EQ(cause(other), send);  // whose message has the out-port
  EXPECT_EQ(cause(recv), send);
  EXPECT_EQ(cause(copy), recv);
}

TEST(Execution, ALateReceiveIsTheCauseOfItsSendsEnd) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId send = p.send(c, 10);
  p.calc(1, sched::Time{5'000'000'000'000});
  const OpId recv = p.recv(c, 10);
  const Ran r = run(p.build(), instant_platform());
  EXPECT_EQ(r.times[send.value].cause, recv);
  EXPECT_EQ(r.times[send.value].done_s, 5);
}

TEST(LaneIndex, OneLanePerRankWhereNoneIsNamed) {
  Program p(3);
  for (std::uint32_t r = 0; r < 3; ++r) p.calc(r, {});
  const sched::Schedule schedule = p.build();
  const LaneIndex lanes(schedule);
  EXPECT_EQ(lanes.count(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(lanes.of(i, schedule.ops()[i]), i);
}

TEST(LaneIndex, LanesOfRanksAreApart) {
  Program p(2);
  p.calc(0, {}, 7);
  p.calc(0, {}, 0);
  p.calc(0, {}, 7);
  p.calc(1, {}, 7);
  const sched::Schedule schedule = p.build();
  const LaneIndex lanes(schedule);
  const auto of = [&](std::uint32_t i) { return lanes.of(i, schedule.ops()[i]); };
  EXPECT_EQ(lanes.count(), 3u);
  EXPECT_EQ(of(0), of(2));
  EXPECT_NE(of(0), of(1));
  EXPECT_NE(of(3), of(0));
  EXPECT_NE(of(3), of(1));
}

TEST(RequireFinished, NamesTheFirstThatDidNot) {
  Program p(1);
  p.join(0);
  p.join(0);
  const sched::Schedule schedule = p.build();
  sched::Trace trace;
  trace.ops.resize(2);
  const Wiring wiring(Platform{}, 1);
  const Paths paths(schedule, wiring, {});
  EXPECT_NO_THROW(require_finished(schedule, trace, paths));
  trace.ops[1].done_s = std::numeric_limits<double>::infinity();
  EXPECT_THROW(require_finished(schedule, trace, paths), InputError);
  DelayPlan failing;
  failing.failures.push_back({"", RankId(0), sched::Time{1}});
  EXPECT_NO_THROW(require_finished(schedule, trace, Paths(schedule, wiring, failing)));
}

}  // namespace
}  // namespace slackline::machine
