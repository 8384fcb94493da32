#include "experiments/multicast.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/engines/analytic.h"
#include "sched/compile.h"

namespace slackline::experiments {

std::string spec_of(const Multicast& multicast) {
  return fmt::format("{}:ranks={},bytes={},block={}{}{}", multicast.pattern, multicast.ranks,
                     multicast.bytes, multicast.block_bytes, multicast.more.empty() ? "" : ",",
                     multicast.more);
}

sched::Schedule schedule_of(const Multicast& multicast) {
  return sched::compile(sched::parse_spec(spec_of(multicast)));
}

bool brings_data(const sched::Schedule& schedule, const sched::Op& op) {
  if (op.kind == sched::OpKind::kCopy) return true;
  return op.kind == sched::OpKind::kRecv && op.match.valid() &&
         schedule.payload_bytes(schedule.op(op.match)) != 0;
}

machine::Platform bare_machine() {
  return machine::parse_platform_spec("star:rate=100Gbps,latency=0");
}

double block_time_s(const machine::Platform& platform, std::uint64_t block_bytes) {
  return platform.transfer_s(block_bytes);
}

std::vector<double> receipts_s(const sched::Schedule& schedule, const sched::Trace& trace) {
  std::vector<double> receipts(schedule.rank_count(), 0);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!brings_data(schedule, op)) continue;
    double& receipt = receipts[op.rank.value];
    receipt = std::max(receipt, trace.ops[i].done_s);
  }
  return receipts;
}

double delivered_s(const sched::Schedule& schedule, const sched::Trace& trace) {
  const std::vector<double> receipts = receipts_s(schedule, trace);
  return *std::max_element(receipts.begin(), receipts.end());
}

double delivery_s(const Multicast& multicast, const machine::Platform& platform,
                  const machine::DelayPlan& delays) {
  const sched::Schedule schedule = schedule_of(multicast);
  return delivered_s(schedule, analysis::run_analytic({schedule, platform, delays}));
}

double block_times(const Multicast& multicast, const machine::DelayPlan& delays) {
  const machine::Platform bare = bare_machine();
  return delivery_s(multicast, bare, delays) / block_time_s(bare, multicast.block_bytes);
}

std::string title_of(std::string_view pattern) {
  std::string title(pattern);
  std::replace(title.begin(), title.end(), '-', ' ');
  return title;
}

}  // namespace slackline::experiments
