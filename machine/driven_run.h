// A run that is told what ends when, and who tells it: what lets one run take place on a clock of
// our own or inside a network simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/event_queue.h"
#include "machine/paths.h"

namespace slackline::machine {

/// Keeps the time of one run.
class DrivenClock {
 public:
  virtual ~DrivenClock() = default;
  /// Delivers `event` at that time, which is not before now.
  virtual void at(double time_s, ExecutionEvent event) = 0;
  /// A large message begins to leave now. {`id`, kSent} is delivered when it has left, or {`id`,
  /// kLost} when its path is cut before.
  virtual void transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId id) = 0;
  /// Whether messages meet queues, marks and pauses there, as a platform's congestion has it.
  virtual bool has_queues() const { return false; }
};

class DrivenRun {
 public:
  virtual ~DrivenRun() = default;
  /// Time zero.
  virtual void start() = 0;
  /// All events of one instant, in no order; may reorder them.
  virtual void instant(double now_s, std::vector<ExecutionEvent>& events) = 0;
  /// What came of it, when nothing can happen any more, in bytes that its maker can read. A run may
  /// take place in another process, which nothing else leaves.
  virtual std::string result() { return {}; }
};

using MakeRun = std::function<std::unique_ptr<DrivenRun>(DrivenClock&)>;

/// Makes a run and drives it to its end; returns its result(). drive_alone(), or one inside a
/// simulator.
using Driver = std::function<std::string(const Paths&, const MakeRun&)>;

/// Every message has the rate of its slowest link, whoever shares it.
std::string drive_alone(const Paths& paths, const MakeRun& make);

}  // namespace slackline::machine
