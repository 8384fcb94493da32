#include "analysis/engines/flow_clock.h"

#include <tuple>
#include <utility>

namespace slackline::analysis {

using machine::ExecutionEvent;
using machine::kInstant_s;

FlowClock::FlowClock(const machine::Paths& paths, const machine::Setting& setting)
    : paths_(paths),
      flows_(paths, setting.wiring, setting.platform.nic),
      changes_(paths.link_changes().begin(), paths.link_changes().end()) {
  std::sort(changes_.begin(), changes_.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.at_s, a.link) < std::tuple(b.at_s, b.link);
  });
}

void FlowClock::drive(machine::DrivenRun& run) {
  run.start();
  while (step(run)) continue;
}

bool FlowClock::step(machine::DrivenRun& run) {
  if (!advance()) return false;
  run.instant(now_s_, events_);
  return true;
}

// The events of the next instant, and its time; false if there is none.
bool FlowClock::advance() {
  for (;;) {
    flows_.settle(now_s_);
    double next_s = flows_.next_end_s();
    if (!timers_.empty()) next_s = std::min(next_s, timers_.next_s());
    if (next_s == FlowShares::kNever) return false;
    if (change_network(next_s)) continue;
    now_s_ = next_s;
    timers_.pop_instant(now_s_, events_);
    // What leaves within the instant belongs to it, as any event.
    flows_.take_ended(
        now_s_ + kInstant_s, now_s_ + kInstant_s == now_s_,
        [&](sched::OpId op, double) { events_.emplace_back(op, ExecutionEvent::Kind::kSent); });
    return true;
  }
}

// What happens to the network before the instant to come. A message that would have left less than
// an instant before its way is cut is lost.
bool FlowClock::change_network(double next_s) {
  const auto cuts_s = paths_.cuts_s();
  const double change_s = changed_ < changes_.size() ? changes_[changed_].at_s : FlowShares::kNever;
  const double cut_s = cut_ < cuts_s.size() ? cuts_s[cut_] : FlowShares::kNever;
  if (change_s <= next_s && change_s <= cut_s) {
    now_s_ = std::max(now_s_, change_s);
    while (changed_ < changes_.size() && changes_[changed_].at_s == change_s) {
      const auto& change = changes_[changed_++];
      flows_.set_rate(change.link, change.bytes_per_s);
    }
    return true;
  }
  if (cut_s == FlowShares::kNever || cut_s >= next_s + kInstant_s) return false;
  ++cut_;
  now_s_ = std::max(now_s_, std::min(cut_s, next_s));
  flows_.take_cut(cut_s, [&](sched::OpId op) {
    timers_.push(std::max(cut_s, now_s_), {op, ExecutionEvent::Kind::kLost});
  });
  return true;
}

void FlowClock::resume(const FlowClock& other) {
  timers_ = other.timers_;
  flows_.resume(other.flows_);
  changed_ = other.changed_;
  cut_ = other.cut_;
  now_s_ = other.now_s_;
}

bool FlowClock::goes_on_as(const FlowClock& other) const {
  // What has happened to the network follows from the time.
  if (now_s_ != other.now_s_ || !flows_.goes_on_as(other.flows_)) return false;
  const auto pending = [](const machine::EventQueue& timers) {
    std::vector<std::pair<ExecutionEvent, double>> events;
    timers.each([&](double time_s, ExecutionEvent event) { events.emplace_back(event, time_s); });
    std::sort(events.begin(), events.end());
    return events;
  };
  return pending(timers_) == pending(other.timers_);
}

}  // namespace slackline::analysis
