// What claims about RDMC's robustness are tested on: multicasts whose blocks take a round time, the
// machines they run on, and the same schedule with an order of posts that nothing can change.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "sched/trace.h"
#include "tests/support/draft.h"

namespace slackline::testing {

inline constexpr double kBlockTime_s = 10e-6;

/// Nothing takes time but blocks; every one takes kBlockTime_s.
inline machine::Platform block_times(machine::NicDiscipline nic = machine::NicDiscipline::kSerial) {
  machine::Platform p;
  p.nic = nic;
  p.rate = {8'000'000'000};
  p.latency = sched::Time{0};
  return p;
}

inline machine::Platform with_overheads() {
  machine::Platform p = block_times();
  p.latency = sched::Time{300'000};
  p.o_post = sched::Time{200'000};
  p.o_complete = sched::Time{150'000};
  p.gap = sched::Time{20'000};
  return p;
}

inline sched::Schedule blocks_of(std::string_view pattern, std::uint32_t ranks,
                                 std::uint32_t blocks, std::string_view options = "") {
  return compile(sched::parse_spec(
      fmt::format("{}:ranks={},bytes={},block=10000{}", pattern, ranks, blocks * 10'000, options)));
}

inline machine::DelayPlan one_delay(std::uint32_t op, std::int64_t by_ps, bool of_lane) {
  machine::DelayPlan plan;
  plan.ops.push_back({OpId(op), sched::Time{by_ps}, of_lane, RankId::none()});
  return plan;
}

/// The pair at half the rate of block_times().
inline machine::DelayPlan slow_pair(std::uint32_t src, std::uint32_t dst) {
  machine::DelayPlan plan;
  plan.pairs.push_back({RankId(src), RankId(dst), {4'000'000'000}});
  return plan;
}

/// Every rank posts its operations in the order in which it did in `trace`, waiting for one that is
/// not ready.
inline sched::Schedule in_order_of(const sched::Schedule& schedule, const sched::Trace& trace) {
  Draft draft = Draft::from(schedule);
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    std::vector<OpId> posts;
    for (OpId id = schedule.first_op(RankId(r)); id < schedule.end_op(RankId(r)); ++id.value) {
      posts.push_back(id);
    }
    std::stable_sort(posts.begin(), posts.end(), [&](OpId a, OpId b) {
      return trace.ops[a.value].issued_s < trace.ops[b.value].issued_s;
    });
    for (std::size_t i = 1; i < posts.size(); ++i) {
      draft.edge(posts[i - 1], posts[i], On::kIssued);
    }
  }
  return draft.build();
}

}  // namespace slackline::testing
