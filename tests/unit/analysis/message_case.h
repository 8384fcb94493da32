// The form of the cases that every engine is held to: small schedules whose times were worked out
// by hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "machine/setting.h"
#include "sched/schedule.h"
#include "sched/trace.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

inline constexpr double kAny = -1;

/// What must be seen of one operation, in microseconds. kAny: not said.
struct Seen {
  OpId op;
  double issued_us;
  double wire_us;  // of gets and atomics: the reply begins to leave
  double done_us;
};

struct MessageCase {
  std::string name;
  sched::Schedule schedule;
  machine::Platform platform;
  std::vector<Seen> expected;
  machine::DelayPlan delays = {};
  machine::IssuePolicy policy = machine::IssuePolicy::kInOrder;
};

/// Figures that tell each other apart: 1000 bytes a microsecond on the wire, 2000 in memory; 3 us
/// of latency, 1 us to post, 2 us to see a completion, 5 us to serve an atomic. No gap.
inline machine::Platform round_platform() {
  machine::Platform p;
  p.rate = {8'000'000'000};
  p.latency = us(3);
  p.o_post = us(1);
  p.o_complete = us(2);
  p.atomic_service = us(5);
  p.copy_rate = {16'000'000'000};
  return p;
}

inline void expect_seen(const MessageCase& c, const sched::Trace& trace) {
  ASSERT_EQ(trace.ops.size(), c.schedule.op_count()) << c.name;
  for (const Seen& seen : c.expected) {
    const sched::OpTimes& times = trace.ops[seen.op.value];
    const std::string what =
        c.name + " by " + trace.engine + ", op " + std::to_string(seen.op.value) + " ";
    const auto expect = [&](double expected_us, double got_s, const char* moment) {
      if (expected_us == kAny) return;
      EXPECT_NEAR(got_s * 1e6, expected_us, 1e-9) << what << moment;
    };
    expect(seen.issued_us, times.issued_s, "issued");
    expect(seen.wire_us, times.wire_s, "wire");
    expect(seen.done_us, times.done_s, "done");
  }
}

/// Holds the run of the case by each of these engines.
template <class... Run>
void expect_seen_by(const MessageCase& c, Run&&... run) {
  const machine::Setting setting(c.schedule, c.platform, c.delays, c.policy);
  (expect_seen(c, run(setting)), ...);
}

}  // namespace slackline::testing
