#include "sched/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/error.h"
#include "sched/event_graph.h"
#include "sched/verify/checks.h"

namespace slackline::sched {
namespace {

void require_fixed_addresses(const Schedule& schedule) {
  if (schedule.argument_table().empty()) return;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    const Operand& offset = schedule.arguments(op).address_offset;
    if (!offset.is_dynamic()) continue;
    throw Unsupported(fmt::format(
        "the verifier takes fixed addresses only: {} takes its address from the {} of {}",
        describe(schedule, OpId(i)), offset.from == Operand::From::kResult ? "result" : "attempt",
        describe(schedule, offset.op)));
  }
}

void report_cycle(const Schedule& schedule, Findings& findings) {
  constexpr std::size_t kShown = 16;
  std::vector<OpId> cycle = find_cycle(schedule);
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i) {
    text += describe(schedule, cycle[i]);
    text += i == 0 ? " waits for " : ", which waits for ";
  }
  if (cycle.size() > kShown) {
    text += fmt::format("{} more, the last of which waits for ", cycle.size() - kShown);
  }
  findings.error(Code::kDeadlock, cycle.front(), text + describe(schedule, cycle.front()));
}

// Each operation's access to each piece of memory is kept until the piece is written again: 8
// bytes, and three times that while the table of them grows. Where pieces are joined, a read stands
// in at most two nodes of each level of a tree, 8 bytes each.
void require_memory(const SegmentTable& segments, std::uint64_t slices, std::uint64_t accesses,
                    bool joined, const MemoryLimit& memory) {
  constexpr std::uint64_t kBytesOfAccess = 24;
  constexpr std::uint64_t kBytesOfSegment = 64;
  if (!joined) {
    memory.require(kBytesOfAccess * accesses,
                   fmt::format("the proof: {} pairs of an operation and a piece of memory, since "
                               "slices overlap,",
                               accesses),
                   kLessProof);
    return;
  }
  const std::uint64_t levels = std::bit_width(segments.size()) + 1;
  memory.require(kBytesOfSegment * segments.size() + kBytesOfAccess * (2 * levels + 1) * slices,
                 fmt::format("the proof: {} slices that overlap in {} pieces of memory", slices,
                             segments.size()),
                 kLessProof);
}

void check(const Schedule& schedule, const VerifyOptions& options, Findings& findings) {
  check_matching(schedule, findings);
  const auto order = issue_order(schedule);
  if (!order) report_cycle(schedule, findings);
  if (findings.any_errors()) return;
  const SegmentTable segments(schedule);
  const std::vector<bool> lowers = check_shared_flags(schedule, segments, findings);
  if (findings.any_errors()) return;
  const std::uint64_t slices = schedule.slices().size();
  const std::uint64_t accesses = segments.accesses();
  // The log of reads has a tree over the segments, whose nodes are numbered by 32 bits.
  const bool joined = accesses / std::max<std::uint64_t>(slices, 1) >= options.join_from &&
                      segments.size() < 1u << 30;
  require_memory(segments, slices, accesses, joined, options.memory);
  const ChannelOrder channels = channel_order(schedule);
  OrderProver prover(schedule, channels, *order, options.search_steps);
  check_windows(schedule, prover, findings);
  check_memory(schedule, segments, joined, lowers, *order, options.memory, prover, findings);
}

}  // namespace

Diagnostics verify(const Schedule& schedule, const VerifyOptions& options) {
  require_static(schedule, "the verifier");
  require_fixed_addresses(schedule);
  Findings findings(options.max_diagnostics);
  check(schedule, options, findings);
  return findings.take();
}

}  // namespace slackline::sched
