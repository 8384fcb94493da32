#include "offload/nic_queues.h"

#include <fmt/format.h>

#include <limits>

namespace slackline::offload {
namespace {

using sched::OpId;

constexpr std::uint32_t kCqMask = 0xffffff;

}  // namespace

NicQueues::NicQueues(const QueueProgram& program, const sched::Schedule& schedule,
                     const MessageGraph& graph, const MemoryMap& memory)
    : program_(program),
      schedule_(schedule),
      graph_(graph),
      map_(memory),
      messages_(program.queues().size()) {
  for (std::size_t q = 0; q < program.queues().size(); ++q) {
    const auto entries = program.entries(program.queues()[q]);
    for (std::uint32_t e = 0; e < entries.size(); ++e) {
      if (is_message(entries[e].kind)) messages_[q].push_back(e);
    }
  }
  reset();
}

void NicQueues::reset() {
  const std::size_t queues = program_.queues().size();
  now_s = 0;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  times.assign(schedule_.op_count(), {kNever, kNever, kNever, kNever, 1, OpId::none()});
  cq_index_.resize(program_.cqs().size());
  waiting_.resize(program_.cqs().size());
  for (std::size_t c = 0; c < cq_index_.size(); ++c) {
    cq_index_[c] = static_cast<std::uint32_t>(program_.cqs()[c].start) & kCqMask;
    waiting_[c].clear();
  }
  limit_.resize(queues);
  for (std::size_t q = 0; q < queues; ++q) {
    limit_[q] = static_cast<std::uint16_t>(program_.queues()[q].start);
  }
  head_.assign(queues, 0);
  sent_.assign(queues, 0);
  landed_.assign(queues, 0);
  acknowledged_.assign(queues, 0);
  started_.assign(program_.rank_count(), 0);
  ran_past_.assign(queues, 0);
  cells_ = map_.initial();
  carried_.resize(map_.all());
  done_.assign(schedule_.op_count(), 0);
  woken_.clear();
  faults_.clear();
  not_ready_ = 0;
  stuck_ = 0;
}

void NicQueues::start(sched::RankId rank) {
  started_[rank.value] = 1;
  for (std::uint32_t i = 0; i < program_.queues().size(); ++i) {
    const Queue& q = program_.queues()[i];
    if (q.rank != rank || q.managed) continue;
    limit_[i] = static_cast<std::uint16_t>(q.start + q.count);
    woken_.push_back(QueueId(i));
    if (q.kind != QueueKind::kReceive) continue;
    for (const Entry& receive : program_.entries(q)) {
      if (receive.op.valid()) times[receive.op.value].ready_s = now_s;
      if (receive.op.valid()) times[receive.op.value].issued_s = now_s;
    }
  }
}

bool NicQueues::is_enabled(QueueId queue) {
  const Queue& q = program_.queue(queue);
  const auto next = static_cast<std::uint16_t>(q.start + head_[queue.value]);
  if (next == limit_[queue.value]) return false;
  if (head_[queue.value] < q.count) return true;
  if (!ran_past_[queue.value]) {
    ran_past_[queue.value] = 1;
    fault(fmt::format("{} runs past its last entry", describe(program_, queue)));
  }
  return false;
}

bool NicQueues::is_met(const Entry& wait) const {
  const std::uint32_t index = static_cast<std::uint32_t>(wait.count - 1) & kCqMask;
  return ((cq_index_[wait.target] - 1 - index) & kCqMask) < (1u << 23);
}

NicQueues::Next NicQueues::next(QueueId queue) {
  if (!is_enabled(queue)) return Next::kNothing;
  const Entry& head = entry(queue, head_[queue.value]);
  if (is_message(head.kind)) return Next::kMessage;
  if (head.kind != EntryKind::kWait || is_met(head)) return Next::kLocal;
  waiting_[head.target].push_back(queue);
  return Next::kNothing;
}

void NicQueues::do_local(QueueId queue) {
  const Entry& head = entry(queue, head_[queue.value]++);
  if (is_enable(head.kind)) {
    std::uint16_t& limit = limit_[head.target];
    const auto to = static_cast<std::uint16_t>(head.count);
    const auto ahead = static_cast<std::uint16_t>(to - limit);
    if (ahead != 0 && ahead <= 1u << 15) {
      const Queue& target = program_.queues()[head.target];
      if (target.kind == QueueKind::kReceive) {
        const auto from = static_cast<std::uint32_t>(
            static_cast<std::uint16_t>(limit - static_cast<std::uint16_t>(target.start)));
        for (std::uint32_t e = from; e < from + ahead && e < target.count; ++e) {
          const OpId op = program_.entries(target)[e].op;
          if (op.valid()) times[op.value].ready_s = times[op.value].issued_s = now_s;
        }
      }
      limit = to;
      woken_.push_back(QueueId(head.target));
    }
  }
  if (head.signaled) complete(program_.queue(queue).cq);
}

void NicQueues::complete(CqId cq) {
  cq_index_[cq.value] = (cq_index_[cq.value] + 1) & kCqMask;
  auto& waiting = waiting_[cq.value];
  woken_.insert(woken_.end(), waiting.begin(), waiting.end());
  waiting.clear();
}

void NicQueues::check_held(QueueId queue, std::uint32_t e) {
  const OpId op = entry(queue, e).op;
  if (!op.valid() || !graph_.of(op).valid()) return;
  for (const OpId need : graph_.needs(graph_.of(op))) {
    sched::OpTimes& t = times[op.value];
    if (!done_[need.value]) {
      fault(fmt::format("{} sends {} before {} is done", describe(program_, queue, e),
                        describe(schedule_, op), describe(schedule_, need)));
    } else if (!t.cause.valid() || times[t.cause.value].done_s <= times[need.value].done_s) {
      t.cause = need;
    }
  }
}

void NicQueues::send(QueueId queue) {
  const std::uint32_t e = head_[queue.value]++;
  const Entry& message = entry(queue, e);
  const std::uint32_t at = program_.queue(queue).first + e;
  check_held(queue, e);
  std::uint32_t to = map_.first(at);
  for (const std::uint32_t cell : map_.local(at)) {
    if (!cells_[cell].value.valid()) {
      fault(fmt::format("{} sends what is not there: {}", describe(program_, queue, e),
                        map_.describe(cell)));
    }
    carried_[to++] = cells_[cell];
  }
  ++sent_[queue.value];
  if (message.op.valid()) {
    sched::OpTimes& t = times[message.op.value];
    t.issued_s = now_s;
    t.wire_s = now_s;
    if (t.ready_s > now_s) t.ready_s = now_s;
  }
}

bool NicQueues::arrive(QueueId queue) {
  const Queue& q = program_.queue(queue);
  const QueueId receives = q.peer;
  const Queue& to = program_.queue(receives);
  if (!is_enabled(receives)) {
    ++not_ready_;
    // A handshake may find its host not started; nothing but a NIC's retry can mend that.
    if (q.purpose == Purpose::kData && program_.readiness() != Readiness::kNone) {
      fault(fmt::format("a message of {} arrives before its receive is posted",
                        describe(program_, queue)));
    }
    return false;
  }
  const std::uint32_t e = messages_[queue.value][landed_[queue.value]++];
  const Entry& message = entry(queue, e);
  const std::uint32_t r = head_[receives.value]++;
  const Entry& receive = entry(receives, r);
  const bool meant =
      message.op.valid() ? schedule_.op(message.op).match == receive.op : !receive.op.valid();
  if (!meant) {
    fault(fmt::format("{} lands in {}, which is meant for another message",
                      describe(program_, queue, e), describe(program_, receives, r)));
  }
  const std::uint32_t at = q.first + e;
  const auto target =
      message.kind == EntryKind::kWrite ? map_.remote(at) : map_.local(to.first + r);
  std::uint32_t from = map_.first(at);
  if (target.size() != map_.local(at).size()) {
    fault(fmt::format("{} does not fit into {}", describe(program_, queue, e),
                      describe(program_, receives, r)));
  } else {
    for (const std::uint32_t cell : target) {
      if (cells_[cell].value.valid()) {
        fault(fmt::format("{} delivers a second time to {}", describe(program_, queue, e),
                          map_.describe(cell)));
      }
      cells_[cell] = carried_[from++];
    }
  }
  if (receive.op.valid()) {
    done_[receive.op.value] = 1;
    sched::OpTimes& t = times[receive.op.value];
    if (t.wire_s > now_s) t.wire_s = now_s;
    t.done_s = now_s;
    t.cause = message.op;
  }
  complete(to.cq);
  return true;
}

void NicQueues::acknowledge(QueueId queue) {
  const Queue& q = program_.queue(queue);
  const std::uint32_t e = messages_[queue.value][acknowledged_[queue.value]++];
  const Entry& message = entry(queue, e);
  const std::uint32_t at = q.first + e;
  std::uint32_t carried = map_.first(at);
  for (const std::uint32_t cell : map_.local(at)) {
    if (cells_[cell] != carried_[carried++]) {
      fault(fmt::format("the source of {} changed before it was acknowledged: {}",
                        describe(program_, queue, e), map_.describe(cell)));
    }
  }
  if (message.op.valid()) {
    done_[message.op.value] = 1;
    times[message.op.value].done_s = now_s;
  }
  if (message.signaled) complete(q.cq);
}

void NicQueues::finish() {
  for (std::uint32_t i = 0; i < program_.queues().size(); ++i) {
    const Queue& q = program_.queues()[i];
    if (head_[i] == q.count) continue;
    ++stuck_;
    fault(fmt::format("stuck: {}", describe(program_, QueueId(i), head_[i])));
  }
  for (std::uint32_t c = 0; c < cells_.size(); ++c) {
    const CellContent& expected = map_.expected()[c];
    if (!expected.value.valid() || cells_[c] == expected) continue;
    fault(fmt::format("in the end {} does not hold what the contract says", map_.describe(c)));
  }
}

}  // namespace slackline::offload
