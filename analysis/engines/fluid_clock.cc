#include "analysis/engines/fluid_clock.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "sched/op.h"

namespace slackline::analysis {

using machine::ExecutionEvent;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

FluidClock::FluidClock(const machine::Setting& setting, const machine::Paths& paths)
    : schedule_(setting.schedule),
      watch_(setting.watch),
      network_(setting, paths),
      changes_(paths.link_changes().begin(), paths.link_changes().end()) {
  std::sort(changes_.begin(), changes_.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.at_s, a.link) < std::tuple(b.at_s, b.link);
  });
}

void FluidClock::transmit(double now_s, machine::PathId, std::uint64_t bytes, sched::OpId id) {
  if (network_.is_idle()) network_.skip_to(now_s);
  const sched::Op& op = schedule_.op(id);
  network_.start(queue_pair(op.channel, sched::has_reply(op.kind)), bytes, id);
}

void FluidClock::drive(machine::DrivenRun& run) {
  change_links(0);
  run.start();
  while (advance()) run.instant(now_s_, events_);
}

// The events of the next instant, and its time; false if there is none.
bool FluidClock::advance() {
  for (;;) {
    const double timer_s = timers_.empty() ? kNever : timers_.next_s();
    if (network_.is_idle()) {
      if (timer_s == kNever) return false;
      change_links(timer_s);
    } else if (timer_s > network_.now_s()) {
      change_links(network_.now_s());
      const double change_s = changed_ < changes_.size() ? changes_[changed_].at_s : kNever;
      network_.step(std::min(timer_s, change_s), sent_);
      for (const sched::OpId op : sent_) {
        timers_.push(network_.now_s(), {op, ExecutionEvent::Kind::kSent});
      }
      sent_.clear();
      if (watch_ != nullptr && ++steps_ % kStepsPerLook == 0) (*watch_)();
      continue;
    }
    now_s_ = timers_.pop_instant(events_);
    return true;
  }
}

void FluidClock::change_links(double until_s) {
  for (; changed_ < changes_.size() && changes_[changed_].at_s <= until_s; ++changed_) {
    network_.set_rate(changes_[changed_].link, changes_[changed_].bytes_per_s);
  }
}

}  // namespace slackline::analysis
