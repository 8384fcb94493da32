#include "offload/edge_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace slackline::offload {

using sched::OpId;
using sched::RankId;

EdgeQueues::EdgeQueues(const sched::Schedule& schedule, const MessageGraph& graph,
                       const QueueOptions& options, QueueProgramBuilder& out)
    : schedule_(schedule),
      graph_(graph),
      options_(options),
      out_(out),
      part_(graph.messages().size()),
      place_(graph.messages().size()),
      signaled_(graph.messages().size(), 0) {
  cut_channels();
  mark_signaled();
}

// The most entries that a message may take in any queue of its part.
std::uint32_t EdgeQueues::most_entries(MessageId id) const {
  std::uint32_t entries = 1;
  if (options_.mode == Mode::kSqWait) {
    entries += static_cast<std::uint32_t>(graph_.needs(id).size());
    if (options_.readiness != Readiness::kNone) ++entries;
  }
  if (options_.readiness == Readiness::kWindow) entries = std::max(entries, 3u);
  return entries;
}

void EdgeQueues::cut_channels() {
  std::vector<std::uint32_t> current(schedule_.channels().size(), 0);  // part + 1
  std::vector<std::uint32_t> used(schedule_.channels().size(), 0);
  for (std::uint32_t i = 0; i < graph_.messages().size(); ++i) {
    const Message& m = graph_.messages()[i];
    if (schedule_.payload_bytes(schedule_.op(m.source)) > options_.limits.message_bytes) {
      refuse(m.source, fmt::format("a message has at most {}",
                                   sched::format_bytes(options_.limits.message_bytes)));
    }
    std::uint32_t& at = current[m.channel.value];
    std::uint32_t& entries = used[m.channel.value];
    const std::uint32_t more = most_entries(MessageId(i));
    if (more + 1 > options_.limits.queue_depth) {
      refuse(m.source, "it waits for more than a queue holds");
    }
    if (at == 0 || entries + more > options_.limits.queue_depth) {
      if (at != 0 && !options_.split) {
        refuse(m.source, fmt::format("its channel takes more than the {} entries of a queue, and "
                                     "splitting is off",
                                     options_.limits.queue_depth));
      }
      parts_.push_back(new_part(m));
      parts_.back().takes_over = graph_.previous(MessageId(i));
      // One more waits for the part before.
      entries = at != 0 && options_.mode == Mode::kSqWait ? 1 : 0;
      at = static_cast<std::uint32_t>(parts_.size());
    }
    entries += more;
    part_[i] = at - 1;
    place_[i] = parts_[at - 1].messages++;
  }
}

void EdgeQueues::refuse(OpId op, std::string_view reason) const {
  throw Unsupported(fmt::format("offload: {}: {}", describe(schedule_, op), reason));
}

QueueId EdgeQueues::add_queue(RankId rank, QueueKind kind, Purpose purpose, std::uint32_t pair) {
  Queue q;
  q.rank = rank;
  q.kind = kind;
  q.purpose = purpose;
  q.pair = pair;
  q.start = options_.queue_start;
  q.cq = out_.add_cq({rank, options_.cq_start});
  return out_.add_queue(q);
}

// The two ends of one direction.
std::pair<QueueId, QueueId> EdgeQueues::connect(RankId src, RankId dst, Purpose purpose,
                                                std::uint32_t src_pair, std::uint32_t dst_pair) {
  const QueueId send = add_queue(src, QueueKind::kSend, purpose, src_pair);
  const QueueId receive = add_queue(dst, QueueKind::kReceive, purpose, dst_pair);
  out_.queue(send).peer = receive;
  out_.queue(receive).peer = send;
  return {send, receive};
}

EdgeQueues::Part EdgeQueues::new_part(const Message& m) {
  Part part;
  const std::uint32_t here = new_pair();
  const std::uint32_t there = new_pair();
  std::tie(part.send, part.receive) = connect(m.src, m.dst, Purpose::kData, here, there);
  out_.queue(part.send).managed = options_.mode != Mode::kSqWait;
  out_.queue(part.receive).managed =
      options_.mode == Mode::kRdmcMq || options_.readiness == Readiness::kWindow;
  if (options_.readiness == Readiness::kHandshake) {
    std::tie(part.grant, part.ready) = connect(m.dst, m.src, Purpose::kReady, there, here);
  } else if (options_.readiness == Readiness::kWindow) {
    const std::uint32_t from = new_pair();
    const std::uint32_t to = new_pair();
    std::tie(part.grant, part.ready) = connect(m.dst, m.src, Purpose::kCredit, from, to);
  }
  if (part.grant.valid()) {
    out_.queue(part.grant).serves = part.receive;
    out_.queue(part.ready).serves = part.send;
  }
  return part;
}

void EdgeQueues::mark_signaled() {
  for (std::uint32_t i = 0; i < graph_.messages().size(); ++i) {
    const bool last = place_[i] + 1 == of(MessageId(i)).messages;
    if (last || options_.mode == Mode::kRdmcMq) signaled_[i] = 1;
    for (const OpId need : graph_.needs(MessageId(i))) {
      if (schedule_.op(need).kind != sched::OpKind::kRecv) signaled_[graph_.of(need).value] = 1;
    }
  }
  sent_count_.resize(signaled_.size());
  for (Part& part : parts_) part.sent = options_.cq_start;
  for (std::uint32_t i = 0; i < signaled_.size(); ++i) {
    sent_count_[i] = parts_[part_[i]].sent += signaled_[i];
  }
}

std::pair<CqId, std::uint64_t> EdgeQueues::completion_of(OpId op) const {
  const MessageId id = graph_.of(op);
  if (schedule_.op(op).kind == sched::OpKind::kRecv) {
    return {out_.queue(of(id).receive).cq, options_.cq_start + place(id) + 1};
  }
  return {out_.queue(of(id).send).cq, sent_count_[id.value]};
}

}  // namespace slackline::offload
