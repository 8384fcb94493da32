#include "cli/cpu_report.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "machine/run/lanes.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 16;

}  // namespace

double CpuUse::share(double part_s) const { return end_s > 0 ? part_s / (end_s * lanes) : 0; }

void require_cpu_use(const machine::Engine& engine, const machine::Setting& setting) {
  if (engine.name == "analytic" && !setting.schedule.is_static()) {
    throw Unsupported(
        fmt::format("--cpu: the analytic engine prices the best case of a dynamic schedule, whose "
                    "lanes it does "
                    "not tell: {}; expected another engine",
                    *setting.schedule.dynamic_reason()));
  }
  if (!setting.delays.failures.empty()) {
    throw InputError(
        "--cpu with failures: the lanes of a rank that failed neither work nor wait; expected one "
        "of them");
  }
}

std::vector<machine::LaneUse> lanes_to_add_up(const sched::Schedule& schedule) {
  return std::vector<machine::LaneUse>(machine::LaneIndex(schedule).count());
}

std::vector<CpuUse> cpu_use(const machine::Setting& setting, const sched::Trace& trace,
                            std::vector<machine::LaneUse> lanes) {
  const sched::Schedule& schedule = setting.schedule;
  const double end_s = trace.makespan_s();
  const double poll_for_s = setting.platform.poll_for ? sched::seconds(*setting.platform.poll_for)
                                                      : std::numeric_limits<double>::infinity();
  for (machine::LaneUse& lane : lanes) lane.idle_until(end_s, poll_for_s);
  const machine::LaneIndex index(schedule);
  std::vector<CpuUse> ranks(schedule.rank_count());
  std::vector<char> told(lanes.size(), 0);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    const std::uint32_t lane = index.of(i, op);
    if (std::exchange(told[lane], 1) != 0) continue;
    machine::LaneUse use = lanes[lane];
    // A switch has no program that looks for something, or sleeps.
    if (setting.wiring.is_switch(op.rank)) use.polling_s = use.asleep_s = 0;
    ranks[op.rank.value].use += use;
    ++ranks[op.rank.value].lanes;
  }
  for (CpuUse& rank : ranks) rank.end_s = rank.lanes == 0 ? 0 : end_s;
  return ranks;
}

void add_cpu_use(Answer& answer, const std::vector<CpuUse>& ranks) {
  using Part = double machine::LaneUse::*;
  const auto part = [&](const char* key, const char* title, Part of) {
    return std::pair(Column{key, nullptr, [&ranks, of](auto r) { return ranks[r].use.*of; }},
                     Column{nullptr, title, [&ranks, of](auto r) {
                              return as_share(ranks[r].share(ranks[r].use.*of));
                            }});
  };
  Columns columns = {
      {"rank", "rank", [](auto r) { return r; }},
      {"lanes", nullptr, [&](auto r) { return ranks[r].lanes; }},
      {"busy", "CPU", [&](auto r) { return as_share(ranks[r].share(ranks[r].use.busy_s())); }}};
  for (auto& [number, share] : {part("posts_s", "posts", &machine::LaneUse::post_s),
                                part("work_s", "work", &machine::LaneUse::work_s),
                                part("looks_s", "looks", &machine::LaneUse::look_s),
                                part("blocks_s", "blocks", &machine::LaneUse::block_s),
                                part("interrupts_s", "interrupts", &machine::LaneUse::interrupt_s),
                                part("delays_s", "delays", &machine::LaneUse::delay_s),
                                part("polling_s", "polling", &machine::LaneUse::polling_s),
                                part("asleep_s", "asleep", &machine::LaneUse::asleep_s)}) {
    columns.push_back(number);
    columns.push_back(share);
  }
  const Rows all = rows_of(ranks.size());
  answer.list("cpu", all, columns);
  answer.table("", columns, all, kRowsShown, "more rank");
}

}  // namespace slackline::cli
