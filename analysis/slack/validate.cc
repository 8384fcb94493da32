#include "analysis/slack/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/engines/link_load.h"
#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/lane_hold.h"
#include "analysis/slack/run_order.h"
#include "base/error.h"
#include "base/statistics.h"
#include "machine/delays.h"
#include "machine/draw.h"
#include "machine/event_queue.h"
#include "machine/lane.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

// Of an operation's place among those that are equal; apart from what delays draw.
constexpr std::uint32_t kChoiceRank = ~std::uint32_t{0} - 1;

// Fair NICs: whether two large messages were on one port at a time. A node's ranks share its NIC,
// and what stays within the node passes none. Until two are, each takes what it takes alone: so the
// first two are found, and who had left when with others on its port is not asked.
bool ports_shared(const machine::Setting& setting, const machine::Paths& paths,
                  const sched::Trace& trace) {
  const sched::Schedule& schedule = setting.schedule;
  struct Passage {
    std::uint32_t port;
    double begin_s;
    double end_s;
  };
  std::vector<Passage> passages;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind)) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    if (bytes <= setting.platform.interleave_bytes) continue;
    const machine::PathId way = paths.of(op.channel, sched::has_reply(op.kind));
    const machine::Path& path = paths[way];
    if (path.local) continue;
    const double end_s = paths.sent_s(trace.ops[i].wire_s, way, bytes);
    passages.push_back({2 * path.src_nic.value, trace.ops[i].wire_s, end_s});
    passages.push_back({2 * path.dst_nic.value + 1, trace.ops[i].wire_s, end_s});
  }
  std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
    return std::tuple(a.port, a.begin_s, a.end_s) < std::tuple(b.port, b.begin_s, b.end_s);
  });
  const double near_s = 1e-11 * trace.makespan_s();
  for (std::size_t i = 1; i < passages.size(); ++i) {
    const Passage& before = passages[i - 1];
    if (before.port == passages[i].port && passages[i].begin_s < before.end_s - near_s) return true;
  }
  return false;
}

// Whether every message that passes a way whose rate a plan changes was on it for as long as in the
// run without the trial, and nothing was lost. Where nothing changes, it is so without a look.
class Rates {
 public:
  Rates(const machine::Setting& setting, const machine::Paths& paths, const sched::Trace& trace)
      : paths_(paths), may_fail_(paths.may_fail()) {
    const sched::Schedule& schedule = setting.schedule;
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const sched::Op& op = schedule.ops()[i];
      if (!sched::is_initiator(op.kind)) continue;
      const machine::PathId way = paths.of(op.channel, sched::has_reply(op.kind));
      if (paths[way].change_count == 0) continue;
      const std::uint64_t bytes = schedule.payload_bytes(op);
      passages_.push_back({i, way, bytes, alone_s(trace, i, way, bytes)});
    }
  }

  bool are_kept_by(const sched::Trace& trace) const {
    if (may_fail_ && !std::isfinite(trace.makespan_s())) return false;
    return std::ranges::all_of(passages_, [&](const Passage& p) {
      const double took_s = alone_s(trace, p.op, p.way, p.bytes);
      return std::abs(took_s - p.took_s) <= machine::kInstant_s;
    });
  }

 private:
  struct Passage {
    std::uint32_t op;
    machine::PathId way;
    std::uint64_t bytes;
    double took_s;
  };

  double alone_s(const sched::Trace& trace, std::uint32_t op, machine::PathId way,
                 std::uint64_t bytes) const {
    const double begin_s = trace.ops[op].wire_s;
    return paths_.sent_s(begin_s, way, bytes) - begin_s;
  }

  const machine::Paths& paths_;
  bool may_fail_;
  std::vector<Passage> passages_;
};

// How long the operation waited for its lane.
double wait_s(const machine::Setting& setting, const machine::Delays& delays,
              const sched::Trace& trace, OpId id) {
  const sched::Op& op = setting.schedule.op(id);
  if (!machine::holds_lane(op.kind)) return 0;
  const double hold_s = machine::is_posted(op.kind) ? lane_hold_s(setting, delays, id) : 0;
  const sched::OpTimes& times = trace.ops[id.value];
  return std::max(0.0, times.issued_s - hold_s - delays.post_delay_s(id) - times.ready_s);
}

void require_base(const sched::Schedule& schedule, const sched::Trace& trace) {
  if (trace.schedule != schedule.digest() || trace.ops.size() != schedule.op_count()) {
    throw InputError(fmt::format("the trace is of schedule {}, not of {}",
                                 to_string(trace.schedule), to_string(schedule.digest())));
  }
  if (!std::isfinite(trace.makespan_s())) {
    throw InputError("the run without the delays never ends; expected one that does");
  }
}

}  // namespace

std::vector<OpId> choose_ops(std::span<const double> float_s, OpChoice choice, std::uint32_t count,
                             std::uint64_t seed) {
  const auto ops = static_cast<std::uint32_t>(float_s.size());
  count = std::min(count, ops);
  std::vector<OpId> order;
  for (std::uint32_t i = 0; i < ops; ++i) order.emplace_back(i);
  // Every order below begins with this one, so that none prefers low ids.
  for (std::uint32_t i = 0; i < ops; ++i) {
    const auto j = machine::draw_below({seed, kChoiceRank, i, 0}, ops - i);
    std::swap(order[i], order[i + j]);
  }
  std::vector<bool> chosen(ops);
  std::uint32_t left = count;
  const auto take = [&](std::uint32_t most) {
    for (std::size_t i = 0; i < order.size() && most > 0 && left > 0; ++i) {
      if (chosen[order[i].value]) continue;
      chosen[order[i].value] = true;
      --most;
      --left;
    }
  };
  std::vector<OpId> shuffled = order;
  const auto least_first = [&](OpId a, OpId b) { return float_s[a.value] < float_s[b.value]; };
  const auto most_first = [&](OpId a, OpId b) { return float_s[a.value] > float_s[b.value]; };
  const bool mixed = choice == OpChoice::kMixed;
  if (choice == OpChoice::kLeast || mixed) {
    std::stable_sort(order.begin(), order.end(), least_first);
    take(mixed ? (count + 2) / 3 : count);
  }
  if (choice == OpChoice::kMost || mixed) {
    order = shuffled;
    std::stable_sort(order.begin(), order.end(), most_first);
    take(mixed ? (count + 1) / 3 : count);
  }
  order = std::move(shuffled);
  take(left);
  std::vector<OpId> result;
  for (std::uint32_t i = 0; i < ops; ++i) {
    if (chosen[i]) result.emplace_back(i);
  }
  return result;
}

bool delays_lane(const machine::Setting& setting, OpId id) {
  const sched::Op& op = setting.schedule.op(id);
  return machine::holds_lane(op.kind) &&
         machine::lane_time_s(setting.schedule, setting.platform, op) > 0;
}

machine::OpDelay trial_of(const machine::Setting& setting, OpId op, sched::Time by) {
  return {op, by, delays_lane(setting, op), sched::RankId::none()};
}

std::vector<machine::OpDelay> trials_of_all(const machine::Setting& setting, sched::Time by) {
  std::vector<machine::OpDelay> trials;
  for (std::uint32_t i = 0; i < setting.schedule.op_count(); ++i) {
    trials.push_back(trial_of(setting, OpId(i), by));
  }
  return trials;
}

Validation run_trials(const machine::Setting& setting, const sched::Trace& trace,
                      std::span<const machine::OpDelay> trials, const machine::Engine& engine,
                      const machine::PlanRuns& runs) {
  const sched::Schedule& schedule = setting.schedule;
  require_base(schedule, trace);
  Validation validation;
  validation.makespan_s = trace.makespan_s();
  if (trials.empty()) return validation;
  const RunOrder order(setting, trace);
  const machine::Paths paths(setting);
  const bool fair = setting.platform.nic == machine::NicDiscipline::kFair;

  const Rates rates(setting, paths, trace);

  const machine::TraceReading reading{
      4, [&](const sched::Trace& run, std::span<double> kept) {
        kept[0] = run.makespan_s();
        kept[1] = order.is_kept_by(schedule, run) ? 1 : 0;
        const bool at_ports = run.contended || (fair && ports_shared(setting, paths, run));
        const bool shared = shares(setting, paths, run, at_ports);
        kept[2] = shared ? 1 : 0;
        kept[3] = rates.are_kept_by(run) ? 1 : 0;
      }};
  const machine::Delays delays(setting);
  // Where posts wait for a lock, that is after the lane's delay, and takes it up.
  const bool locked = setting.platform.node.qp_lock.count() > 0;
  const std::vector<double> unlocked_s =
      locked ? frozen_run(setting, trace).unlocked_s() : std::vector<double>{};
  const std::vector<double> kept = engine.delayed_runs(setting, trials, runs, reading);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const OpId op = trials[i].op;
    const double absorbed_s = !trials[i].whole_lane ? wait_s(setting, delays, trace, op)
                              : locked ? trace.ops[op.value].issued_s - unlocked_s[op.value]
                                       : 0;
    const double* of = &kept[4 * i];
    validation.trials.push_back(
        {trials[i], absorbed_s, of[0] - validation.makespan_s, of[1] != 0, of[2] != 0, of[3] != 0});
  }
  return validation;
}

double exact_within_s(double makespan_s) { return 1e-9 * makespan_s + 10 * machine::kInstant_s; }

std::vector<double> trial_floats_s(const machine::Setting& setting, const TimedSlack& slack) {
  std::vector<double> floats_s = slack.total_float_s;
  for (std::uint32_t i = 0; i < floats_s.size(); ++i) {
    if (delays_lane(setting, OpId(i))) floats_s[i] = slack.hold_float_s[i];
  }
  return floats_s;
}

double predicted_shift_s(const TrialResult& result, double float_s) {
  return std::max(0.0, sched::seconds(result.trial.by) - result.absorbed_s - float_s);
}

double shift_error_s(double measured_s, double predicted_s) {
  return measured_s == predicted_s ? 0.0 : measured_s - predicted_s;
}

std::vector<double> errors_of(const Validation& validation, std::span<const double> float_s) {
  std::vector<double> errors_s;
  for (const TrialResult& result : validation.trials) {
    const double predicted_s = predicted_shift_s(result, float_s[result.trial.op.value]);
    errors_s.push_back(shift_error_s(result.shift_s, predicted_s));
  }
  return errors_s;
}

ErrorSpread spread_of(const Validation& validation, std::span<const double> errors_s,
                      const std::function<bool(const TrialResult&)>& counts) {
  ErrorSpread spread;
  std::vector<double> absolute_s;
  std::vector<double> relative;
  const double near_s = exact_within_s(validation.makespan_s);
  for (std::size_t i = 0; i < validation.trials.size(); ++i) {
    const TrialResult& result = validation.trials[i];
    if (counts && !counts(result)) continue;
    const double by_s = sched::seconds(result.trial.by);
    absolute_s.push_back(std::abs(errors_s[i]));
    relative.push_back(by_s > 0 ? absolute_s.back() / by_s : 0);
    if (errors_s[i] > near_s) ++spread.above;
    if (errors_s[i] < -near_s) ++spread.below;
  }
  spread.trials = absolute_s.size();
  if (absolute_s.empty()) return spread;
  std::sort(absolute_s.begin(), absolute_s.end());
  std::sort(relative.begin(), relative.end());
  using base::percentile;
  spread.median_s = percentile(absolute_s, 50);
  spread.p90_s = percentile(absolute_s, 90);
  spread.p99_s = percentile(absolute_s, 99);
  spread.max_s = absolute_s.back();
  spread.median_rel = percentile(relative, 50);
  spread.p90_rel = percentile(relative, 90);
  spread.p99_rel = percentile(relative, 99);
  spread.max_rel = relative.back();
  return spread;
}

}  // namespace slackline::analysis
