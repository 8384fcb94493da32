#include "analysis/slack/delayed_runs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/engines/flow_engine.h"
#include "analysis/engines/flow_run.h"
#include "analysis/in_threads.h"
#include "base/error.h"
#include "machine/run/executable.h"
#include "sched/kept_memory.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

constexpr std::uint64_t kMostSnapshots = 128;
// What a snapshot takes for each operation, about: its times and how many arcs are to come.
constexpr std::uint64_t kBytesPerOp = 64;
// Trials that follow each other in one thread, and share what a run is made of.
constexpr std::uint32_t kPiece = 32;

machine::OpDelay delay_of(const Trial& trial) {
  return {trial.op, trial.by, trial.of_lane, sched::RankId::none()};
}

sched::Trace run_without(const sched::Schedule& schedule, const machine::Platform& platform,
                         const machine::Wiring& wiring, const machine::DelayPlan& plan,
                         const machine::IssueOrder& order) {
  sched::Trace trace = run_flows(schedule, platform, wiring, plan, order);
  if (std::isfinite(trace.makespan_s())) return trace;
  throw InputError("the run without the delays never ends; expected one that does");
}

// A moment of the undelayed run, right after an instant.
struct Snapshot {
  std::unique_ptr<FlowRun> run;
  OpId marker;  // was issued in that instant; none() before time zero
};

bool is_issued(const FlowRun& run, OpId op) { return std::isfinite(run.times(op).issued_s); }

// What the snapshots, and the runs that begin at them, are of.
struct Beginnings {
  Beginnings(const sched::Schedule& schedule, const machine::Platform& platform,
             const machine::Wiring& wiring, const machine::DelayPlan& plan,
             const machine::IssueOrder& order, const sched::Trace& undelayed,
             std::uint64_t memory_bytes)
      : graph(schedule, sched::OpRange::of_all(schedule)),
        paths(schedule, wiring, plan),
        delays(plan, schedule, platform),
        setting{graph, platform, wiring, paths, order} {
    add({std::make_unique<FlowRun>(setting, delays), OpId::none()});
    const std::uint64_t ops = schedule.op_count();
    if (ops == 0) return;
    const std::uint64_t snapshot_bytes = kBytesPerOp * ops + sched::KeptMemory(schedule).bytes();
    const std::uint64_t count = std::min({kMostSnapshots, ops, memory_bytes / snapshot_bytes});
    // At every so many issues of the run.
    std::vector<OpId> by_issue;
    for (std::uint32_t i = 0; i < ops; ++i) by_issue.emplace_back(i);
    std::sort(by_issue.begin(), by_issue.end(), [&](OpId a, OpId b) {
      return std::pair(undelayed.ops[a.value].issued_s, a) <
             std::pair(undelayed.ops[b.value].issued_s, b);
    });
    FlowRun run(setting, delays);
    for (std::uint64_t k = 0; k < count; ++k) {
      const OpId marker = by_issue[k * ops / count];
      if (is_issued(run, marker)) continue;  // in the instant of the snapshot before
      while (!is_issued(run, marker) && run.step()) continue;
      if (!is_issued(run, marker)) return;  // a failure
      run.settle();
      Snapshot snapshot{std::make_unique<FlowRun>(setting, delays), marker};
      snapshot.run->resume(run);
      add(std::move(snapshot));
    }
  }

  Beginnings(const Beginnings&) = delete;
  Beginnings& operator=(const Beginnings&) = delete;

  void add(Snapshot snapshot) { snapshots.push_back(std::move(snapshot)); }

  // The last one before the operation is ready.
  std::size_t before(OpId op) const {
    const auto ready = std::partition_point(
        snapshots.begin() + 1, snapshots.end(),
        [&](const Snapshot& s) { return !std::isfinite(s.run->times(op).ready_s); });
    return static_cast<std::size_t>(ready - snapshots.begin()) - 1;
  }

  const machine::RunGraph graph;
  const machine::Paths paths;
  const machine::Delays delays;
  const FlowRun::Setting setting;
  std::vector<Snapshot> snapshots;  // in order of time; the first is before all
};

}  // namespace

struct DelayedRuns::Contents {
  const sched::Schedule& schedule;
  const machine::Platform& platform;
  const machine::Wiring& wiring;
  const machine::DelayPlan plan;
  const machine::IssueOrder order;
  const Shortcut shortcut;
  const sched::Trace undelayed;
  std::unique_ptr<const Beginnings> beginnings;  // none: everything is run whole

  double run_whole(const Trial& trial) const {
    machine::DelayPlan delayed = plan;
    delayed.ops.push_back(delay_of(trial));
    return run_flows(schedule, platform, wiring, delayed, order).makespan_s();
  }

  double run(const Trial& trial, FlowRun& run, machine::Delays& delays) const {
    const std::vector<Snapshot>& snapshots = beginnings->snapshots;
    delays.add(delay_of(trial));
    std::size_t next = beginnings->before(trial.op);
    run.resume(*snapshots[next].run);
    ++next;
    std::optional<double> end_s;
    while (!end_s && run.step()) {
      for (; next < snapshots.size() && is_issued(run, snapshots[next].marker); ++next) {
        if (!end_s) end_s = end_from(snapshots[next], trial, run);
      }
    }
    delays.take_back(delay_of(trial));
    if (end_s) return *end_s;
    machine::require_finished(schedule, run.trace(), beginnings->paths);
    return run.trace().makespan_s();
  }

  // When a delayed run ends, if from the instant of the snapshot on it is the undelayed one.
  std::optional<double> end_from(const Snapshot& snapshot, const Trial& trial, FlowRun& run) const {
    // Before its issue, the delay may be still to come.
    if (shortcut != Shortcut::kBeginAndEnd || !is_issued(run, trial.op)) return std::nullopt;
    if (run.now_s() != snapshot.run->now_s()) return std::nullopt;
    run.settle();
    if (!run.goes_on_as(*snapshot.run)) return std::nullopt;
    double end_s = 0;
    for (std::size_t i = 0; i < undelayed.ops.size(); ++i) {
      const double done_s = run.trace().ops[i].done_s;
      end_s = std::max(end_s, std::isfinite(done_s) ? done_s : undelayed.ops[i].done_s);
    }
    return end_s;
  }
};

DelayedRuns::DelayedRuns(const sched::Schedule& schedule, const machine::Platform& platform,
                         const machine::Wiring& wiring, const machine::DelayPlan& plan,
                         const machine::IssueOrder& order, Shortcut shortcut,
                         std::uint64_t memory_bytes) {
  sched::Trace undelayed = run_without(schedule, platform, wiring, plan, order);
  std::unique_ptr<const Beginnings> beginnings;
  if (shortcut != Shortcut::kNone && schedule.is_static()) {
    beginnings = std::make_unique<const Beginnings>(schedule, platform, wiring, plan, order,
                                                    undelayed, memory_bytes);
  }
  contents_.reset(new Contents{schedule, platform, wiring, plan, order, shortcut,
                               std::move(undelayed), std::move(beginnings)});
}

DelayedRuns::~DelayedRuns() = default;
DelayedRuns::DelayedRuns(DelayedRuns&&) noexcept = default;

const sched::Trace& DelayedRuns::undelayed() const { return contents_->undelayed; }
const sched::Schedule& DelayedRuns::schedule() const { return contents_->schedule; }
const machine::Platform& DelayedRuns::platform() const { return contents_->platform; }

std::vector<double> DelayedRuns::makespans_s(
    std::span<const Trial> trials, std::uint32_t jobs,
    const std::function<void(std::uint32_t)>& progress) const {
  const Contents& c = *contents_;
  for (const Trial& trial : trials) {
    machine::DelayPlan alone;
    alone.ops.push_back(delay_of(trial));
    machine::validate(alone, c.schedule);
  }
  std::vector<double> makespans_s(trials.size());
  const auto count = static_cast<std::uint32_t>(trials.size());
  const auto work = [&](std::uint32_t piece) {
    const std::uint32_t first = piece * kPiece;
    const std::uint32_t end = std::min(count, first + kPiece);
    if (!c.beginnings) {
      for (std::uint32_t i = first; i < end; ++i) makespans_s[i] = c.run_whole(trials[i]);
      return;
    }
    machine::Delays delays = c.beginnings->delays;
    FlowRun run(c.beginnings->setting, delays);
    for (std::uint32_t i = first; i < end; ++i) makespans_s[i] = c.run(trials[i], run, delays);
  };
  in_threads(count / kPiece + (count % kPiece == 0 ? 0 : 1), jobs, work, [&](std::uint32_t done) {
    if (progress) progress(std::min(count, done * kPiece));
  });
  return makespans_s;
}

Trial trial_of(const sched::Schedule& schedule, const machine::Platform& platform, OpId op,
               sched::Time by) {
  return {op, by, delays_lane(schedule, platform, op)};
}

std::vector<Trial> trials_of_all(const sched::Schedule& schedule, const machine::Platform& platform,
                                 sched::Time by) {
  std::vector<Trial> trials;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    trials.push_back(trial_of(schedule, platform, OpId(i), by));
  }
  return trials;
}

}  // namespace slackline::analysis
