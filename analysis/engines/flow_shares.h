// Large messages under way that share links, and when each of them has left: max-min fair rates
// (analysis/engines/shared_rates.h), kept up as messages begin and end and as links change.
//
// Between changes a flow has a constant rate, so only its rate, what it had left when it got that
// rate, and the end that follows are kept. A flow whose rate comes out the same is not touched.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/engines/end_times.h"
#include "analysis/engines/shared_rates.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"

namespace slackline::analysis {

class FlowShares {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The paths must outlive this. With `nic` kSerial no two messages leave at once that have a
  /// source NIC or a destination NIC in common.
  FlowShares(const machine::Paths& paths, const machine::Wiring& wiring,
             machine::NicDiscipline nic = machine::NicDiscipline::kFair)
      : paths_(paths), rates_(paths, wiring, nic) {}

  /// A message of `bytes` > 0 begins to leave. Its rate is known from settle() on.
  void start(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op);
  /// The link has another rate from now on.
  void set_rate(machine::LinkId link, double bytes_per_s) {
    add_started();
    rates_.set_capacity(link, bytes_per_s);
  }
  /// Gives everything its rate after what has changed by now.
  void settle(double now_s);

  /// As another one over the same paths is now.
  void resume(const FlowShares& other);
  /// After settle(): whether another one over the same paths, settled too, has the same flows with
  /// the same rates and as much of each left.
  bool goes_on_as(const FlowShares& other) const;

  /// When the first flow has left, if nothing changes; kNever without any. After settle().
  double next_end_s() { return ends_.least_s(); }
  /// Takes out every flow that has left by `until_s`, itself included if `with_equal`, and calls
  /// visit(op, end_s), in no order.
  template <class Visit>
  void take_ended(double until_s, bool with_equal, Visit&& visit) {
    ended_.clear();
    ends_.take(until_s, with_equal, [&](std::uint32_t slot, double end_s) {
      visit(flows_[slot].op, end_s);
      ended_.push_back(slot);
    });
    remove_all(ended_);
  }
  /// Takes out every flow whose path is cut by then, in order of their operations, and calls
  /// visit(op).
  template <class Visit>
  void take_cut(double cut_s, Visit&& visit) {
    add_started();
    const std::vector<std::uint32_t> slots = cut_by(cut_s);
    for (const std::uint32_t slot : slots) {
      visit(flows_[slot].op);
      ends_.set(slot, kNever);
    }
    remove_all(slots);
  }

 private:
  struct Flow {
    machine::PathId path;
    sched::OpId op;
    bool live = false;
    double rate = 0;
    double left = 0;  // in bytes on the wire, at…
    double since_s = 0;
  };

  void add_started();
  void remove_all(const std::vector<std::uint32_t>& slots);
  std::vector<std::uint32_t> cut_by(double cut_s) const;
  std::vector<const Flow*> live() const;

  const machine::Paths& paths_;
  SharedRates rates_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  // Those that have started since settle(). Many begin and end at once, and each touches every link
  // of its way: so they are dealt with together, and links are asked for before their turn.
  struct Started {
    std::uint32_t slot;
    double most_bytes_per_s;
  };
  std::vector<Started> started_;
  std::vector<std::uint32_t> ended_;  // its memory is used again
  EndTimes ends_;
};

}  // namespace slackline::analysis
