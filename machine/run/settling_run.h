// A run that goes from instant to instant: what ends in one, what starts in it, and when messages
// give their NICs' ports back. The execution of schedules (machine/run/execution.h) and programs
// that decide as they run (analysis/stealing/steal_run.h) go by it.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/driven_run.h"
#include "machine/event_order.h"
#include "machine/port_arbiter.h"
#include "machine/setting.h"

namespace slackline::machine {

class SettlingRun : public DrivenRun {
 public:
  void instant(double now_s, std::vector<ExecutionEvent>& events) final;

 protected:
  using Event = ExecutionEvent;
  using Kind = ExecutionEvent::Kind;

  /// `watch` is the setting's.
  SettlingRun(DrivenClock& clock, std::uint32_t nics, const RunWatch* watch)
      : clock_(clock), large_(nics), small_(nics), watch_(watch) {}

  /// What comes of events of the instant, in order.
  virtual void handle_all(const std::vector<Event>& events) = 0;
  /// Every lane that may have its turn now has it.
  virtual void serve_lanes() = 0;
  virtual void start_message(const PortArbiter::Start& start, bool large) = 0;

  /// All that ends and starts in the instant at hand, after its events.
  void settle();

  /// What ends in this very instant does so before anything else starts in it. An instant takes
  /// what comes less than kInstant_s after it: a sum of other durations may be a rounding error
  /// later. (Where a double has no picoseconds, only what comes at the very time.)
  void end_at(double time_s, Event event) {
    if (is_later(time_s)) {
      clock_.at(time_s, event);
    } else {
      ended_now_.push_back(event);
    }
  }
  /// Whether the instant at hand does not take it.
  bool is_later(double time_s) const { return time_s > now_s_ && time_s >= now_s_ + kInstant_s; }

  static Kind out_free(bool large, bool reply = false) {
    return reply ? Kind::kReplyOutFree : large ? Kind::kLargeOutFree : Kind::kOutFree;
  }

  /// A message starts that holds no port to its end: one without bytes, or of a fair NIC. Its
  /// in-port is free at once, its out-port after the gap: at `event`, unless that is now and nobody
  /// is next in the queue.
  void free_at_start(PortArbiter& ports, const PortArbiter::Start& start, double gap_s,
                     Event event);

  /// A message has left, or was lost, that held both ports since `start_s`: one with bytes, of a
  /// serial NIC. Its in-port is free, and so is its out-port if the gap since its start is over;
  /// otherwise it is at `event`.
  void free_at_end(PortArbiter& ports, NicId src, NicId dst, double start_s, double gap_s,
                   Event event);

  DrivenClock& clock_;
  double now_s_ = 0;
  PortArbiter large_;
  PortArbiter small_;
  std::vector<Event> ended_now_;

 private:
  const RunWatch* const watch_;
  std::uint32_t instants_ = 0;  // that were watched, modulo 2^32
  std::vector<Event> batch_;
  EventOrder order_;
};

}  // namespace slackline::machine
