// What a run of a workload says about its messages.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/workload.h"
#include "sched/trace.h"

namespace slackline::machine {

struct MessageResult {
  double arrival_s = 0;
  /// When its last receiver had it: the last done of what brings data there, credits left out. Of a
  /// message without receivers, the last done of any of its operations. Infinity if it was lost.
  double done_s = 0;
  double latency_s() const { return done_s - arrival_s; }
};

/// Over what is not infinite. The median is the middle one, or the mean of the middle two; the
/// p-quantile is the least value that a share p of them do not exceed.
struct LatencySummary {
  std::uint64_t count = 0;
  double min_s = 0, median_s = 0, mean_s = 0, p90_s = 0, p99_s = 0, max_s = 0;
};
LatencySummary summarise_latencies(std::vector<double> latency_s);

struct GroupResult {
  std::uint64_t bytes = 0;  // of its messages, each once
  LatencySummary latency;
};

struct WorkloadResult {
  std::vector<MessageResult> messages;
  std::vector<GroupResult> groups;
  LatencySummary latency;
  std::uint64_t lost = 0;  // messages that some receiver never got
  /// From the first arrival to the last message's done, over messages that are not lost.
  double span_s = 0;
  std::uint64_t message_bytes = 0;    // each message once
  std::uint64_t delivered_bytes = 0;  // each message once for each of its receivers
  /// Over the span; 0 if that is 0.
  double message_bytes_per_s = 0;
  double delivered_bytes_per_s = 0;
};

/// `schedule` and `parts` are compose_workload(workload); `trace` is of that schedule.
WorkloadResult workload_result(const Workload& workload, const sched::Schedule& schedule,
                               const sched::PartMap& parts, const sched::Trace& trace);

}  // namespace slackline::machine
