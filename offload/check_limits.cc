#include <fmt/format.h>

#include "offload/queue_findings.h"

namespace slackline::offload {

void check_limits(const ProgramIndex& index, const NicLimits& limits, QueueFindings& findings) {
  const QueueProgram& program = index.program;
  bool crosses = false;
  for (std::uint32_t i = 0; i < program.queues().size(); ++i) {
    const QueueId id(i);
    const Queue& q = program.queues()[i];
    if (q.count > limits.queue_depth) {
      findings.add(QueueCode::kDepth, id,
                   fmt::format("{} has {} entries; the NIC's queues hold {}", describe(program, id),
                               q.count, limits.queue_depth));
    }
    if (q.count > kMaxQueueAhead) {
      findings.add(QueueCode::kCounter, id,
                   fmt::format("{} has {} entries; 16-bit indices tell apart {} ahead",
                               describe(program, id), q.count, kMaxQueueAhead));
    }
    const auto entries = program.entries(q);
    for (std::uint32_t e = 0; e < entries.size(); ++e) {
      const Entry& entry = entries[e];
      crosses = crosses || entry.kind == EntryKind::kWait || is_enable(entry.kind);
      if (program.bytes(entry.local) > limits.message_bytes) {
        findings.add(QueueCode::kDepth, id,
                     fmt::format("{} moves more than {} bytes", describe(program, id, e),
                                 limits.message_bytes));
      }
      if (entry.kind != EntryKind::kWait) continue;
      const std::uint64_t start = program.cqs()[entry.target].start;
      const std::uint64_t end = start + index.completions.count(CqId(entry.target));
      if (entry.count == start || entry.count > end) {
        findings.add(QueueCode::kCount, id,
                     fmt::format("{} waits for {} completions of completion queue {}, which goes "
                                 "from {} to {}",
                                 describe(program, id, e), entry.count, entry.target, start, end));
      }
      if (entry.count - start > kMaxCqAhead) {
        findings.add(QueueCode::kCounter, id,
                     fmt::format("{} waits for {} completions ahead; 24-bit counts tell apart {}",
                                 describe(program, id, e), entry.count - start, kMaxCqAhead));
      }
    }
  }
  for (std::uint32_t c = 0; c < program.cqs().size(); ++c) {
    const std::uint64_t count = index.completions.count(CqId(c));
    if (!limits.ignore_overrun && count > limits.cq_depth) {
      findings.add(QueueCode::kDepth, QueueId::none(),
                   fmt::format("completion queue {} gets {} completions, which nobody reads; it "
                               "holds {} and the NIC cannot let it run over",
                               c, count, limits.cq_depth));
    }
    if (count > kMaxCqAhead) {
      findings.add(QueueCode::kCounter, QueueId::none(),
                   fmt::format("completion queue {} gets {} completions; 24-bit counts tell apart "
                               "{} ahead",
                               c, count, kMaxCqAhead));
    }
  }
  if (crosses && !limits.cross_channel) {
    findings.add(QueueCode::kCapability, QueueId::none(),
                 "the program waits and enables; the NIC has no cross-channel queues");
  }
}

}  // namespace slackline::offload
