#include "analysis/engines/dcqcn.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace slackline::analysis {
namespace {

// What stands in equations 7 to 9 beside rates and alpha, of one moment's feedback. Increases come
// by packets sent and by time; all four are per second.
struct Terms {
  double cut = 0;                  // the chance of a notice within tau
  double alpha_input = 0;          // … and within tau'
  double by_counter = 0;           // increases by the byte counter, …
  double by_counter_additive = 0;  // …of which these come after fast recovery
  double by_timer = 0;             // the same by the timer
  double by_timer_additive = 0;
};

Terms terms_of(const DcqcnFigures& f, DcqcnFeedback feedback) {
  const double p = feedback.chance;
  const double packets_per_s = feedback.packets_per_s;
  Terms terms;
  if (packets_per_s <= 0) {  // no packet is marked, and none is counted
    terms.by_timer = terms.by_timer_additive = 1 / f.timer_s;
    return terms;
  }
  if (p <= 0) {
    terms.by_counter = terms.by_counter_additive = packets_per_s / f.counter_packets;
    terms.by_timer = terms.by_timer_additive = 1 / f.timer_s;
    return terms;
  }
  if (p >= 1) {
    terms.cut = terms.alpha_input = 1;
    return terms;
  }
  const double log_unmarked = std::log1p(-p);
  const double in_timer = f.timer_s * packets_per_s;
  terms.cut = -std::expm1(f.cnp_s * packets_per_s * log_unmarked);
  terms.alpha_input = -std::expm1(f.alpha_s * packets_per_s * log_unmarked);
  terms.by_counter = packets_per_s * p / std::expm1(-f.counter_packets * log_unmarked);
  terms.by_counter_additive =
      terms.by_counter * std::exp(f.recovery * f.counter_packets * log_unmarked);
  terms.by_timer = packets_per_s * p / std::expm1(-in_timer * log_unmarked);
  terms.by_timer_additive = terms.by_timer * std::exp(f.recovery * in_timer * log_unmarked);
  return terms;
}

}  // namespace

DcqcnFigures::DcqcnFigures(const machine::Congestion& congestion, double packet_bytes)
    : gain(1.0 / congestion.gain_divisor),
      cnp_s(sched::seconds(congestion.cnp_interval)),
      alpha_s(sched::seconds(congestion.alpha_interval)),
      timer_s(sched::seconds(congestion.timer)),
      counter_packets(static_cast<double>(congestion.counter_bytes) / packet_bytes),
      increase(congestion.increase.bytes_per_second() / packet_bytes),
      recovery(congestion.recovery_steps) {}

double marking_chance(const machine::Congestion& congestion, double queue_bytes) {
  const auto kmin = static_cast<double>(congestion.ecn_kmin_bytes);
  const auto kmax = static_cast<double>(congestion.ecn_kmax_bytes);
  if (queue_bytes <= kmin) return 0;
  if (queue_bytes > kmax) return 1;
  return (queue_bytes - kmin) / (kmax - kmin) * congestion.ecn_pmax.value * 1e-6;
}

void DcqcnRate::advance(double step_s, DcqcnFeedback feedback) {
  const DcqcnFigures& f = *figures_;
  const Terms terms = terms_of(f, feedback);
  const double above = target_ - current_;
  const double alpha_change = f.gain / f.alpha_s * (terms.alpha_input - alpha_);
  const double target_change = -above * terms.cut / f.cnp_s +
                               f.increase * (terms.by_counter_additive + terms.by_timer_additive);
  const double current_change = -current_ * alpha_ * terms.cut / (2 * f.cnp_s) +
                                above / 2 * (terms.by_counter + terms.by_timer);
  alpha_ += step_s * alpha_change;
  target_ = std::min(line_, target_ + step_s * target_change);
  current_ = std::min(line_, current_ + step_s * current_change);
}

// R_T rises by R_AI a timer's period up to the line's rate, and R_C comes closer to it by half. So
// what lies between the two tends to 2 R_AI at first, and then to nothing.
void DcqcnRate::rest(double time_s) {
  const DcqcnFigures& f = *figures_;
  alpha_ *= std::exp(-f.gain * time_s / f.alpha_s);
  const double rising_s = std::min(time_s, (line_ - target_) * f.timer_s / f.increase);
  const auto closer = [&](double by_s) { return std::exp(-by_s / (2 * f.timer_s)); };
  double above = target_ - current_;
  above = 2 * f.increase + (above - 2 * f.increase) * closer(rising_s);
  above *= closer(time_s - rising_s);
  target_ = std::min(line_, target_ + f.increase * rising_s / f.timer_s);
  current_ = std::min(line_, target_ - above);
}

}  // namespace slackline::analysis
