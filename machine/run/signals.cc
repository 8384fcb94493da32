#include "machine/run/signals.h"

#include "machine/run/lanes.h"

namespace slackline::machine {
namespace {

using sched::Op;
using sched::OpKind;

constexpr std::uint32_t kNone = 0xffffffffu;

bool may_signal(OpKind kind) { return kind == OpKind::kRecv || sched::is_initiator(kind); }

bool posts_nothing(const sched::Schedule& schedule, const Op& op) {
  const bool one_sided = op.kind == OpKind::kPut || op.kind == OpKind::kGet;
  return one_sided && op.notify != sched::Notify::kImm && schedule.payload_bytes(op) == 0;
}

}  // namespace

std::vector<bool> signalled_operations(const sched::Schedule& schedule,
                                       const sched::RegionTree& tree, const IssueOrder& order,
                                       std::uint64_t small_bytes) {
  const sched::OpRange range = tree.range();
  std::vector<bool> signalled(range.count, false);
  std::vector<std::uint32_t> last(schedule.channels().size(), kNone);
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const Op& op = schedule.op(range.id(i));
    for (const sched::Edge& edge : schedule.edges_into(range.id(i))) {
      const bool tells = edge.on == sched::On::kDone && may_signal(schedule.op(edge.pred).kind);
      if (tells) signalled[range.place(edge.pred)] = true;
    }
    if (op.kind == OpKind::kRecv) signalled[i] = true;
    if (!sched::is_initiator(op.kind)) continue;
    const bool in_region = tree.around(i) != sched::RegionTree::kNone;
    const bool gathered = schedule.channel(op.channel).bundle != sched::Bundle::kNone;
    if (in_region || gathered || sched::is_atomic(op.kind) ||
        counts_in_flight(schedule, op, order, small_bytes)) {
      signalled[i] = true;
    }
    std::uint32_t& previous = last[op.channel.value];
    const bool row_ends = in_region || posts_nothing(schedule, op);
    if (previous != kNone && row_ends) signalled[previous] = true;
    previous = i;
  }
  for (const std::uint32_t i : last) {
    if (i != kNone) signalled[i] = true;
  }
  return signalled;
}

}  // namespace slackline::machine
