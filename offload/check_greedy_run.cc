#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "offload/queue_findings.h"

namespace slackline::offload {
namespace {

// Every queue does what it can until none can do more. Counts are as in the program, unwrapped.
class GreedyRun {
 public:
  GreedyRun(const ProgramIndex& index, QueueFindings& findings)
      : index_(index),
        program_(index.program),
        findings_(findings),
        head_(program_.queues().size(), 0),
        limit_(program_.queues().size()),
        sent_(program_.queues().size()),
        landed_(program_.queues().size(), 0),
        queued_(program_.queues().size(), 0),
        known_(program_.queues().size()),
        told_(program_.queues().size()),
        count_(program_.cqs().size()),
        waiting_(program_.cqs().size()),
        local_(program_.cqs().size()) {
    std::vector<std::uint32_t> cqs_of_rank(program_.rank_count(), 0);
    for (std::uint32_t c = 0; c < program_.cqs().size(); ++c) {
      count_[c] = program_.cqs()[c].start;
      local_[c] = cqs_of_rank[program_.cqs()[c].rank.value]++;
    }
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      const Queue& queue = program_.queues()[q];
      limit_[q] = queue.managed ? 0 : queue.count;
      known_[q].assign(cqs_of_rank[queue.rank.value], 0);
      if (queue.kind != QueueKind::kReceive) wake(QueueId(q));
    }
  }

  void run() {
    while (!work_.empty()) {
      const QueueId queue = work_.back();
      work_.pop_back();
      queued_[queue.value] = 0;
      advance(queue);
    }
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) report(QueueId(q));
  }

 private:
  // What an enabling queue knew, for the entries from `from` on.
  struct Told {
    std::uint64_t from;
    std::vector<std::uint64_t> known;
  };

  void wake(QueueId queue) {
    if (std::exchange(queued_[queue.value], 1) == 0) work_.push_back(queue);
  }

  static void merge(std::vector<std::uint64_t>& into, const std::vector<std::uint64_t>& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
  }

  void advance(QueueId id) {
    const Queue& q = program_.queue(id);
    std::uint64_t& head = head_[id.value];
    for (; head < limit_[id.value]; ++head) {
      while (!told_[id.value].empty() && told_[id.value].front().from <= head) {
        merge(known_[id.value], told_[id.value].front().known);
        told_[id.value].erase(told_[id.value].begin());
      }
      const auto e = static_cast<std::uint32_t>(head);
      const Entry& entry = program_.entries(q)[e];
      switch (entry.kind) {
        case EntryKind::kWait: {
          if (count_[entry.target] < entry.count) {
            waiting_[entry.target].push_back(id);
            return;
          }
          auto& known = known_[id.value][local_[entry.target]];
          known = std::max(known, entry.count);
          break;
        }
        case EntryKind::kSendEnable:
        case EntryKind::kRecvEnable:
          enable(id, entry);
          break;
        case EntryKind::kSend:
        case EntryKind::kWrite:
          check_message(id, e);
          sent_[id.value].push_back(e);
          land(id);
          continue;
        case EntryKind::kNop:
        case EntryKind::kRecv:
          break;
      }
      if (entry.signaled) complete(q.cq);
    }
  }

  void enable(QueueId by, const Entry& entry) {
    const QueueId target(entry.target);
    const Queue& q = program_.queue(target);
    const std::uint64_t limit = std::min<std::uint64_t>(entry.count - q.start, q.count);
    if (limit <= limit_[target.value]) return;
    if (q.kind == QueueKind::kReceive) {
      limit_[target.value] = limit;
      land(q.peer);
    } else {
      told_[target.value].push_back({limit_[target.value], known_[by.value]});
      limit_[target.value] = limit;
      wake(target);
    }
  }

  // Messages meet receives in order; both then complete.
  void land(QueueId send) {
    const Queue& q = program_.queue(send);
    std::uint64_t& landed = landed_[send.value];
    while (landed < sent_[send.value].size() && landed < limit_[q.peer.value]) {
      const Entry& message = program_.entries(q)[sent_[send.value][landed]];
      ++landed;
      complete(program_.queue(q.peer).cq);
      if (message.signaled) complete(q.cq);
    }
  }

  void complete(CqId cq) {
    ++count_[cq.value];
    for (const QueueId queue : waiting_[cq.value]) wake(queue);
    waiting_[cq.value].clear();
  }

  void check_message(QueueId id, std::uint32_t e) {
    const Queue& q = program_.queue(id);
    if (q.purpose != Purpose::kData) return;
    const Need ready = index_.readiness_of_message(id, e);
    for (const Need& need : index_.needs_of_message(id, e)) {
      if (known_[id.value][local_[need.cq.value]] >= need.count) continue;
      const sched::OpId op = program_.entries(q)[e].op;
      if (need == ready) {
        findings_.add(QueueCode::kReady, id,
                      fmt::format("{} may send {} before its receive is posted",
                                  describe(program_, id, e), describe(index_.schedule, op)));
      } else {
        findings_.add(QueueCode::kHold, id,
                      fmt::format("{} may send {} before {} completions of completion queue {}, "
                                  "without which rank {} does not hold it",
                                  describe(program_, id, e), describe(index_.schedule, op),
                                  need.count, need.cq.value, q.rank.value));
      }
    }
  }

  void report(QueueId id) {
    const Queue& q = program_.queue(id);
    if (q.kind == QueueKind::kReceive) {
      if (limit_[id.value] < q.count) {
        findings_.add(
            QueueCode::kDeadlock, id,
            fmt::format("{} is never enabled",
                        describe(program_, id, static_cast<std::uint32_t>(limit_[id.value]))));
      }
      return;
    }
    if (head_[id.value] == q.count) return;
    const auto e = static_cast<std::uint32_t>(head_[id.value]);
    findings_.add(
        QueueCode::kDeadlock, id,
        fmt::format(
            "{} {}", describe(program_, id, e),
            head_[id.value] < limit_[id.value]
                ? fmt::format("waits for ever: completion queue {} comes to {} of {}",
                              program_.entries(q)[e].target, count_[program_.entries(q)[e].target],
                              program_.entries(q)[e].count)
                : std::string("is never enabled")));
  }

  const ProgramIndex& index_;
  const QueueProgram& program_;
  QueueFindings& findings_;
  std::vector<QueueId> work_;
  // By queue:
  std::vector<std::uint64_t> head_;
  std::vector<std::uint64_t> limit_;
  std::vector<std::vector<std::uint32_t>> sent_;
  std::vector<std::uint64_t> landed_;
  std::vector<char> queued_;
  std::vector<std::vector<std::uint64_t>> known_;  // by completion queue of its rank
  std::vector<std::vector<Told>> told_;
  // By completion queue:
  std::vector<std::uint64_t> count_;
  std::vector<std::vector<QueueId>> waiting_;
  std::vector<std::uint32_t> local_;  // its number within its rank
};

}  // namespace

void check_greedy_run(const ProgramIndex& index, QueueFindings& findings) {
  GreedyRun(index, findings).run();
}

}  // namespace slackline::offload
