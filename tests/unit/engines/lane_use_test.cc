// What lanes spend their time on, worked out by hand on round_platform(), the same by every engine;
// and that asking for it changes no time.
#include "machine/lane_use.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "engines/engines.h"
#include "machine/run/lanes.h"
#include "sched/compile.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using machine::LaneUse;
using machine::Platform;
using testing::Program;
using testing::us;

struct Found {
  sched::Trace trace;
  std::vector<LaneUse> lanes;
};

Found run(const machine::Engine& engine, const sched::Schedule& schedule,
          const Platform& platform) {
  std::vector<LaneUse> lanes(machine::LaneIndex(schedule).count());
  const machine::Setting setting(schedule, platform);
  Found found{engine.run(setting.adding_up(lanes)), {}};
  const double poll_for_s = platform.poll_for ? sched::seconds(*platform.poll_for)
                                              : std::numeric_limits<double>::infinity();
  for (LaneUse& lane : lanes) lane.idle_until(found.trace.makespan_s(), poll_for_s);
  found.lanes = lanes;
  return found;
}

// In microseconds.
struct Parts {
  double post = 0, work = 0, look = 0, block = 0, interrupt = 0, polling = 0, asleep = 0;
};

void expect_parts(const LaneUse& found, const Parts& expected, const std::string& what) {
  const auto near = [&](double found_s, double expected_us, const char* part) {
    EXPECT_NEAR(found_s * 1e6, expected_us, 1e-6) << part << " of " << what;
  };
  near(found.post_s, expected.post, "post");
  near(found.work_s, expected.work, "work");
  near(found.look_s, expected.look, "look");
  near(found.block_s, expected.block, "block");
  near(found.interrupt_s, expected.interrupt, "interrupt");
  near(found.polling_s, expected.polling, "polling");
  near(found.asleep_s, expected.asleep, "asleep");
}

// Two messages of 1000 bytes that are issued at 10 and 40, there 4 us later, and a calculation of
// 5 us after the second.
TEST(LaneUse, IsWhatHeldTheLaneAndWhatItDidBetween) {
  Program p(2);
  const auto c = p.channel(0, 1);
  for (const double at_us : {10.0, 40.0}) {
    const auto wait = p.delay(0, us(at_us - 1));
    p.after({wait}, p.send(c, 1'000));
  }
  p.recv(c, 1'000);
  const auto second = p.recv(c, 1'000);
  p.after({second}, p.calc(1, us(5)));
  const sched::Schedule schedule = p.build();
  Platform platform = testing::round_platform();
  platform.o_poll = us(0.5);
  platform.o_match = us(0.25);
  platform.o_block = us(1);
  platform.interrupt_cost = us(4);
  // Polling: the second is there at 46 and seen at 47.75; the calculation ends at 52.75. The last
  // of a channel has a completion: there at 49.
  const auto of = [&](const machine::Engine& engine) {
    return std::string(engine.name) + " on " + platform.spec();
  };
  for (const machine::Engine* engine : engines::engines()) {
    const Found found = run(*engine, schedule, platform);
    EXPECT_NEAR(found.trace.makespan_s(), 52.75e-6, 1e-11);
    expect_parts(found.lanes[0], {2, 0, 0.5, 0, 0, 50.25, 0}, of(*engine));
    expect_parts(found.lanes[1], {2, 5, 1.5, 2, 0, 42.25, 0}, of(*engine));
  }
  // Interrupts: the first is there at 16, seen at 21.75; the second at 46 and 51.75.
  platform.poll_for = us(0);
  for (const machine::Engine* engine : engines::engines()) {
    const Found found = run(*engine, schedule, platform);
    EXPECT_NEAR(found.trace.makespan_s(), 56.75e-6, 1e-11);
    expect_parts(found.lanes[0], {2, 0, 0.5, 0, 4, 0, 50.25}, of(*engine));
    expect_parts(found.lanes[1], {2, 5, 1.5, 2, 8, 0, 38.25}, of(*engine));
  }
  // Twelve microseconds of polling: from 2 to 14, and from 21.75 to 33.75; the sender's from 0 to
  // 9, when it posts, from 10 to 22, from 40 to 49, and from its look to the end.
  platform.poll_for = us(12);
  for (const machine::Engine* engine : engines::engines()) {
    const Found found = run(*engine, schedule, platform);
    EXPECT_NEAR(found.trace.makespan_s(), 56.75e-6, 1e-11);
    expect_parts(found.lanes[0], {2, 0, 0.5, 0, 0, 37.25, 17}, of(*engine));
    expect_parts(found.lanes[1], {2, 5, 1.5, 2, 8, 24, 14.25}, of(*engine));
  }
}

// A program that looks at memory does not sleep.
TEST(LaneUse, OfAPollIsPolling) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const auto wait = p.delay(0, us(19));
  const auto put = p.put(c, 1'000, sched::Notify::kFlag);
  p.after({wait}, put);
  const auto poll = p.poll(1);
  p.flag(put, poll);
  const auto later = p.delay(1, us(100));
  p.after({later}, p.calc(1, us(1)));
  const sched::Schedule schedule = p.build();
  Platform platform = testing::round_platform();
  platform.poll_for = us(0);
  platform.interrupt_cost = us(4);
  // There at 24, seen at 26. From then on it sleeps until the calculation.
  for (const machine::Engine* engine : engines::engines()) {
    const Found found = run(*engine, schedule, platform);
    expect_parts(found.lanes[1], {0, 1, 0, 0, 0, 26, 74}, std::string(engine->name));
  }
  // Ten more of polling, from its end on.
  platform.poll_for = us(10);
  for (const machine::Engine* engine : engines::engines()) {
    const Found found = run(*engine, schedule, platform);
    expect_parts(found.lanes[1], {0, 1, 0, 0, 0, 36, 64}, std::string(engine->name));
  }
}

TEST(LaneUse, ChangesNoTimeAndAddsUpToTheRun) {
  for (const char* spec :
       {"binomial-pipeline:ranks=5,bytes=300KB,block=50KB",
        "chain:ranks=3,bytes=300KB,block=50KB,ready=write", "allreduce:ranks=4,bytes=64KB"}) {
    const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
    for (const char* figures : {"star:o_post=200ns",
                                "star:o_post=200ns,o_signal=50ns,o_poll=100ns,poll_batch=4,"
                                "poll_for=3us,interrupt_cost=2us,o_block=300ns,o_callback=1us"}) {
      const Platform platform = machine::parse_platform_spec(figures);
      for (const machine::Engine* engine : engines::engines()) {
        const Found found = run(*engine, schedule, platform);
        const sched::Trace plain = engine->run({schedule, platform});
        // The longest path adds in another order.
        EXPECT_NEAR(found.trace.makespan_s(), plain.makespan_s(),
                    engine->name == "analytic" ? 1e-9 * plain.makespan_s() : 0)
            << spec << ' ' << engine->name;
        for (const LaneUse& lane : found.lanes) {
          EXPECT_NEAR(lane.busy_s() + lane.asleep_s, plain.makespan_s(), 1e-12)
              << spec << ' ' << figures << ' ' << engine->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace slackline
