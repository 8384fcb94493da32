#include "machine/meetings.h"

#include <cmath>

namespace slackline::machine {

using sched::Op;
using sched::OpId;
using sched::OpKind;

Meetings::Meetings(const sched::Schedule& schedule, const sched::RegionTree& tree) {
  if (tree.empty()) return;
  constexpr std::uint32_t kNone = sched::RegionTree::kNone;
  const auto on_channel = [](const Op& o) {
    return sched::is_fifo_source(o) || o.kind == OpKind::kRecv;
  };
  std::vector<std::uint32_t> of_channel(schedule.channels().size(), kNone);
  std::uint32_t queues = 0;
  queue_of_.assign(schedule.op_count(), kNone);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    if (tree.around(i) == kNone) continue;
    const Op& o = schedule.ops()[i];
    if (on_channel(o)) {
      std::uint32_t& queue = of_channel[o.channel.value];
      if (queue == kNone) queue = queues++;
    } else if (o.match.valid() && queue_of_[i] == kNone) {
      queue_of_[i] = queue_of_[o.match.value] = queues++;
    }
  }
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& o = schedule.ops()[i];
    if (on_channel(o)) queue_of_[i] = of_channel[o.channel.value];
  }
  number_of_.resize(schedule.op_count());
  queues_.resize(queues);
}

void Meetings::number(OpId op) {
  Queue& queue = queues_[queue_of_[op.value]];
  number_of_[op.value] = queue.sources;
  at(queue, queue.sources++).source = op;
}

std::optional<Meetings::Met> Meetings::posted(OpId op) {
  Queue& queue = queues_[queue_of_[op.value]];
  Meeting& meeting = at(queue, queue.receives++);
  meeting.receive = op;
  if (!std::isfinite(meeting.arrival_s)) return std::nullopt;
  const Met met{meeting.source, meeting.arrival_s};
  close(queue);
  return met;
}

OpId Meetings::arrived(OpId op, double arrival_s) {
  Queue& queue = queues_[queue_of_[op.value]];
  Meeting& meeting = at(queue, number_of_[op.value]);
  meeting.arrival_s = arrival_s;
  const OpId receive = meeting.receive;
  close(queue);
  return receive;
}

Meetings::Meeting& Meetings::at(Queue& queue, std::uint64_t number) {
  while (queue.first + queue.open.size() <= number) queue.open.emplace_back();
  return queue.open[number - queue.first];
}

void Meetings::close(Queue& queue) {
  while (!queue.open.empty() && queue.open.front().receive.valid() &&
         std::isfinite(queue.open.front().arrival_s)) {
    queue.open.pop_front();
    ++queue.first;
  }
}

}  // namespace slackline::machine
