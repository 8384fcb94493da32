#include "sim/flow_network.h"

#include <fmt/format.h>
#include <xbt/log.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/slots.h"
#include "sim/grain.h"

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

// How much earlier than on its own a flow of this length may end at this time by SimGrid's clock,
// by rounding alone.
double most_early_s(double length_s, double clock_s) {
  constexpr double kClockSteps = 16 * std::numeric_limits<double>::epsilon();
  return 1e-9 + 1e-6 * length_s + kClockSteps * clock_s;
}

// A payload of SimGrid's is a whole number below 2^64, and no grain is larger than a byte.
std::uint64_t most_on_wire(const machine::Framing& framing, std::uint64_t largest_bytes) {
  const double on_wire = std::ceil(framing.wire_bytes(largest_bytes));
  if (on_wire > 0x1p63) {
    throw Unsupported(
        fmt::format("simgrid: a message of {} bytes has {:.4g} on the wire, with what packets and "
                    "lines add; expected at most 2^63, or another engine",
                    largest_bytes, on_wire));
  }
  return static_cast<std::uint64_t>(on_wire);
}

}  // namespace

FlowNetwork::Quiet::Quiet() { xbt_log_control_set("root.thresh:error"); }

FlowNetwork::FlowNetwork(const machine::Platform& platform, const machine::Wiring& wiring,
                         const machine::Paths& paths, std::uint64_t largest_bytes,
                         const HeldFlows& held)
    : paths_(paths),
      largest_bytes_(largest_bytes),
      grains_per_byte_(grains_per_byte(most_on_wire(wiring.framing(), largest_bytes))),
      zones_(platform, wiring, paths, held, grains_per_byte_) {
  engine_.seal_platform();
  on_ended([this](const s4u::Comm& comm) { ended(comm); });
}

void FlowNetwork::run(machine::DrivenRun& driven) {
  driven_ = &driven;
  for (const machine::Paths::LinkChange& change : paths_.link_changes()) {
    call_at(change.at_s, [this, change] { change_rate(change.link, change.bytes_per_s); });
  }
  for (const double cut_s : paths_.cuts_s()) {
    call_at(cut_s, [this, cut_s] { cut(cut_s); });
  }
  call_at(kLag_s, [this] {
    driven_->start();
    work();
  });
  engine_.run();
}

void FlowNetwork::transmit(double now_s, PathId path, std::uint64_t bytes, OpId op) {
  if (bytes > largest_bytes_) {
    throw InternalError(fmt::format("op {} sends {} bytes in a run of messages of at most {}",
                                    op.value, bytes, largest_bytes_));
  }
  const std::uint32_t slot = base::take_slot(flows_, free_);
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

void FlowNetwork::ended(const s4u::Comm& comm) {
  const auto data = reinterpret_cast<std::uintptr_t>(comm.get_data<void>());
  if (data == 0) return;  // cut off before
  const auto slot = static_cast<std::uint32_t>(data - 1);
  Flow& flow = flows_[slot];
  if (comm.get_state() != s4u::Activity::State::FINISHED) {
    throw InternalError(
        fmt::format("the message of op {} ended as {}", flow.op.value, comm.get_state_str()));
  }
  flow.live = false;
  // A flow that shared with nobody ends when it should, but for SimGrid's precision.
  const double clock_s = s4u::Engine::get_clock();
  if (flow.alone_end_s - clock_s > most_early_s(flow.alone_end_s - flow.begin_s, clock_s)) {
    throw InternalError(
        fmt::format("the {} bytes of op {} took from {} s to {} s, less than their way can carry "
                    "them in",
                    flow.bytes, flow.op.value, flow.begin_s, clock_s));
  }
  const bool alone = std::abs(clock_s - flow.alone_end_s) < 2 * kLag_s;
  at(alone ? flow.alone_end_s : clock_s, {flow.op, ExecutionEvent::Kind::kSent});
  over_.push_back(slot);
  arm();
}

void FlowNetwork::begin(std::uint32_t slot, double grains) {
  Flow& flow = flows_[slot];
  flow.comm =
      s4u::Comm::sendto_init(zones_.source(flow.path, flow.bytes), zones_.destination(flow.path));
  flow.comm->set_data(reinterpret_cast<void*>(std::uintptr_t{slot} + 1));
  flow.comm->set_payload_size(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(grains + 0.5)));
  flow.comm->start();
}

// SimGrid 3.32 bounds a flow by the rate that its route has when it begins: a link that becomes
// faster helps only who begins after. So what is under way on it begins again with what is left.
void FlowNetwork::change_rate(machine::LinkId link, double bytes_per_s) {
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
void FlowNetwork::cut(double cut_s) {
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
void FlowNetwork::arm() {
  double next_s = waiting_.empty() ? std::numeric_limits<double>::infinity()
                                   : flows_[waiting_[first_waiting_]].begin_s;
  if (!timers_.empty()) next_s = std::min(next_s, timers_.next_s());
  if (std::isinf(next_s)) return;
  const double due_s = std::max(next_s + kLag_s, s4u::Engine::get_clock());
  if (armed_s_ <= due_s) return;
  if (timer_ != nullptr) cancel(timer_);
  armed_s_ = due_s;
  timer_ = call_at(due_s, [this] {
    timer_ = nullptr;
    work();
  });
}

// No flow ends, and nothing is cut, before this.
double FlowNetwork::quiet_until_s() {
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
void FlowNetwork::begin_waiting(double clock_s) {
  while (first_waiting_ != waiting_.size()) {
    const std::uint32_t slot = waiting_[first_waiting_];
    const Flow& flow = flows_[slot];
    if (flow.begin_s + kLag_s > clock_s + kInstant_s / 2) return;
    ++first_waiting_;
    if (!flow.live) {
      free_.push_back(slot);
      continue;
    }
    const double rate = std::min(paths_.bytes_per_s(flow.begin_s, flow.path),
                                 paths_.most_bytes_per_s(flow.path, flow.bytes));
    const double missed = (clock_s - flow.begin_s) * rate;
    begin(slot,
          std::max(0.0, paths_.wire_bytes(flow.path, flow.bytes) - missed) * grains_per_byte_);
  }
  waiting_.clear();
  first_waiting_ = 0;
}

// Works through the instants whose time has come, and those ahead of SimGrid's clock that no end
// of a flow can come before: most, and each would cost SimGrid a look at everything under way.
void FlowNetwork::work() {
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
    driven_->instant(now_s, events_);
  }
  begin_waiting(clock_s);
  arm();
}

}  // namespace slackline::sim
