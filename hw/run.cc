#include "hw/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "machine/execution.h"

namespace slackline::hw {
namespace {

struct WaitingName {
  Waiting waiting;
  std::string_view name;
};
constexpr std::array kWaitings{WaitingName{Waiting::kPolling, "polling"},
                               WaitingName{Waiting::kInterrupt, "interrupt"},
                               WaitingName{Waiting::kHybrid, "hybrid"}};

}  // namespace

std::string_view name(Waiting waiting) {
  for (const WaitingName& entry : kWaitings) {
    if (entry.waiting == waiting) return entry.name;
  }
  throw InternalError("a way of waiting without a name");
}

std::optional<Waiting> waiting_named(std::string_view text) {
  for (const WaitingName& entry : kWaitings) {
    if (entry.name == text) return entry.waiting;
  }
  return std::nullopt;
}

double RunResult::median_makespan_s() const {
  if (makespans_s.empty()) return 0;
  std::vector<double> sorted = makespans_s;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

sched::Trace assemble_trace(const sched::Schedule& schedule, std::string_view transport,
                            std::span<const RankRecord> records) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  sched::Trace trace;
  trace.schedule = schedule.digest();
  trace.title = schedule.title();
  trace.engine = fmt::format("run:{}", transport);
  trace.ops.assign(schedule.op_count(), {kNever, kNever, kNever, kNever, 1, sched::OpId::none()});
  trace.results.assign(machine::request_count(schedule), 0);
  for (std::uint32_t r = 0; r < records.size(); ++r) {
    const std::uint32_t first = schedule.first_op(sched::RankId(r)).value;
    const auto& [times, results] = records[r];
    std::copy(times.begin(), times.end(), trace.ops.begin() + first);
    std::copy(results.begin(), results.end(), trace.results.begin() + first);
  }
  return trace;
}

void require_applicable(const machine::DelayPlan& plan) {
  const auto refuse = [](const std::string& what) {
    throw Unsupported(fmt::format(
        "run cannot apply {}: a real network cannot be told to; expected delays of operations, "
        "steps and ranks only",
        what));
  };
  for (const machine::PairRate& pair : plan.pairs) {
    refuse(fmt::format("the rate from rank {} to rank {}", pair.src.value, pair.dst.value));
  }
  for (const machine::LinkRate& rate : plan.link_rates) {
    refuse(fmt::format("the rate of link {}", rate.link));
  }
  for (const machine::Failure& failure : plan.failures) {
    refuse(failure.link.empty() ? fmt::format("the failure of rank {}", failure.rank.value)
                                : fmt::format("the failure of link {}", failure.link));
  }
}

}  // namespace slackline::hw
