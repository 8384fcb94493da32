#include "sim/simgrid_engine.h"

#include <fmt/format.h>
#include <xbt/log.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <queue>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <span>
#include <utility>
#include <vector>

#include "machine/execution.h"
#include "sched/error.h"
#include "sim/child_run.h"
#include "sim/file_wiring.h"
#include "sim/zones.h"

namespace slackline::sim {
namespace {

namespace s4u = simgrid::s4u;
using machine::ExecutionEvent;
using machine::kInstant_s;
using machine::PathId;
using sched::OpId;

// SimGrid's clock when an instant is worked through, after the instant's own time. Flows that end
// in one instant may differ in their last bits, and SimGrid may end a flow up to its precision of 1
// ps early; a little later all of them are there.
constexpr double kLag_s = 2e-12;

// For SimGrid's options, which it takes after the engine exists and before its first zone.
class Configured {
 public:
  // Plain max-min sharing: no factors meant for TCP, no latency (ours is in timers).
  Configured() {
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/crosstraffic:0");
    s4u::Engine::set_config("network/TCP-gamma:0");
    s4u::Engine::set_config("surf/precision:1e-12");
    s4u::Engine::set_config("maxmin/precision:1e-9");
  }
};

class Network {
 public:
  Network(const machine::Platform& platform, const machine::Wiring& wiring,
          const machine::Paths& paths)
      : paths_(paths), zones_(platform, wiring, paths) {
    engine_.seal_platform();
    s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) { ended(activity); });
  }

  void run(machine::Execution<Network>& execution) {
    execution_ = &execution;
    for (const machine::Paths::LinkChange& change : paths_.link_changes()) {
      simgrid::kernel::timer::Timer::set(
          change.at_s, [this, change] { change_rate(change.link, change.bytes_per_s); });
    }
    for (const double cut_s : paths_.cuts_s()) {
      simgrid::kernel::timer::Timer::set(cut_s, [this, cut_s] { cut(cut_s); });
    }
    simgrid::kernel::timer::Timer::set(kLag_s, [this] {
      execution_->start();
      work();
    });
    engine_.run();
  }

  void at(double time_s, ExecutionEvent event) { timers_.push(time_s, event); }

  void transmit(double now_s, PathId path, std::uint64_t bytes, OpId op) {
    std::uint32_t slot;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(flows_.size());
      flows_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    Flow& flow = flows_[slot];
    flow.begin_s = now_s;
    flow.alone_end_s = paths_.sent_s(now_s, path, bytes);
    flow.bytes = bytes;
    flow.path = path;
    flow.op = op;
    flow.live = true;
    ++flow.use;
    ends_.push({flow.alone_end_s, slot, flow.use});
    waiting_.push_back(slot);
  }

 private:
  struct Flow {
    s4u::CommPtr comm;  // nothing before it has begun in SimGrid
    double begin_s = 0;
    double alone_end_s = 0;  // if it shares with nobody
    std::uint64_t bytes = 0;
    PathId path;
    OpId op;
    std::uint32_t use = 0;  // of this slot, counted
    bool live = false;      // not ended, not lost
  };
  // The least time at which a flow may end.
  struct End {
    double time_s;
    std::uint32_t slot;
    std::uint32_t use;
    friend bool operator>(const End& a, const End& b) { return a.time_s > b.time_s; }
  };

  void ended(const s4u::Activity& activity) {
    const auto data = reinterpret_cast<std::uintptr_t>(activity.get_data<void>());
    if (data == 0) return;  // cut off before
    const auto slot = static_cast<std::uint32_t>(data - 1);
    Flow& flow = flows_[slot];
    if (activity.get_state() != s4u::Activity::State::FINISHED) {
      throw InternalError(
          fmt::format("the message of op {} ended as {}", flow.op.value, activity.get_state_str()));
    }
    flow.live = false;
    // A flow that shared with nobody ends when it should, but for SimGrid's precision.
    const double clock_s = s4u::Engine::get_clock();
    const bool alone = std::abs(clock_s - flow.alone_end_s) < 2 * kLag_s;
    at(alone ? flow.alone_end_s : clock_s, {flow.op, ExecutionEvent::Kind::kSent});
    over_.push_back(slot);
    arm();
  }

  void begin(std::uint32_t slot, double grains) {
    Flow& flow = flows_[slot];
    flow.comm = s4u::Comm::sendto_init(zones_.source(flow.path), zones_.destination(flow.path));
    flow.comm->set_data(reinterpret_cast<void*>(std::uintptr_t{slot} + 1));
    flow.comm->set_payload_size(std::max<std::uint64_t>(1, std::llround(grains)));
    flow.comm->start();
  }

  // SimGrid 3.32 bounds a flow by the rate that its route has when it begins: a link that becomes
  // faster helps only who begins after. So what is under way on it begins again with what is left.
  void change_rate(machine::LinkId link, double bytes_per_s) {
    zones_.set_rate(link, bytes_per_s);
    for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
      Flow& flow = flows_[slot];
      if (!flow.live || !flow.comm) continue;
      const auto links = paths_.links(flow.path);
      if (std::find(links.begin(), links.end(), link) == links.end()) continue;
      const double left = flow.comm->get_remaining();
      flow.comm->set_data(nullptr);
      flow.comm->cancel();
      cancelled_.push_back(std::move(flow.comm));
      begin(slot, left);
    }
  }

  // Everything under way on a path that fails now is lost.
  void cut(double cut_s) {
    ++cuts_;
    for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
      Flow& flow = flows_[slot];
      if (!flow.live || paths_[flow.path].cut_s > cut_s) continue;
      flow.live = false;
      at(cut_s, {flow.op, ExecutionEvent::Kind::kLost});
      if (!flow.comm) continue;      // still waits to begin, and will not
      flow.comm->set_data(nullptr);  // its slot may be another's when SimGrid says that it ended
      flow.comm->cancel();
      over_.push_back(slot);
    }
    arm();
  }

  // Sees to it that what is next is done when its time has come: an instant, or a flow's beginning.
  void arm() {
    double next_s = waiting_.empty() ? std::numeric_limits<double>::infinity()
                                     : flows_[waiting_[first_waiting_]].begin_s;
    if (!timers_.empty()) next_s = std::min(next_s, timers_.next_s());
    if (std::isinf(next_s)) return;
    const double due_s = std::max(next_s + kLag_s, s4u::Engine::get_clock());
    if (armed_s_ <= due_s) return;
    if (timer_ != nullptr) timer_->remove();
    armed_s_ = due_s;
    timer_ = simgrid::kernel::timer::Timer::set(due_s, [this] {
      timer_ = nullptr;
      work();
    });
  }

  // No flow ends, and nothing is cut, before this.
  double quiet_until_s() {
    while (!ends_.empty()) {
      const End& first = ends_.top();
      const Flow& flow = flows_[first.slot];
      if (flow.live && flow.use == first.use) break;
      ends_.pop();
    }
    double until_s = ends_.empty() ? std::numeric_limits<double>::infinity() : ends_.top().time_s;
    if (cuts_ < paths_.cuts_s().size()) until_s = std::min(until_s, paths_.cuts_s()[cuts_]);
    return until_s;
  }

  // Flows whose time has come begin. They do so after their instant; they carry that much less, to
  // end at their time.
  void begin_waiting(double clock_s) {
    while (first_waiting_ != waiting_.size()) {
      const std::uint32_t slot = waiting_[first_waiting_];
      const Flow& flow = flows_[slot];
      if (flow.begin_s + kLag_s > clock_s + kInstant_s / 2) return;
      ++first_waiting_;
      if (!flow.live) {
        free_.push_back(slot);
        continue;
      }
      const double missed = (clock_s - flow.begin_s) * paths_.bytes_per_s(flow.begin_s, flow.path);
      begin(slot, std::max(0.0, static_cast<double>(flow.bytes) - missed) * kGrain);
    }
    waiting_.clear();
    first_waiting_ = 0;
  }

  // Works through the instants whose time has come, and those ahead of SimGrid's clock that no end
  // of a flow can come before: most, and each would cost SimGrid a look at everything under way.
  void work() {
    armed_s_ = std::numeric_limits<double>::infinity();
    for (const std::uint32_t slot : over_) {
      flows_[slot].comm = nullptr;
      free_.push_back(slot);
    }
    over_.clear();
    cancelled_.clear();
    const double clock_s = s4u::Engine::get_clock();
    begin_waiting(clock_s);
    while (!timers_.empty() && (timers_.next_s() + kLag_s <= clock_s + kInstant_s / 2 ||
                                timers_.next_s() + 2 * kLag_s < quiet_until_s())) {
      const double now_s = timers_.pop_instant(events_);
      execution_->instant(now_s, events_);
    }
    begin_waiting(clock_s);
    arm();
  }

  const machine::Paths& paths_;
  s4u::Engine engine_{"slackline"};
  Configured configured_;
  Zones zones_;
  machine::Execution<Network>* execution_ = nullptr;
  machine::EventQueue timers_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> waiting_;  // for their time to begin, in its order, …
  std::size_t first_waiting_ = 0;       // …from here on
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<std::uint32_t> over_;      // ended, not yet let go
  std::vector<s4u::CommPtr> cancelled_;  // to be let go when SimGrid is through with them
  std::vector<ExecutionEvent> events_;
  std::size_t cuts_ = 0;  // that have been
  simgrid::kernel::timer::Timer* timer_ = nullptr;
  double armed_s_ = std::numeric_limits<double>::infinity();
};

void quiet() { xbt_log_control_set("root.thresh:error"); }

// All but what happened in the run.
sched::Trace blank_trace(const sched::Schedule& schedule, const machine::Platform& platform) {
  sched::Trace trace;
  trace.schedule = schedule.digest();
  trace.platform = platform.spec();
  trace.engine = "simgrid";
  return trace;
}

bool same_network(const machine::DelayPlan& a, const machine::DelayPlan& b) {
  return a.pairs == b.pairs && a.link_rates == b.link_rates && a.failures == b.failures;
}

}  // namespace

std::vector<double> run_simgrid_plans(const sched::Schedule& schedule,
                                      const machine::Platform& platform,
                                      const machine::Wiring& wiring,
                                      const machine::IssueOrder& order,
                                      const machine::PlanRuns& runs,
                                      const machine::TraceReading& reading) {
  machine::require_executable(schedule);
  if (runs.count == 0) return {};
  const machine::DelayPlan first = runs.plan(0);
  const machine::Paths paths(schedule, wiring, first);
  // Says what is wrong before anything is forked.
  const machine::Delays check(first, schedule, platform);
  const sched::Trace blank = blank_trace(schedule, platform);
  const std::size_t numbers = std::size_t{runs.count} * reading.width;
  const SharedMemory memory(numbers * sizeof(double));
  const std::span<double> kept(static_cast<double*>(memory.data()), numbers);
  const SharedMemory count_memory(sizeof(std::atomic<std::uint32_t>));
  auto& done = *new (count_memory.data()) std::atomic<std::uint32_t>(0);
  const auto run_one = [&](Network& network, std::uint32_t run) {
    const machine::DelayPlan plan = runs.plan(run);
    if (!same_network(plan, first)) {
      throw InternalError(fmt::format("run {} changes the network that all runs share", run));
    }
    const machine::Delays delays(plan, schedule, platform);
    sched::Trace trace = blank;
    trace.delays = plan.text();
    machine::Execution<Network> execution(schedule, platform, delays, paths, order,
                                          machine::record_in(trace, schedule, plan.seed), network);
    network.run(execution);
    machine::require_finished(schedule, trace, paths);
    reading.read(trace, kept.subspan(std::size_t{run} * reading.width, reading.width));
  };
  // One child makes the platform and seals it; each run goes on from there in a child of that one.
  run_in_child(
      [&] {
        quiet();
        Network network(platform, wiring, paths);
        run_in_children(
            runs.count, runs.jobs, [&](std::uint32_t run) { run_one(network, run); },
            [&] { ++done; });
      },
      runs.progress ? std::function<void()>([&] { runs.progress(done); })
                    : std::function<void()>());
  return {kept.begin(), kept.end()};
}

machine::Samples run_simgrid_samples(const sched::Schedule& schedule,
                                     const machine::Platform& platform,
                                     const machine::DelayPlan& plan,
                                     const machine::IssueOrder& order,
                                     const machine::SampleRuns& runs) {
  return run_simgrid_samples(schedule, platform, wiring_of(platform, schedule), plan, order, runs);
}

machine::Samples run_simgrid_samples(const sched::Schedule& schedule,
                                     const machine::Platform& platform,
                                     const machine::Wiring& wiring, const machine::DelayPlan& plan,
                                     const machine::IssueOrder& order,
                                     const machine::SampleRuns& runs) {
  return machine::samples_of(
      [&](const machine::PlanRuns& plans, const machine::TraceReading& reading) {
        return run_simgrid_plans(schedule, platform, wiring, order, plans, reading);
      },
      schedule, plan, runs);
}

sched::Trace run_simgrid(const sched::Schedule& schedule, const machine::Platform& platform,
                         const machine::DelayPlan& plan, const machine::IssueOrder& order) {
  return run_simgrid(schedule, platform, wiring_of(platform, schedule), plan, order);
}

sched::Trace run_simgrid(const sched::Schedule& schedule, const machine::Platform& platform,
                         const machine::Wiring& wiring, const machine::DelayPlan& plan,
                         const machine::IssueOrder& order) {
  machine::require_executable(schedule);
  const machine::Delays delays(plan, schedule, platform);
  const machine::Paths paths(schedule, wiring, plan);
  const std::size_t ops = schedule.op_count();
  const SharedMemory memory(ops * sizeof(sched::OpTimes));
  const std::span<sched::OpTimes> times(static_cast<sched::OpTimes*>(memory.data()), ops);
  const std::size_t requests = machine::request_count(schedule);
  const SharedMemory request_memory(requests * sizeof(double));
  const std::span<double> request_s(static_cast<double*>(request_memory.data()), requests);
  const SharedMemory result_memory(requests * sizeof(std::uint64_t));
  const std::span<std::uint64_t> results(static_cast<std::uint64_t*>(result_memory.data()),
                                         requests);
  const std::size_t kept = machine::KeptMemory(schedule).bytes();
  const SharedMemory kept_memory(kept);
  const std::span<std::byte> bytes(static_cast<std::byte*>(kept_memory.data()), kept);
  run_in_child([&] {
    quiet();
    Network network(platform, wiring, paths);
    machine::Execution<Network> execution(schedule, platform, delays, paths, order,
                                          {times, request_s, results, bytes, plan.seed}, network);
    network.run(execution);
  });
  sched::Trace trace = blank_trace(schedule, platform);
  trace.delays = plan.text();
  trace.seed = plan.seed;
  trace.ops.assign(times.begin(), times.end());
  trace.request_s.assign(request_s.begin(), request_s.end());
  trace.results.assign(results.begin(), results.end());
  trace.memory.assign(bytes.begin(), bytes.end());
  machine::require_finished(schedule, trace, paths);
  return trace;
}

}  // namespace slackline::sim
