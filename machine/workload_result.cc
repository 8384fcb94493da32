#include "machine/workload_result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/statistics.h"

namespace slackline::machine {
namespace {

using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::PartRange;
using sched::RankId;
using sched::Schedule;

// Ends in the message, or a part of it, being where it belongs.
bool brings_data(const Schedule& schedule, const std::vector<bool>& credit, const Op& op) {
  switch (op.kind) {
    case OpKind::kRecv:
      return !credit[op.channel.value];
    case OpKind::kPoll:
      return op.match.valid() && !credit[schedule.op(op.match).channel.value];
    case OpKind::kCopy:
    case OpKind::kReduce:
      return true;
    default:
      return false;
  }
}

double last_done_s(const sched::Trace& trace, OpId first, OpId end) {
  double last = -std::numeric_limits<double>::infinity();
  for (OpId id = first; id < end; ++id.value) last = std::max(last, trace.ops[id.value].done_s);
  return last;
}

}  // namespace

LatencySummary summarise_latencies(std::vector<double> latency_s) {
  std::erase_if(latency_s, [](double value) { return !std::isfinite(value); });
  LatencySummary summary;
  summary.count = latency_s.size();
  if (latency_s.empty()) return summary;
  std::sort(latency_s.begin(), latency_s.end());
  summary.min_s = latency_s.front();
  summary.median_s = base::median(latency_s);
  summary.mean_s = std::accumulate(latency_s.begin(), latency_s.end(), 0.0) /
                   static_cast<double>(latency_s.size());
  summary.p90_s = base::percentile(latency_s, 90);
  summary.p99_s = base::percentile(latency_s, 99);
  summary.max_s = latency_s.back();
  return summary;
}

WorkloadResult workload_result(const Workload& workload, const Schedule& schedule,
                               const sched::PartMap& parts, const sched::Trace& trace) {
  const std::vector<bool> credit = schedule.control_channels();
  constexpr double kNever = std::numeric_limits<double>::infinity();
  WorkloadResult result;
  std::vector<double> root_done_s(workload.groups.size(), 0);  // of the group's last message
  std::vector<std::vector<double>> latencies(workload.groups.size());
  result.groups.resize(workload.groups.size());
  double first_s = kNever;
  double last_s = 0;
  for (std::size_t m = 0; m < workload.messages.size(); ++m) {
    const WorkloadMessage& message = workload.messages[m];
    const WorkloadGroup& group = workload.groups[message.group];
    MessageResult out;
    out.arrival_s = sched::seconds(message.arrival);
    if (group.closed) out.arrival_s = std::max(out.arrival_s, root_done_s[message.group]);
    double brought_s = -kNever;
    double any_s = out.arrival_s;
    for (std::uint32_t r = 0; r < group.ranks.size(); ++r) {
      const PartRange& at = parts.ops(m, RankId(r));
      const double here_s = last_done_s(trace, at.first, at.end);
      any_s = std::max(any_s, here_s);
      if (RankId(r) == group.root) {
        root_done_s[message.group] = std::max(root_done_s[message.group], here_s);
        continue;
      }
      for (OpId id = at.own; id < at.end; ++id.value) {
        if (!brings_data(schedule, credit, schedule.op(id))) continue;
        brought_s = std::max(brought_s, trace.ops[id.value].done_s);
      }
    }
    out.done_s = brought_s == -kNever ? any_s : brought_s;
    result.messages.push_back(out);
    result.groups[message.group].bytes += message.bytes;
    // A root that never finished leaves its group's next messages without an arrival.
    if (!std::isfinite(out.done_s) || !std::isfinite(out.arrival_s)) {
      ++result.lost;
      continue;
    }
    latencies[message.group].push_back(out.latency_s());
    first_s = std::min(first_s, out.arrival_s);
    last_s = std::max(last_s, out.done_s);
    result.message_bytes += message.bytes;
    result.delivered_bytes += message.bytes * (group.ranks.size() - 1);
  }
  std::vector<double> all;
  for (std::size_t g = 0; g < latencies.size(); ++g) {
    all.insert(all.end(), latencies[g].begin(), latencies[g].end());
    result.groups[g].latency = summarise_latencies(std::move(latencies[g]));
  }
  result.latency = summarise_latencies(std::move(all));
  if (first_s < last_s) result.span_s = last_s - first_s;
  if (result.span_s > 0) {
    result.message_bytes_per_s = static_cast<double>(result.message_bytes) / result.span_s;
    result.delivered_bytes_per_s = static_cast<double>(result.delivered_bytes) / result.span_s;
  }
  return result;
}

}  // namespace slackline::machine
