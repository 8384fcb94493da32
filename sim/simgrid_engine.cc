#include "sim/simgrid_engine.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "machine/congestion.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"
#include "sim/child_run.h"
#include "sim/flow_network.h"
#include "sim/zones.h"

namespace slackline::sim {
namespace {

// Times that a child has left, a piece at a time: they are never here twice.
void take_times(const SharedMemory& memory, std::span<const sched::OpTimes> times,
                std::vector<sched::OpTimes>& taken) {
  constexpr std::size_t kPiece = 1u << 14;
  taken.reserve(times.size());
  for (std::size_t begin = 0; begin < times.size(); begin += kPiece) {
    const auto piece = times.subspan(begin, std::min(kPiece, times.size() - begin));
    taken.insert(taken.end(), piece.begin(), piece.end());
    memory.forget_front((begin + piece.size()) * sizeof(sched::OpTimes));
  }
}

// What a channel gathers travels together, and is all of it at most.
std::uint64_t largest_message_bytes(const sched::Schedule& schedule) {
  std::uint64_t largest = 0;
  std::map<sched::ChannelId, std::uint64_t> gathered;
  for (const sched::Op& op : schedule.ops()) {
    if (!sched::is_initiator(op.kind)) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    largest = std::max(largest, bytes);
    if (schedule.channel(op.channel).bundle == sched::Bundle::kNone) continue;
    std::uint64_t& sum = gathered[op.channel];
    sum += std::min(bytes, std::numeric_limits<std::uint64_t>::max() - sum);
    largest = std::max(largest, sum);
  }
  return largest;
}

std::optional<std::string> refusal(const machine::Setting& setting) {
  if (const auto why = machine::why_no_congestion(setting.platform)) return why;
  if (!setting.wiring.pcie().limits()) return std::nullopt;
  const auto channels = setting.schedule.channels();
  for (std::size_t c = 0; c < channels.size(); ++c) {
    if (channels[c].bundle == sched::Bundle::kNone) continue;
    return fmt::format(
        "channel {} gathers messages, and SimGrid has to know beforehand how many bytes pass PCIe "
        "at a time; expected another engine, or a platform without pcie_rate",
        c);
  }
  return std::nullopt;
}

// Refuses what it must before a child process would.
void require_not_refused(const machine::Setting& setting) {
  if (const auto why = refusal(setting)) throw Unsupported(*why);
}

HeldFlows held_in(const machine::Setting& setting, const machine::Paths& paths) {
  require_not_refused(setting);
  return held_flows(setting, paths);
}

bool same_network(const machine::DelayPlan& a, const machine::DelayPlan& b) {
  return a.pairs == b.pairs && a.link_rates == b.link_rates && a.failures == b.failures;
}

std::vector<double> run_simgrid_plans(const machine::Setting& setting,
                                      const machine::PlanRuns& runs,
                                      const machine::TraceReading& reading) {
  require_not_refused(setting);
  const sched::Schedule& schedule = setting.schedule;
  machine::require_executable(schedule);
  if (runs.count == 0) return {};
  const machine::DelayPlan first = runs.plan(0);
  const machine::Paths paths(setting.with(first));
  require_few_parts(paths);
  // Says what is wrong before anything is forked.
  const HeldFlows held = held_in(setting.with(first), paths);
  const machine::Delays check(setting.with(first));
  const sched::Trace blank = machine::trace_of(setting.with(machine::kNoDelays), "simgrid");
  const std::size_t numbers = std::size_t{runs.count} * reading.width;
  const SharedMemory memory(numbers * sizeof(double));
  const std::span<double> kept(static_cast<double*>(memory.data()), numbers);
  const SharedMemory count_memory(sizeof(std::atomic<std::uint32_t>));
  auto& done = *new (count_memory.data()) std::atomic<std::uint32_t>(0);
  const auto run_one = [&](FlowNetwork& network, std::uint32_t run) {
    const machine::DelayPlan plan = runs.plan(run);
    if (!same_network(plan, first)) {
      throw InternalError(fmt::format("run {} changes the network that all runs share", run));
    }
    const machine::Delays delays(setting.with(plan));
    sched::Trace trace = blank;
    trace.delays = plan.text();
    {  // gone before the trace is read
      machine::Execution execution(setting.watched(nullptr), delays, paths,
                                   machine::record_in(trace, schedule, plan.seed), network);
      network.run(execution);
    }
    malloc_trim(0);
    machine::require_finished(schedule, trace, paths);
    reading.read(trace, kept.subspan(std::size_t{run} * reading.width, reading.width));
  };
  // One child makes the platform and seals it; each run goes on from there in a child of that one.
  run_in_child(
      [&] {
        FlowNetwork network(setting.platform, setting.wiring, paths,
                            largest_message_bytes(schedule), held);
        run_in_children(
            runs.count, runs.jobs, [&](std::uint32_t run) { run_one(network, run); },
            [&] { ++done; });
      },
      runs.progress ? std::function<void()>([&] { runs.progress(done); })
                    : std::function<void()>());
  return {kept.begin(), kept.end()};
}

std::string drive_in_simgrid(const machine::Setting& setting, const machine::Paths& paths,
                             const machine::MakeRun& make) {
  require_not_refused(setting);
  require_few_parts(paths);
  if (setting.wiring.pcie().limits()) {
    throw Unsupported(
        "pcie_rate: SimGrid has to know all messages before a run that decides as it goes; "
        "expected "
        "another engine, or a platform without it");
  }
  const ScratchFile result;
  run_in_child([&] {
    FlowNetwork network(setting.platform, setting.wiring, paths,
                        largest_message_bytes(setting.schedule), {});
    const std::unique_ptr<machine::DrivenRun> run = make(network);
    network.run(*run);
    result.write(run->result());
  });
  return result.contents();
}

}  // namespace

sched::Trace run_simgrid(const machine::Setting& setting) {
  require_not_refused(setting);
  const sched::Schedule& schedule = setting.schedule;
  const std::size_t requests = machine::require_executable(schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  require_few_parts(paths);
  const HeldFlows held = held_in(setting, paths);
  const std::size_t ops = schedule.op_count();
  const SharedMemory memory(ops * sizeof(sched::OpTimes));
  const std::span<sched::OpTimes> times(static_cast<sched::OpTimes*>(memory.data()), ops);
  const SharedMemory request_memory(requests * sizeof(double));
  const std::span<double> request_s(static_cast<double*>(request_memory.data()), requests);
  const SharedMemory result_memory(requests * sizeof(std::uint64_t));
  const std::span<std::uint64_t> results(static_cast<std::uint64_t*>(result_memory.data()),
                                         requests);
  const sched::KeptMemory kept(schedule);
  const SharedMemory kept_memory(kept.bytes());
  const std::span<std::byte> bytes(static_cast<std::byte*>(kept_memory.data()), kept.bytes());
  const SharedMemory use_memory(setting.uses.size_bytes());
  const std::span<machine::LaneUse> uses(static_cast<machine::LaneUse*>(use_memory.data()),
                                         setting.uses.size());
  std::copy(setting.uses.begin(), setting.uses.end(), uses.begin());
  // Who watches is in this process, and so is told here.
  run_in_child(
      [&] {
        FlowNetwork network(setting.platform, setting.wiring, paths,
                            largest_message_bytes(schedule), held);
        machine::Execution execution(setting.watched(nullptr).adding_up(uses), delays, paths,
                                     {times, request_s, results, bytes, kept, setting.delays.seed},
                                     network);
        network.run(execution);
      },
      setting.watch != nullptr ? *setting.watch : machine::RunWatch());
  sched::Trace trace = machine::trace_of(setting, "simgrid");
  take_times(memory, times, trace.ops);
  trace.request_s.assign(request_s.begin(), request_s.end());
  trace.results.assign(results.begin(), results.end());
  trace.memory.assign(bytes.begin(), bytes.end());
  std::copy(uses.begin(), uses.end(), setting.uses.begin());
  machine::require_finished(schedule, trace, paths);
  return trace;
}

const machine::Engine kSimgridEngine{
    .name = "simgrid",
    .summary = "SimGrid shares the links, in child processes",
    .shares_links = true,
    .run_once = run_simgrid,
    .run_plans = run_simgrid_plans,
    .drive_run = drive_in_simgrid,
    .refusal = refusal,
};

}  // namespace slackline::sim
