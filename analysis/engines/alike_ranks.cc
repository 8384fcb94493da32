#include "analysis/engines/alike_ranks.h"

#include "analysis/engines/event_engine.h"
#include "analysis/engines/longest_path.h"
#include "machine/setting.h"
#include "sched/pattern/collective_series.h"

// What rank 0 sends the rank d places on goes, in the schedule of one rank, from it to itself. As
// all ranks do the same, what comes to it from the rank d places back has the same times. So one
// rank's ports and lanes see what those of every rank see, and the engines compute every time from
// the same terms in the same order.
//
// That holds as long as nothing is decided by the numbers of two ranks. The longest path decides
// nothing by them: it answers only where no two messages meet at a port. The event engine serves
// messages that come to a serial port at once by the number of their operation, and so of their
// source. It is asked where that cannot be.

namespace slackline::analysis {
namespace {

// Whether messages of two ranks never come to a port that must choose between them.
bool no_port_chooses(const sched::Spec& spec, const sched::Schedule& schedule,
                     const machine::Platform& platform) {
  if (platform.nic != machine::NicDiscipline::kSerial) return true;
  std::optional<sched::ChannelId> with_bytes;
  bool from_one = true;
  bool small = false;
  for (const sched::Op& op : schedule.ops()) {
    if (!sched::is_initiator(op.kind)) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    if (bytes == 0) continue;
    small = small || bytes <= platform.interleave_bytes;
    from_one = from_one && with_bytes.value_or(op.channel) == op.channel;
    with_bytes = op.channel;
  }
  if (!with_bytes) return true;
  // They share a port with credits, which come from elsewhere.
  if (small) return false;
  // One receive is posted ahead, and its credit lets one message go.
  const bool one_by_one = spec.credits.ready == sched::Ready::kSend && spec.credits.window == 1 &&
                          spec.credits.start == sched::Start::kPairwise;
  return from_one || one_by_one;
}

}  // namespace

std::optional<Stream> stream_of_alike(const sched::Spec& spec, const machine::Platform& platform) {
  const std::optional<sched::Schedule> schedule = sched::schedule_of_first(spec);
  if (!schedule) return std::nullopt;
  const machine::Setting setting(*schedule, platform);
  std::optional<sched::Trace> trace = longest_path(setting);
  if (!trace && no_port_chooses(spec, *schedule, platform)) trace = run_events(setting);
  if (!trace || trace->contended) return std::nullopt;
  std::uint64_t sent = 0;
  std::uint64_t bytes = 0;
  double wire_bytes = 0;
  for (const sched::Op& op : schedule->ops()) {
    if (op.kind != sched::OpKind::kSend && op.kind != sched::OpKind::kPut) continue;
    const std::uint64_t payload = schedule->payload_bytes(op);
    bytes += payload;
    wire_bytes += platform.framing.wire_bytes(payload);
    if (payload != 0) ++sent;
  }
  const std::uint32_t ranks = spec.multicast.ranks;
  Stream result;
  result.makespan_s = trace->makespan_s();
  result.rank_finish_s.assign(ranks, machine::rank_finish_s(*schedule, trace->ops).front());
  result.sent_bytes.assign(ranks, bytes);
  result.received_bytes.assign(ranks, bytes);
  result.sent_wire_bytes.assign(ranks, wire_bytes);
  result.received_wire_bytes.assign(ranks, wire_bytes);
  result.transfers = sent * ranks;
  result.message_bytes = schedule->message_bytes();
  result.exact = true;
  return result;
}

std::uint64_t bytes_for_alike(const sched::Spec& spec) {
  const std::uint64_t of_result = 5 * sizeof(double);  // a rank
  return spec.multicast.ranks * of_result +
         sched::most_ops(spec) / spec.multicast.ranks * sched::kMemoryOfOp;
}

}  // namespace slackline::analysis
