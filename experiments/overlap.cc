#include "experiments/overlap.h"

#include <algorithm>

namespace slackline::experiments {

const sched::Schedule* ScheduleStore::get(const Multicast& multicast) {
  std::unique_ptr<sched::Schedule>& kept = schedules_[spec_of(multicast)];
  if (kept == nullptr) kept = std::make_unique<sched::Schedule>(schedule_of(multicast));
  return kept.get();
}

sched::Composition same_members(ScheduleStore& store, const Multicast& message,
                                std::uint32_t senders, std::uint32_t messages) {
  std::vector<sched::Part> parts;
  for (std::uint32_t sender = 0; sender < senders; ++sender) {
    for (std::uint32_t i = 0; i < messages; ++i) {
      sched::Part part;
      part.schedule = store.get(message);
      for (std::uint32_t r = 0; r < message.ranks; ++r) {
        part.rank_of.push_back(sched::RankId((sender + r) % message.ranks));
      }
      if (i > 0) part.after = parts.size() - 1;
      parts.push_back(std::move(part));
    }
  }
  return sched::compose(parts, message.ranks);
}

std::vector<double> parts_delivered_s(const sched::Composition& whole, const sched::Trace& trace) {
  std::vector<double> delivered(whole.parts.count(), 0);
  for (std::uint32_t i = 0; i < whole.schedule.op_count(); ++i) {
    if (!brings_data(whole.schedule, whole.schedule.ops()[i])) continue;
    double& done_s = delivered[whole.parts.of_op[i]];
    done_s = std::max(done_s, trace.ops[i].done_s);
  }
  return delivered;
}

std::vector<Receipt> receipts(const sched::Composition& whole, const sched::Trace& trace) {
  std::map<std::pair<std::uint32_t, sched::RankId>, double> last_s;
  for (std::uint32_t i = 0; i < whole.schedule.op_count(); ++i) {
    const sched::Op& op = whole.schedule.ops()[i];
    if (!brings_data(whole.schedule, op)) continue;
    double& at_s = last_s[{whole.parts.of_op[i], op.rank}];
    at_s = std::max(at_s, trace.ops[i].done_s);
  }
  std::vector<Receipt> found;
  for (const auto& [where, at_s] : last_s) found.push_back({where.first, where.second, at_s});
  return found;
}

std::vector<double> parts_sent_s(const sched::Composition& whole, const sched::Trace& trace) {
  std::vector<double> sent(whole.parts.count(), 0);
  for (std::size_t part = 0; part < sent.size(); ++part) {
    const sched::PartRange& range = whole.parts.ops(part, sched::RankId(0));
    for (sched::OpId id = range.first; id < range.end; ++id.value) {
      sent[part] = std::max(sent[part], trace.ops[id.value].done_s);
    }
  }
  return sent;
}

}  // namespace slackline::experiments
