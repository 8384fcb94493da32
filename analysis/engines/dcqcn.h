// One sender of DCQCN as a fluid: Zhu et al., "Congestion Control for Large-Scale RDMA
// Deployments", SIGCOMM 2015, section 5.1, equations 5 and 7 to 9. The same equations stand in Zhu
// et al., "ECN or Delay", CoNEXT 2016, section 3.1. Rates are in packets per second, since marks
// fall on packets.
#pragma once

#include "machine/congestion.h"

namespace slackline::analysis {

/// The figures of a platform's congestion, as the equations have them.
struct DcqcnFigures {
  /// `packet_bytes` > 0.
  DcqcnFigures(const machine::Congestion& congestion, double packet_bytes);

  double gain;             // g
  double cnp_s;            // tau
  double alpha_s;          // tau'
  double timer_s;          // T
  double counter_packets;  // B
  double increase;         // R_AI, in packets per second
  double recovery;         // F
};

/// Equation 5: the chance that a packet is marked by a queue of so many bytes.
double marking_chance(const machine::Congestion& congestion, double queue_bytes);

/// What a sender hears of the time before: the chance that its packets were marked, and how many a
/// second there were.
struct DcqcnFeedback {
  double chance = 0;
  double packets_per_s = 0;
};

class DcqcnRate {
 public:
  /// Begins at `line`, the rate of its NIC, with alpha = 1. The figures must outlive this.
  DcqcnRate(const DcqcnFigures& figures, double line)
      : figures_(&figures), line_(line), current_(line), target_(line) {}

  /// Goes on by `step_s` (Euler's rule), with the feedback of that time. Neither rate goes above
  /// the line's.
  void advance(double step_s, DcqcnFeedback feedback);
  /// Goes on by any time in which nothing was sent: the same equations without packets, exactly.
  void rest(double time_s);

  double current() const { return current_; }  // R_C
  double target() const { return target_; }    // R_T
  double alpha() const { return alpha_; }

 private:
  const DcqcnFigures* figures_;
  double line_;
  double current_;
  double target_;
  double alpha_ = 1;
};

}  // namespace slackline::analysis
