// What a fluid run came to over time: the queue before each link, and what each queue pair sent.
//
// Time is cut into intervals of one width. The width doubles whenever a run takes more intervals
// than are kept, and neighbours are added up: so nothing is lost but how fine it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/wiring.h"
#include "sched/ids.h"

namespace slackline::analysis {

class FluidSeries {
 public:
  /// Intervals that are kept, at the most.
  static constexpr std::size_t kMost = 1024;

  /// `first_width_s` > 0: of an interval, until there are too many.
  explicit FluidSeries(double first_width_s) : width_s_(first_width_s) {}

  /// From `begin_s` on, for `step_s`, so many bytes waited for the link. Times of one link do not
  /// go back; those of which nothing is said had no bytes.
  void queue(machine::LinkId link, double begin_s, double step_s, double bytes);
  /// From `begin_s` on, for `step_s`, the queue pair (queue_pair() of fluid_network.h) sent `bytes`
  /// in all, at an even rate, and might have sent `allowed_bytes_per_s`; infinity: nothing bounded
  /// it.
  void sent(std::uint32_t pair, double begin_s, double step_s, double bytes,
            double allowed_bytes_per_s);

  double width_s() const { return width_s_; }

  struct QueueInterval {
    double byte_s = 0;         // the integral of the queue over it
    double largest_bytes = 0;  // that it had in it
  };
  struct RateInterval {
    double bytes = 0;                // that were sent in it
    double allowed_bytes_per_s = 0;  // at its end; 0: nobody had anything to send
  };
  /// By link, and of each by interval, from 0 on. Links for which nothing ever waited have none.
  const std::vector<std::vector<QueueInterval>>& queues() const { return queues_; }
  /// By queue pair, likewise.
  const std::vector<std::vector<RateInterval>>& rates() const { return rates_; }

 private:
  // Calls add(interval, share of the step) for each interval that the step has part of.
  template <class Add>
  void cut(double begin_s, double step_s, const Add& add);
  void make_room(double end_s);

  double width_s_;
  std::vector<std::vector<QueueInterval>> queues_;
  std::vector<std::vector<RateInterval>> rates_;
};

}  // namespace slackline::analysis
