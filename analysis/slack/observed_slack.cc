#include "analysis/slack/observed_slack.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "analysis/slack/constraint_graph.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/statistics.h"
#include "sched/event_graph.h"

namespace slackline::analysis {
namespace {

using sched::On;
using sched::Op;
using sched::OpId;

// succ happens no earlier than lag_s after pred.
struct Lag {
  std::uint32_t pred;
  std::uint32_t succ;
  double lag_s;
};

// A message that another operation sees the arrival of.
struct Message {
  OpId op;
  double free_s;   // both of its issues are there
  double taken_s;  // from then until it is there
  double port_s;   // when the messages before it, at its target and of its source, were there
  OpId at_target, of_source;  // their receives
};

class Observed {
 public:
  Observed(const sched::Schedule& schedule, const sched::Trace& trace,
           std::uint64_t interleave_bytes)
      : schedule_(schedule), trace_(trace), interleave_bytes_(interleave_bytes) {
    const sched::ChannelOrder order = channel_order(schedule);
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) add_issue(OpId(i), order);
    add_messages();
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) add_done(OpId(i));
  }

  ObservedSlack slack() const {
    const std::size_t events = 2 * std::size_t{schedule_.op_count()};
    const base::Grouped<std::uint32_t> out(events, [&](auto&& take) {
      for (std::uint32_t i = 0; i < lags_.size(); ++i) take(lags_[i].pred, i);
    });
    std::vector<std::uint32_t> waiting(events, 0);
    for (const Lag& lag : lags_) ++waiting[lag.succ];
    std::vector<std::uint32_t> sorted;
    for (std::uint32_t e = 0; e < events; ++e) {
      if (waiting[e] == 0) sorted.push_back(e);
    }
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      for (const std::uint32_t k : out[sorted[i]]) {
        if (--waiting[lags_[k].succ] == 0) sorted.push_back(lags_[k].succ);
      }
    }
    if (sorted.size() != events) {
      throw InputError("the trace's times contradict its schedule");
    }
    ObservedSlack found;
    found.makespan_s = trace_.makespan_s();
    std::vector<double> float_s(events);
    for (auto it = sorted.rbegin(); it != sorted.rend(); ++it) {
      double& least_s = float_s[*it];
      least_s = found.makespan_s - at_s(*it);
      for (const std::uint32_t k : out[*it]) {
        const Lag& lag = lags_[k];
        const double slack_s = at_s(lag.succ) - (at_s(*it) + lag.lag_s);
        least_s = std::min(least_s, std::max(0.0, slack_s) + float_s[lag.succ]);
      }
    }
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      found.total_float_s.push_back(float_s[issued(OpId(i))]);
    }
    return found;
  }

 private:
  static std::uint32_t issued(OpId op) { return 2 * op.value; }
  static std::uint32_t done(OpId op) { return 2 * op.value + 1; }
  double at_s(std::uint32_t event) const {
    const sched::OpTimes& times = trace_.ops[event / 2];
    return event % 2 == 0 ? times.issued_s : times.done_s;
  }

  // Clocks of ranks may be off, and a completion is seen when it is looked for: an event can be
  // seen before what it waited for. Then that is not held against it.
  void add_after(std::span<const std::uint32_t> preds, std::uint32_t succ) {
    if (preds.empty()) return;
    double last_s = -std::numeric_limits<double>::infinity();
    for (const std::uint32_t pred : preds) last_s = std::max(last_s, at_s(pred));
    for (const std::uint32_t pred : preds) lags_.push_back({pred, succ, at_s(succ) - last_s});
  }

  void add_issue(OpId id, const sched::ChannelOrder& order) {
    std::vector<std::uint32_t> preds;
    for (const sched::Edge& edge : schedule_.edges_into(id)) {
      preds.push_back(edge.on == On::kDone ? done(edge.pred) : issued(edge.pred));
    }
    if (order.previous[id.value].valid()) preds.push_back(issued(order.previous[id.value]));
    add_after(preds, issued(id));
  }

  void add_messages() {
    std::vector<Message> messages;
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      const Op& op = schedule_.ops()[i];
      if (!is_initiator(op.kind) || !op.match.valid()) continue;
      Message message{OpId(i), trace_.ops[i].issued_s, 0, 0, {}, {}};
      message.free_s = std::max(message.free_s, trace_.ops[op.match.value].issued_s);
      message.taken_s = trace_.ops[op.match.value].done_s - message.free_s;
      messages.push_back(message);
    }
    std::sort(messages.begin(), messages.end(), [&](const Message& a, const Message& b) {
      return std::tuple(arrived_s(a), a.op) < std::tuple(arrived_s(b), b.op);
    });
    find_ports(messages);
    // By size: what messages take that find the ways free (the median; without any, the least),
    // and how close they follow one another.
    std::map<std::uint64_t, std::vector<double>> free;
    std::map<std::uint64_t, double> alone;
    std::map<std::uint64_t, double> spacing;
    const auto keep_least = [](std::map<std::uint64_t, double>& of, std::uint64_t bytes, double s) {
      const auto found = of.emplace(bytes, s).first;
      found->second = std::min(found->second, s);
    };
    for (const Message& message : messages) {
      const std::uint64_t bytes = schedule_.payload_bytes(schedule_.op(message.op));
      if (message.port_s <= message.free_s) free[bytes].push_back(message.taken_s);
      keep_least(alone, bytes, message.taken_s);
      keep_least(spacing, bytes, arrived_s(message) - message.port_s);
    }
    for (auto& [bytes, taken] : free) {
      alone[bytes] = base::value_at(taken, (taken.size() - 1) / 2);
    }
    for (const Message& message : messages) {
      const Op& op = schedule_.op(message.op);
      const std::uint64_t bytes = schedule_.payload_bytes(op);
      const std::uint32_t arrived = done(op.match);
      double own_s = message.taken_s;
      double behind_s = std::min(spacing[bytes], alone[bytes]);
      if (message.port_s > message.free_s && message.taken_s > alone[bytes]) {
        own_s = alone[bytes];
        behind_s = arrived_s(message) - message.port_s;
      }
      for (const OpId before : {message.at_target, message.of_source}) {
        if (before.valid()) lags_.push_back({done(before), arrived, behind_s});
      }
      lags_.push_back({issued(message.op), arrived, own_s});
      lags_.push_back({issued(op.match), arrived, own_s});
    }
  }

  double arrived_s(const Message& message) const {
    return trace_.ops[schedule_.op(message.op).match.value].done_s;
  }

  // `messages` in the order in which they were there.
  void find_ports(std::vector<Message>& messages) const {
    std::vector<OpId> at_target(schedule_.rank_count(), OpId::none());
    std::vector<OpId> of_source(schedule_.rank_count(), OpId::none());
    for (Message& message : messages) {
      const Op& op = schedule_.op(message.op);
      message.port_s = -std::numeric_limits<double>::infinity();
      if (schedule_.payload_bytes(op) <= interleave_bytes_) continue;
      OpId& in = at_target[schedule_.op(op.match).rank.value];
      OpId& out = of_source[op.rank.value];
      message.at_target = in;
      message.of_source = out;
      for (const OpId before : {in, out}) {
        if (before.valid())
          message.port_s = std::max(message.port_s, trace_.ops[before.value].done_s);
      }
      in = out = op.match;
    }
  }

  void add_done(OpId id) {
    const Op& op = schedule_.op(id);
    const bool sends = is_initiator(op.kind) && op.match.valid();
    if (op.match.valid() && !sends) return;  // add_messages()
    const double done_s = trace_.ops[id.value].done_s;
    std::vector<std::uint32_t> preds = {issued(id)};
    if (sends && schedule_.op(op.match).kind == sched::OpKind::kRecv &&
        sched::is_acknowledged(schedule_.channel(op.channel).service)) {
      // An acknowledgement comes after the arrival; but some transports complete a small message
      // before, or even before its receive is posted.
      const bool large = schedule_.payload_bytes(op) > interleave_bytes_;
      const sched::OpTimes& receive = trace_.ops[op.match.value];
      if (large && receive.done_s <= done_s) {
        preds = {done(op.match)};
      } else if (receive.issued_s <= done_s) {
        preds.push_back(issued(op.match));
      }
    }
    add_after(preds, done(id));
  }

  const sched::Schedule& schedule_;
  const sched::Trace& trace_;
  std::uint64_t interleave_bytes_;
  std::vector<Lag> lags_;
};

}  // namespace

ObservedSlack observed_slack(const sched::Schedule& schedule, const sched::Trace& trace,
                             std::uint64_t interleave_bytes) {
  sched::require_static(schedule, "slack");
  require_trace_of(schedule, trace);
  return Observed(schedule, trace, interleave_bytes).slack();
}

}  // namespace slackline::analysis
