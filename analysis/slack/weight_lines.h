// The constraints of a frozen run as straight lines in one of its figures.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/line.h"
#include "analysis/slack/parameter.h"
#include "machine/setting.h"

namespace slackline::analysis {

/// The highest of up to three lines.
class Lines {
 public:
  Lines() : Lines(Line{}) {}
  explicit Lines(Line line) : lines_{line}, count_(1) {}
  /// Of both, without lines that another covers from `lo` on.
  static Lines highest(const Lines& a, const Lines& b, double lo);
  /// Throws InternalError unless one of the two is a single line.
  friend Lines operator+(const Lines& a, const Lines& b);

  std::span<const Line> lines() const { return std::span(lines_).first(count_); }
  bool is_zero() const { return count_ == 1 && lines_[0] == Line{}; }

 private:
  void add(Line line, double lo);
  std::array<Line, 3> lines_;
  std::size_t count_ = 0;
};

/// With the parameter at 0 every weight is the graph's, but that an atomic's done stands for when
/// its reply begins to leave: weights from and to it are longer and shorter by `after_end`.
class WeightLines {
 public:
  /// Throws InputError for a link, rank or operation that there is not, and Unsupported for the
  /// byte time of a link whose rate changes during the run, or with the run's own times on the
  /// wire. What the setting is of, delays and paths must outlive this.
  WeightLines(const machine::Setting& setting, const machine::Delays& delays,
              const machine::Paths& paths, const sched::Trace& trace, WireTimes wire,
              const Parameter& parameter);

  /// The least value that makes sense: the figure, or the least of several, is 0 there. Of what is
  /// a delay to begin with, 0; of a factor, −1.
  double least() const { return least_; }
  /// What must keep its order in the graph, lest it take time at once and in no order.
  KeptOrder kept_order() const;

  Lines weight(const Constraint& constraint, Weight weight) const;
  Line source(NodeId node) const;
  /// How much later than the node its operation's done is, if that is its done; else 0.
  Lines after_end(NodeId node) const;

 private:
  struct WayRate {
    double own = 0;   // bytes per second of the slowest varied link on it; 0: none
    double rest = 0;  // … of what else is on it; 0: nothing
  };
  void read_rates(const machine::Wiring& wiring);
  void set_least();
  Line latency(sched::OpId op, bool back) const;
  Line hold(sched::OpId op) const;
  Line into(sched::OpId op) const;
  Line complete(sched::OpId op) const;
  Lines wire(sched::OpId op) const;
  Lines reply(sched::OpId op) const;

  const sched::Schedule& schedule_;
  const machine::Platform& platform_;
  const machine::Delays& delays_;
  const machine::Paths& paths_;

  const Parameter parameter_;
  const machine::Completions completions_;
  std::vector<double> wire_s_;     // of every operation
  std::vector<double> slowdown_;   // kPost: of every rank
  std::vector<WayRate> way_rate_;  // kByteTime: of every path
  Line complete_;
  Line gap_;
  double least_ = 0;
};

}  // namespace slackline::analysis
