#include "analysis/engines/delayed_runs.h"

#include <algorithm>
#include <cmath>
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

sched::Trace run_without(const machine::Setting& setting) {
  sched::Trace trace = run_flows(setting);
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
  Beginnings(const machine::Setting& of, const sched::Trace& undelayed, std::uint64_t memory_bytes)
      : graph(of.schedule, sched::OpRange::of_all(of.schedule)),
        paths(of),
        delays(of),
        common{graph, of, paths} {
    const sched::Schedule& schedule = of.schedule;
    add({std::make_unique<FlowRun>(common, delays), OpId::none()});
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
    FlowRun run(common, delays);
    for (std::uint64_t k = 0; k < count; ++k) {
      const OpId marker = by_issue[k * ops / count];
      if (is_issued(run, marker)) continue;  // in the instant of the snapshot before
      while (!is_issued(run, marker) && run.step()) continue;
      if (!is_issued(run, marker)) return;  // a failure
      run.settle();
      Snapshot snapshot{std::make_unique<FlowRun>(common, delays), marker};
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
  const FlowRun::Common common;
  std::vector<Snapshot> snapshots;  // in order of time; the first is before all
};

}  // namespace

struct DelayedRuns::Contents {
  Contents(const machine::Setting& of, Shortcut shorter, std::uint64_t memory_bytes)
      : plan(of.delays),
        setting(of.with(plan)),
        shortcut(shorter),
        undelayed(run_without(setting)) {
    if (shortcut == Shortcut::kNone || !setting.schedule.is_static()) return;
    beginnings = std::make_unique<const Beginnings>(setting, undelayed, memory_bytes);
  }

  const machine::DelayPlan plan;
  const machine::Setting setting;  // with this plan
  const Shortcut shortcut;
  const sched::Trace undelayed;
  std::unique_ptr<const Beginnings> beginnings;  // none: everything is run whole

  sched::Trace run_whole(const machine::OpDelay& trial) const {
    machine::DelayPlan delayed = plan;
    delayed.ops.push_back(trial);
    return run_flows(setting.with(delayed));
  }

  // Runs it to its end, or to where it goes on as the undelayed run does: true then.
  bool run(const machine::OpDelay& trial, FlowRun& run, machine::Delays& delays) const {
    const std::vector<Snapshot>& snapshots = beginnings->snapshots;
    delays.add(trial);
    std::size_t next = beginnings->before(trial.op);
    run.resume(*snapshots[next].run);
    ++next;
    bool same = false;
    while (!same && run.step()) {
      for (; next < snapshots.size() && is_issued(run, snapshots[next].marker); ++next) {
        same = same || goes_on_undelayed(snapshots[next], trial, run);
      }
    }
    delays.take_back(trial);
    if (!same) machine::require_finished(setting.schedule, run.trace(), beginnings->paths);
    return same;
  }

  bool goes_on_undelayed(const Snapshot& snapshot, const machine::OpDelay& trial,
                         FlowRun& run) const {
    // Before its issue, the delay may be still to come.
    if (shortcut != Shortcut::kBeginAndEnd || !is_issued(run, trial.op)) return false;
    if (run.now_s() != snapshot.run->now_s()) return false;
    run.settle();
    return run.goes_on_as(*snapshot.run);
  }

  // Of `run`, which from somewhere on is the undelayed one if that is `same`.
  double makespan_s(const FlowRun& run, bool same) const {
    if (!same) return run.trace().makespan_s();
    double end_s = 0;
    for (std::size_t i = 0; i < undelayed.ops.size(); ++i) {
      const double done_s = run.trace().ops[i].done_s;
      end_s = std::max(end_s, std::isfinite(done_s) ? done_s : undelayed.ops[i].done_s);
    }
    return end_s;
  }
  sched::Trace trace_of(const FlowRun& run, bool same) const {
    const sched::Trace& begun = run.trace();
    sched::Trace trace = undelayed;
    if (!same) {
      trace.ops = begun.ops;
      trace.request_s = begun.request_s;
      trace.results = begun.results;
      trace.memory = begun.memory;
      return trace;
    }
    for (std::size_t i = 0; i < undelayed.ops.size(); ++i) {
      sched::OpTimes& times = trace.ops[i];
      const sched::OpTimes& rest = undelayed.ops[i];
      times = begun.ops[i];
      const bool done = std::isfinite(times.done_s);
      if (!begun.results.empty()) trace.results[i] = (done ? begun : undelayed).results[i];
      if (!begun.request_s.empty()) {
        const bool asked = done || begun.request_s[i] != 0;
        trace.request_s[i] = (asked ? begun : undelayed).request_s[i];
      }
      if (done) continue;
      if (!std::isfinite(times.ready_s)) times.ready_s = rest.ready_s;
      if (!std::isfinite(times.issued_s)) {
        times.issued_s = rest.issued_s;
        times.cause = rest.cause;  // perhaps who held its lane
      }
      // A receive has it from its message's arrival on; a get's request has it until its reply.
      const bool requested =
          sched::has_reply(setting.schedule.ops()[i].kind) && times.wire_s == begun.request_s[i];
      if (requested || !std::isfinite(times.wire_s)) times.wire_s = rest.wire_s;
      times.done_s = rest.done_s;
    }
    return trace;
  }
};

DelayedRuns::DelayedRuns(const machine::Setting& setting, Shortcut shortcut,
                         std::uint64_t memory_bytes)
    : contents_(std::make_unique<const Contents>(setting, shortcut, memory_bytes)) {}

DelayedRuns::~DelayedRuns() = default;
DelayedRuns::DelayedRuns(DelayedRuns&&) noexcept = default;

const sched::Trace& DelayedRuns::undelayed() const { return contents_->undelayed; }
const machine::Setting& DelayedRuns::setting() const { return contents_->setting; }

std::vector<double> DelayedRuns::makespans_s(
    std::span<const machine::OpDelay> trials, std::uint32_t jobs,
    const std::function<void(std::uint32_t)>& progress) const {
  const Contents& c = *contents_;
  std::vector<double> makespans_s(trials.size());
  for_each(
      trials, {0, {}, jobs, progress},
      [&](std::size_t i, const sched::Trace& whole) { makespans_s[i] = whole.makespan_s(); },
      [&](std::size_t i, const FlowRun& run, bool same) {
        makespans_s[i] = c.makespan_s(run, same);
      });
  return makespans_s;
}

std::vector<double> DelayedRuns::runs(std::span<const machine::OpDelay> trials,
                                      const machine::PlanRuns& runs,
                                      const machine::TraceReading& reading) const {
  const Contents& c = *contents_;
  std::vector<double> kept(trials.size() * reading.width);
  const auto read = [&](std::size_t i, const sched::Trace& trace) {
    reading.read(trace, std::span(kept).subspan(i * reading.width, reading.width));
  };
  for_each(trials, runs, read,
           [&](std::size_t i, const FlowRun& run, bool same) { read(i, c.trace_of(run, same)); });
  return kept;
}

template <class Whole, class Begun>
void DelayedRuns::for_each(std::span<const machine::OpDelay> trials, const machine::PlanRuns& runs,
                           const Whole& whole, const Begun& begun) const {
  const Contents& c = *contents_;
  for (const machine::OpDelay& trial : trials) {
    machine::DelayPlan alone;
    alone.ops.push_back(trial);
    machine::validate(alone, c.setting.schedule);
  }
  const auto count = static_cast<std::uint32_t>(trials.size());
  const auto work = [&](std::uint32_t piece) {
    const std::uint32_t first = piece * kPiece;
    const std::uint32_t end = std::min(count, first + kPiece);
    if (!c.beginnings) {
      for (std::uint32_t i = first; i < end; ++i) whole(i, c.run_whole(trials[i]));
      return;
    }
    machine::Delays delays = c.beginnings->delays;
    FlowRun run(c.beginnings->common, delays);
    for (std::uint32_t i = first; i < end; ++i) {
      const bool same = c.run(trials[i], run, delays);
      begun(i, run, same);
    }
  };
  in_threads(count / kPiece + (count % kPiece == 0 ? 0 : 1), runs.jobs, work,
             [&](std::uint32_t done) {
               if (runs.progress) runs.progress(std::min(count, done * kPiece));
             });
}

}  // namespace slackline::analysis
