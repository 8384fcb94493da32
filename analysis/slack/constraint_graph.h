// A finished run as a system of constraints time(head) ≥ time(tail) + weight, with the order on
// lanes and ports that the run had.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/slack/wire_times.h"
#include "machine/completions.h"
#include "machine/delays.h"
#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Four moments of an operation. Not every kind has them all apart; those it lacks coincide with
/// the one before.
enum class Moment : std::uint8_t {
  kIssued,
  kRequest,  // get, atomics: the request begins to leave
  kWire,     // its message (of a get: the reply) begins to leave; an atomic has been served
  kDone,
};

struct NodeId {
  std::uint32_t value = 0;
  static NodeId of(sched::OpId op, Moment moment) {
    return {4 * op.value + static_cast<std::uint32_t>(moment)};
  }
  sched::OpId op() const { return sched::OpId(value / 4); }
  Moment moment() const { return static_cast<Moment>(value % 4); }
  friend auto operator<=>(NodeId, NodeId) = default;
};

struct Constraint {
  NodeId tail;
  NodeId head;
  double weight_s;
};

/// What a constraint's weight is the sum of, for those that vary one of these figures.
enum class Weight : std::uint8_t {
  kFixed,       // nothing that can be varied: the duration of a delay, the service of an atomic, 0
  kInto,        // the head's own delay, and its lane time if it is posted
  kLaneTime,    // the tail's lane time
  kCompletion,  // o_complete, and the look at it, as in all that follow with o_complete
  kRequest,     // the tail's latency there; of an atomic its service too
  kReply,       // the tail's wire time and latency back, o_complete
  kSent,        // the tail's wire time, o_complete
  kArrived,     // the tail's wire time and latency there, o_complete
  kAcknowledged,  // the tail's wire time and latency there and back, o_complete
  kAnswered,      // the head's latency back, o_complete
  kTurn,  // the tail's lane time unless it is posted, the head's if it is; of a done, which stands
          // for the look that saw it: nothing after it, and the look's before it
  kOutPort,   // the gap or, of a serial NIC, the tail's wire time if that is longer
  kInPort,    // the tail's wire time
  kLock,      // qp_lock
  kInFlight,  // the head's lane time: a bound of sends had it wait for the tail
};

/// An operation or a message that takes no time keeps no other waiting, and so has no place in the
/// order on lanes and ports. What is named here keeps its place all the same, for callers that will
/// have it take some.
struct KeptOrder {
  bool posts = false;                          // of every rank
  sched::RankId rank = sched::RankId::none();  // whatever holds a lane there
  bool gaps = false;                           // messages on their out-port
  friend bool operator==(const KeptOrder&, const KeptOrder&) = default;
};

/// Where operations compete for lanes and ports, a schedule is a disjunctive graph (Roy and
/// Sussmann, "Les problèmes d'ordonnancement avec contraintes disjonctives", SEMA, 1964): some of
/// its arcs are given, and of any two operations that use one lane or port either goes first. A run
/// has decided all of these. With its decisions as arcs a graph without cycles is left, and its
/// longest paths say when each moment comes.
///
/// An atomic's reply has no moment of its own: at ports, its done stands for when it begins to
/// leave, which is earlier by its kReply, and kOutPort and kInPort are from and to that.
class ConstraintGraph {
 public:
  ConstraintGraph(const machine::Setting& setting, const machine::Delays& delays,
                  const machine::Paths& paths, const sched::Trace& trace,
                  WireTimes wire = WireTimes::kModel, KeptOrder kept = {});

  /// Only what holds in every run, whatever the order on lanes and ports and whatever shares links:
  /// its times are the least that any run could have. The plan must change no link's rate.
  static ConstraintGraph of_every_run(const machine::Setting& setting,
                                      const machine::Delays& delays, const machine::Paths& paths);

  std::uint32_t node_count() const { return 4 * ops_; }
  std::span<const Constraint> constraints() const { return constraints_; }
  /// Of every constraint.
  std::span<const Weight> weights() const { return weights_; }
  /// Those that the schedule itself asks for, without the order on lanes and ports, come first.
  std::span<const Constraint> schedule_constraints() const {
    return constraints().first(schedule_constraints_);
  }
  /// Those that keep the order on lanes, ports and words, and of sends in flight; the others hold
  /// in every run.
  std::span<const Constraint> of_order() const {
    return constraints().subspan(schedule_constraints_);
  }
  /// What also was so in this run, and constrains nothing: an operation that needs no time went
  /// before one that needs some. As it went first, it did not wait for the other.
  std::span<const Constraint> went_before() const { return went_before_; }
  /// Indices of the constraints that leave a node.
  std::span<const std::uint32_t> out_of(NodeId node) const {
    return std::span(out_).subspan(out_begin_[node.value],
                                   out_begin_[node.value + 1] - out_begin_[node.value]);
  }
  /// The earliest a node can be without predecessors: delays held against it at the start.
  double source_s(NodeId node) const { return source_s_[node.value]; }
  /// When each operation would be issued if no other post had its queue pair.
  std::vector<double> unlocked_s() const;
  /// Every node after all that constrain it.
  std::span<const NodeId> order() const { return order_; }
  /// The least solution: when each moment comes.
  std::span<const double> time_s() const { return time_s_; }

 private:
  explicit ConstraintGraph(std::uint32_t ops) : ops_(ops), source_s_(node_count(), 0) {}
  void add(NodeId tail, NodeId head, double weight_s, Weight weight) {
    constraints_.push_back({tail, head, weight_s});
    weights_.push_back(weight);
  }
  void add_operations(const machine::Setting& setting, const machine::Delays& delays,
                      const machine::Paths& paths, const machine::Completions& completions,
                      std::span<const double> wire_s);
  void add_lanes(const machine::Setting& setting, const machine::Delays& delays,
                 const machine::Completions& completions, const sched::Trace& trace,
                 const KeptOrder& kept);
  void add_ports(const machine::Setting& setting, const machine::Paths& paths,
                 const sched::Trace& trace, std::span<const double> wire_s, bool keep_gaps);
  void add_locks(const machine::Setting& setting, const machine::Paths& paths,
                 const sched::Trace& trace);
  void add_bound_of_sends(const machine::Setting& setting, const machine::Delays& delays,
                          const sched::Trace& trace);
  std::vector<std::uint32_t> depth_in_instant(const sched::Schedule& schedule,
                                              const sched::Trace& trace) const;
  void solve();

  std::uint32_t ops_;
  std::vector<Constraint> constraints_;
  std::vector<Weight> weights_;
  std::size_t schedule_constraints_ = 0;
  std::vector<Constraint> went_before_;
  std::vector<std::uint32_t> out_begin_;
  std::vector<std::uint32_t> out_;
  std::vector<double> source_s_;
  std::vector<NodeId> order_;
  std::vector<double> time_s_;
};

/// Throws InputError if the trace is of another schedule or not complete.
void require_trace_of(const sched::Schedule& schedule, const sched::Trace& trace);

/// The same of a run that is known by its trace. Throws InputError if the trace is of another
/// schedule or not complete.

ConstraintGraph frozen_run(const machine::Setting& setting, const sched::Trace& trace,
                           WireTimes wire = WireTimes::kModel);

}  // namespace slackline::analysis
