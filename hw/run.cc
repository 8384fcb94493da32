#include "hw/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/enum_names.h"
#include "base/statistics.h"
#include "machine/run/executable.h"
#include "sched/kept_memory.h"

namespace slackline::hw {
namespace {

constexpr base::EnumNames<Waiting, 3> kWaitings = {"polling", "interrupt", "hybrid"};

// Of each rank's kept buffers.
std::vector<std::uint64_t> kept_bytes(const sched::Schedule& schedule) {
  const sched::KeptMemory kept(schedule);
  std::vector<std::uint64_t> bytes(schedule.rank_count(), 0);
  for (std::uint32_t b = 0; b < schedule.buffers().size(); ++b) {
    const sched::Buffer& buffer = schedule.buffers()[b];
    if (kept.keeps(sched::BufferId(b))) bytes[buffer.rank.value] += buffer.bytes;
  }
  return bytes;
}

// A simulated run knows what gets fetch from kept memory only, and only that memory at the end.
void add_kept(const sched::Schedule& schedule, std::span<const RankRecord> records,
              sched::Trace& trace) {
  const sched::KeptMemory kept(schedule);
  for (std::uint32_t i = 0; i < trace.results.size(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (op.kind != sched::OpKind::kGet) continue;
    const auto from = schedule.slices(op.reads);
    if (from.empty() || !kept.keeps(from.front().buffer)) trace.results[i] = 0;
  }
  trace.memory.assign(kept.bytes(), std::byte{0});
  std::vector<std::size_t> used(records.size(), 0);
  for (std::uint32_t b = 0; b < schedule.buffers().size(); ++b) {
    if (!kept.keeps(sched::BufferId(b))) continue;
    const std::uint32_t rank = schedule.buffers()[b].rank.value;
    const auto to = kept.of(sched::BufferId(b), std::span(trace.memory));
    if (records[rank].memory.size() < used[rank] + to.size()) continue;
    std::copy_n(records[rank].memory.begin() + static_cast<std::ptrdiff_t>(used[rank]), to.size(),
                to.begin());
    used[rank] += to.size();
  }
}

}  // namespace

std::string_view name(Waiting waiting) { return kWaitings[waiting]; }

std::optional<Waiting> waiting_named(std::string_view text) { return kWaitings.find(text); }

double ClockErrors::at(double time_s) const {
  if (spans_.empty()) return 0;
  auto span = std::lower_bound(spans_.begin(), spans_.end(), time_s,
                               [](const Span& s, double time) { return s.until_s < time; });
  if (span == spans_.end()) return spans_.back().error_s;
  double error_s = span->error_s;
  // At an end, the next one's may be meant.
  while (span->until_s == time_s && ++span != spans_.end()) {
    error_s = std::max(error_s, span->error_s);
  }
  return error_s;
}

double RunResult::median_makespan_s() const { return base::median(makespans_s); }

sched::Trace assemble_trace(const sched::Schedule& schedule, std::string_view transport,
                            std::span<const RankRecord> records) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  sched::Trace trace;
  trace.schedule = schedule.digest();
  trace.title = schedule.title();
  trace.engine = fmt::format("run:{}", transport);
  trace.ops.assign(schedule.op_count(), {kNever, kNever, kNever, kNever, 1, sched::OpId::none()});
  trace.results.assign(machine::request_count(schedule), 0);
  const std::vector<std::uint64_t> kept = kept_bytes(schedule);
  for (std::uint32_t r = 0; r < records.size(); ++r) {
    const std::uint32_t first = schedule.first_op(sched::RankId(r)).value;
    const auto& [times, results, memory] = records[r];
    const std::uint32_t ops = schedule.end_op(sched::RankId(r)).value - first;
    const std::size_t fetched = trace.results.empty() ? 0 : ops;
    if ((!times.empty() && times.size() != ops) ||
        (!results.empty() && results.size() != fetched)) {
      throw EnvironmentError(
          fmt::format("rank {} tells of {} operations, and of {} results; expected {} and {}", r,
                      times.size(), results.size(), ops, fetched));
    }
    if (!memory.empty() && memory.size() != kept[r]) {
      throw EnvironmentError(fmt::format("rank {} tells of {} bytes that are kept; expected {}", r,
                                         memory.size(), kept[r]));
    }
    std::copy(times.begin(), times.end(), trace.ops.begin() + first);
    std::copy(results.begin(), results.end(), trace.results.begin() + first);
  }
  add_kept(schedule, records, trace);
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
