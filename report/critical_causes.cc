#include "report/critical_causes.h"

#include <algorithm>
#include <span>

#include "analysis/slack/critical_path.h"
#include "base/enum_names.h"
#include "base/units.h"
#include "machine/completions.h"
#include "machine/lane.h"

namespace slackline::report {
namespace {

using analysis::Weight;

constexpr base::EnumNames<Cause, kCauses> kNames = {{"CPU lane", "sender's port", "receiver's port",
                                                     "on the wire", "latency", "completion",
                                                     "service of atomics", "delays"}};

// Takes up to `wanted_s` of what is left of a stretch.
void take(double wanted_s, double& left_s, double& part_s) {
  const double taken_s = std::min(wanted_s, left_s);
  part_s += taken_s;
  left_s -= taken_s;
}

class Split {
 public:
  Split(const machine::Setting& setting, const machine::Delays& delays, const machine::Paths& paths)
      : schedule_(setting.schedule),
        delays_(delays),
        paths_(paths),
        completions_(setting.schedule, setting.platform, setting.order),
        o_complete_s_(sched::seconds(setting.platform.o_complete)) {}

  void at_start(CriticalStretch& stretch) const { into(stretch, stretch.end_s); }

  void operator()(CriticalStretch& stretch, const analysis::Constraint& constraint,
                  Weight weight) const {
    const sched::OpId tail = constraint.tail.op();
    const double complete_s = o_complete_s_ + completions_.see_s(stretch.op);
    double left_s = constraint.weight_s;
    const auto part = [&](Cause cause) -> double& { return at(stretch, cause); };
    const auto known = [&](double latency_s, double seen_s, Cause rest) {
      take(latency_s, left_s, part(Cause::kLatency));
      take(seen_s, left_s, part(Cause::kCompletion));
      part(rest) += left_s;
    };
    switch (weight) {
      case Weight::kFixed:
        return known(0, 0,
                     sched::is_atomic(schedule_.op(tail).kind) ? Cause::kService : Cause::kDelay);
      case Weight::kInto:
        return into(stretch, left_s);
      case Weight::kLaneTime:
        return on_lane(stretch, lane_delay_s(tail, false), left_s);
      case Weight::kTurn:
        return on_lane(stretch, lane_delay_s(tail, false) + lane_delay_s(stretch.op, true), left_s);
      case Weight::kInFlight:
        return on_lane(stretch, lane_delay_s(stretch.op, true), left_s);
      case Weight::kCompletion:
        return known(0, complete_s, Cause::kCompletion);
      case Weight::kRequest:
        return known(there_s(tail), 0, Cause::kService);
      case Weight::kReply:
        return known(back_s(tail), complete_s, Cause::kWire);
      case Weight::kSent:
        return known(0, complete_s, Cause::kWire);
      case Weight::kArrived:
        return known(there_s(tail), complete_s, Cause::kWire);
      case Weight::kAcknowledged:
        return known(there_s(tail) + back_s(tail), complete_s, Cause::kWire);
      case Weight::kAnswered:
        return known(back_s(constraint.head.op()), complete_s, Cause::kWire);
      case Weight::kOutPort:
        return known(0, 0, Cause::kOutPort);
      case Weight::kInPort:
        return known(0, 0, Cause::kInPort);
      case Weight::kLock:  // of its queue pair: the lane is kept
        return known(0, 0, Cause::kLane);
    }
  }

 private:
  static double& at(CriticalStretch& stretch, Cause cause) {
    return stretch.by_cause_s[static_cast<std::size_t>(cause)];
  }
  void into(CriticalStretch& stretch, double left_s) const {
    take(delays_.post_delay_s(stretch.op), left_s, at(stretch, Cause::kDelay));
    take(delays_.lane_delay_s(stretch.op), left_s, at(stretch, Cause::kDelay));
    at(stretch, Cause::kLane) += left_s;
  }
  // What the plan adds to the operation's turn on its lane, if it is posted, or if it is not.
  double lane_delay_s(sched::OpId op, bool posted) const {
    return machine::is_posted(schedule_.op(op).kind) == posted ? delays_.lane_delay_s(op) : 0;
  }
  static void on_lane(CriticalStretch& stretch, double delay_s, double left_s) {
    take(delay_s, left_s, at(stretch, Cause::kDelay));
    at(stretch, Cause::kLane) += left_s;
  }
  double there_s(sched::OpId op) const {
    return paths_[paths_.of(schedule_.op(op).channel, false)].latency_s;
  }
  double back_s(sched::OpId op) const {
    return paths_[paths_.of(schedule_.op(op).channel, true)].latency_s;
  }

  const sched::Schedule& schedule_;
  const machine::Delays& delays_;
  const machine::Paths& paths_;
  const machine::Completions completions_;
  const double o_complete_s_;
};

}  // namespace

std::string_view name(Cause cause) { return kNames[cause]; }

std::vector<CriticalStretch> critical_causes(const analysis::ConstraintGraph& graph,
                                             const machine::Setting& setting,
                                             const machine::Delays& delays,
                                             const machine::Paths& paths) {
  if (graph.node_count() == 0) return {};
  const Split split(setting, delays, paths);
  const std::span<const double> time_s = graph.time_s();
  const analysis::CriticalChain chain = analysis::critical_chain(graph);
  std::vector<CriticalStretch> stretches;
  CriticalStretch first{chain.first.op(), sched::OpId::none(), 0, time_s[chain.first.value], {}};
  split.at_start(first);
  stretches.push_back(first);
  for (const std::uint32_t index : chain.constraints) {
    const analysis::Constraint& constraint = graph.constraints()[index];
    CriticalStretch stretch{constraint.head.op(),
                            constraint.tail.op(),
                            time_s[constraint.tail.value],
                            time_s[constraint.head.value],
                            {}};
    if (stretch.op == stretch.after && constraint.weight_s == 0) continue;
    split(stretch, constraint, graph.weights()[index]);
    stretches.push_back(stretch);
  }
  return stretches;
}

}  // namespace slackline::report
