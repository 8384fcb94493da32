#include "sim/simgrid_engine.h"

#include <fmt/format.h>
#include <xbt/log.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <vector>

#include "machine/execution.h"
#include "sched/error.h"
#include "sim/child_run.h"

namespace slackline::sim {
namespace {

namespace s4u = simgrid::s4u;
using machine::ExecutionEvent;
using machine::kInstant_s;
using sched::RankId;

// SimGrid's clock when an instant is worked through, after the instant's own time. Flows that end
// in one instant may differ in their last bits, and SimGrid may end a flow up to its precision of 1
// ps early; a little later all of them are there.
constexpr double kLag_s = 2e-12;

// SimGrid takes payloads in whole bytes, too coarse to correct a flow by picoseconds. Its bytes are
// grains of ours, payloads and bandwidths alike.
constexpr double kGrain = 1 << 20;

// A star of hosts, one per rank. What a slow pair sends leaves from a host of its own, which has
// the sender's NIC behind a link of the pair's rate: SimGrid 3.32 takes no rate for a direct
// message.
class Star {
 public:
  Star(const machine::Platform& platform, const machine::DelayPlan& plan, std::uint32_t ranks) {
    s4u::NetZone* zone = s4u::create_star_zone("star");
    std::vector<s4u::SplitDuplexLink*> nics;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      hosts_.push_back(zone->create_host(fmt::format("rank-{}", r), 1e9));
      nics.push_back(zone->create_split_duplex_link(fmt::format("nic-{}", r),
                                                    platform.rate.bytes_per_second() * kGrain));
      nics.back()->set_latency(0);
      nics.back()->seal();
      zone->add_route(hosts_.back()->get_netpoint(), nullptr, nullptr, nullptr,
                      {{nics.back(), s4u::LinkInRoute::Direction::UP}}, true);
    }
    for (const machine::PairRate& pair : plan.pairs) {
      const std::string name = fmt::format("{}-{}", pair.src.value, pair.dst.value);
      s4u::Host* host = zone->create_host("slow-" + name, 1e9);
      s4u::Link* link = zone->create_link("rate-" + name, pair.rate.bytes_per_second() * kGrain);
      link->set_latency(0);
      link->seal();
      zone->add_route(
          host->get_netpoint(), nullptr, nullptr, nullptr,
          {s4u::LinkInRoute(link), {nics[pair.src.value], s4u::LinkInRoute::Direction::UP}}, false);
      slow_.emplace(std::pair(pair.src, pair.dst), host);
    }
    zone->seal();
  }

  s4u::Host* source(RankId src, RankId dst) const {
    if (!slow_.empty()) {
      const auto found = slow_.find({src, dst});
      if (found != slow_.end()) return found->second;
    }
    return hosts_[src.value];
  }
  s4u::Host* destination(RankId dst) const { return hosts_[dst.value]; }

 private:
  std::vector<s4u::Host*> hosts_;
  std::map<std::pair<RankId, RankId>, s4u::Host*> slow_;
};

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
  Network(const machine::Platform& platform, const machine::DelayPlan& plan, std::uint32_t ranks)
      : platform_(platform), star_(platform, plan, ranks) {
    engine_.seal_platform();
    s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) { ended(activity); });
  }

  void run(machine::Execution<Network>& execution) {
    execution_ = &execution;
    simgrid::kernel::timer::Timer::set(kLag_s, [this] {
      execution_->start();
      arm();
    });
    engine_.run();
  }

  void at(double time_s, ExecutionEvent event) { timers_.push(time_s, event); }

  void transmit(double now_s, RankId src, RankId dst, std::uint64_t bytes, sched::Rate limit,
                ExecutionEvent event) {
    const double wire_s = platform_.transfer_s(bytes, limit);
    // The flow begins after its instant; it carries that much less, to end at its time.
    const double late_s = s4u::Engine::get_clock() - now_s;
    const double carried = static_cast<double>(bytes) * kGrain * std::max(0.0, 1 - late_s / wire_s);
    std::uint32_t slot;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(flows_.size());
      flows_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    Flow& flow = flows_[slot];
    flow.comm = s4u::Comm::sendto_init(star_.source(src, dst), star_.destination(dst));
    flow.alone_end_s = now_s + wire_s;
    flow.event = event;
    flow.comm->set_data(reinterpret_cast<void*>(std::uintptr_t{slot} + 1));
    flow.comm->set_payload_size(std::max<std::uint64_t>(1, std::llround(carried)));
    flow.comm->start();
  }

 private:
  struct Flow {
    s4u::CommPtr comm;
    double alone_end_s = 0;  // if it shares with nobody
    ExecutionEvent event;
  };
  void ended(const s4u::Activity& activity) {
    const auto slot =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(activity.get_data<void>()) - 1);
    const Flow& flow = flows_[slot];
    if (activity.get_state() != s4u::Activity::State::FINISHED) {
      throw InternalError(fmt::format("the message of op {} ended as {}", flow.event.op().value,
                                      activity.get_state_str()));
    }
    // A flow that shared with nobody ends when it should, but for SimGrid's precision.
    const double clock_s = s4u::Engine::get_clock();
    const bool alone = std::abs(clock_s - flow.alone_end_s) < 2 * kLag_s;
    at(alone ? flow.alone_end_s : clock_s, flow.event);
    over_.push_back(slot);
    arm();
  }

  // Sees to it that the earliest instant is worked through when its time has come.
  void arm() {
    if (timers_.empty()) return;
    const double due_s = std::max(timers_.next_s() + kLag_s, s4u::Engine::get_clock());
    if (armed_s_ <= due_s) return;
    armed_s_ = due_s;
    simgrid::kernel::timer::Timer::set(due_s, [this] { work(); });
  }

  void work() {
    armed_s_ = std::numeric_limits<double>::infinity();
    for (const std::uint32_t slot : over_) {
      flows_[slot].comm = nullptr;
      free_.push_back(slot);
    }
    over_.clear();
    const double clock_s = s4u::Engine::get_clock();
    while (!timers_.empty() && timers_.next_s() + kLag_s <= clock_s + kInstant_s / 2) {
      const double now_s = timers_.pop_instant(events_);
      execution_->instant(now_s, events_);
    }
    arm();
  }

  const machine::Platform& platform_;
  s4u::Engine engine_{"slackline"};
  Configured configured_;
  Star star_;
  machine::Execution<Network>* execution_ = nullptr;
  machine::EventQueue timers_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> over_;  // ended, not yet let go
  std::vector<ExecutionEvent> events_;
  double armed_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace

sched::Trace run_simgrid(const sched::Schedule& schedule, const machine::Platform& platform,
                         const machine::DelayPlan& plan, machine::IssuePolicy policy) {
  machine::require_executable(schedule, "SimGrid");
  const machine::Delays delays(plan, schedule);
  const std::size_t ops = schedule.op_count();
  const SharedMemory memory(ops * sizeof(sched::OpTimes));
  const std::span<sched::OpTimes> times(static_cast<sched::OpTimes*>(memory.data()), ops);
  const std::size_t requests = machine::request_count(schedule);
  const SharedMemory request_memory(requests * sizeof(double));
  const std::span<double> request_s(static_cast<double*>(request_memory.data()), requests);
  run_in_child([&] {
    xbt_log_control_set("root.thresh:error");
    Network network(platform, plan, schedule.rank_count());
    machine::Execution<Network> execution(schedule, platform, delays, policy, times, request_s,
                                          network);
    network.run(execution);
  });
  sched::Trace trace;
  trace.schedule = schedule.digest();
  trace.platform = platform.spec();
  trace.delays = plan.text();
  trace.engine = "simgrid";
  trace.ops.assign(times.begin(), times.end());
  trace.request_s.assign(request_s.begin(), request_s.end());
  machine::require_finished(schedule, trace);
  return trace;
}

}  // namespace slackline::sim
