#include "offload/compile_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "offload/edge_queues.h"
#include "offload/message_graph.h"
#include "offload/refusals.h"

namespace slackline::offload {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Schedule;

class QueueCompiler {
 public:
  QueueCompiler(const Schedule& schedule, const MessageGraph& graph, const QueueOptions& options)
      : schedule_(schedule),
        options_(options),
        graph_(graph),
        out_(schedule.rank_count()),
        edges_(schedule, graph, options, out_),
        manager_(schedule.rank_count()) {}

  QueueProgram run() {
    out_.set_schedule(schedule_.digest());
    out_.set_title(schedule_.title());
    out_.set_mode(options_.mode);
    out_.set_readiness(options_.readiness,
                       options_.readiness == Readiness::kWindow ? options_.window : 0);
    for (const auto& buffer : schedule_.buffers()) out_.add_buffer(buffer.rank, buffer.bytes);
    out_.add_slices(schedule_.slices());
    for (const MessageId id : graph_.order()) {
      add_message(id);
      add_receive(id);
    }
    if (options_.mode == Mode::kRdmcMq) add_rdmc_order();
    add_grants();
    add_collectors();
    for (std::uint32_t q = 0; q < out_.queues().size(); ++q) fit(QueueId(q));
    return out_.build();
  }

 private:
  Entry wait(CqId cq, std::uint64_t count, MessageId behind) const {
    Entry entry;
    entry.kind = EntryKind::kWait;
    entry.target = cq.value;
    entry.count = count;
    if (behind.valid()) {
      entry.step = graph_.message(behind).step;
      entry.latest = graph_.message(behind).latest;
    }
    return entry;
  }

  Entry enable(EntryKind kind, QueueId queue, std::uint64_t entries, MessageId what) {
    Entry entry;
    entry.kind = kind;
    entry.target = queue.value;
    entry.count = out_.queue(queue).start + entries;
    if (what.valid()) {
      entry.step = graph_.message(what).step;
      entry.latest = graph_.message(what).latest;
    }
    return entry;
  }

  void wait_once(QueueId queue, CqId cq, std::uint64_t count, MessageId behind) {
    std::uint64_t& known = known_[{queue.value, cq.value}];
    if (known >= count) return;
    known = count;
    out_.add(queue, wait(cq, count, behind));
  }

  void add_message(MessageId id) {
    const Message& m = graph_.message(id);
    const EdgeQueues::Part& p = edges_.of(id);
    if (options_.mode != Mode::kRdmcMq) {
      const QueueId waits = options_.mode == Mode::kSqWait ? p.send : manager(m.src);
      if (p.ready.valid()) {
        wait_once(waits, out_.queue(p.ready).cq,
                  options_.cq_start + grants_before(edges_.place(id)), id);
      }
      if (const MessageId before = edges_.takes_over(id); before.valid()) {
        const auto [cq, count] = edges_.completion_of(graph_.message(before).source);
        wait_once(waits, cq, count, id);
      }
      for (const OpId need : graph_.needs(id)) {
        const auto [cq, count] = edges_.completion_of(need);
        wait_once(waits, cq, count, id);
      }
    }
    const sched::Op& op = schedule_.op(m.source);
    Entry entry;
    entry.kind = op.kind == sched::OpKind::kPut ? EntryKind::kWrite : EntryKind::kSend;
    entry.signaled = edges_.is_signaled(id);
    entry.local = op.reads;
    if (entry.kind == EntryKind::kWrite) entry.remote = op.writes;
    entry.op = m.source;
    entry.step = m.step;
    entry.latest = m.latest;
    out_.add(p.send, entry);
    if (options_.mode == Mode::kMqEnable) {
      out_.add(manager(m.src), enable(EntryKind::kSendEnable, p.send, edges_.place(id) + 1, id));
    }
  }

  void add_receive(MessageId id) {
    const sched::Op& op = schedule_.op(graph_.message(id).receive);
    Entry entry;
    entry.kind = EntryKind::kRecv;
    entry.local = op.writes;
    entry.op = graph_.message(id).receive;
    entry.step = op.step;
    entry.latest = graph_.message(id).latest;
    out_.add(edges_.of(id).receive, entry);
  }

  QueueId manager(RankId rank) {
    QueueId& queue = manager_[rank.value];
    if (!queue.valid())
      queue = edges_.add_queue(rank, QueueKind::kManagement, Purpose::kOrder, edges_.new_pair());
    return queue;
  }

  // By rank and step, or one by one where steps do not say what depends on what: enable the
  // receives, then the sends, then wait for all of them.
  void add_rdmc_order() {
    struct Item {
      MessageId id;
      bool receives;
    };
    std::vector<std::vector<Item>> of_rank(schedule_.rank_count());
    for (const MessageId id : graph_.order()) {
      of_rank[graph_.message(id).src.value].push_back({id, false});
      of_rank[graph_.message(id).dst.value].push_back({id, true});
    }
    for (std::uint32_t r = 0; r < of_rank.size(); ++r) {
      const auto& items = of_rank[r];
      for (std::size_t begin = 0; begin < items.size();) {
        std::size_t end = begin + 1;
        while (graph_.by_steps() && end < items.size() &&
               graph_.message(items[end].id).step == graph_.message(items[begin].id).step) {
          ++end;
        }
        for (const bool receives : {true, false}) {
          for (std::size_t i = begin; i < end; ++i) {
            if (items[i].receives != receives) continue;
            const MessageId id = items[i].id;
            const auto kind = receives ? EntryKind::kRecvEnable : EntryKind::kSendEnable;
            out_.add(manager(RankId(r)),
                     enable(kind, receives ? edges_.of(id).receive : edges_.of(id).send,
                            edges_.place(id) + 1, id));
          }
        }
        for (const bool receives : {true, false}) {
          for (std::size_t i = begin; i < end; ++i) {
            if (items[i].receives != receives) continue;
            const Message& m = graph_.message(items[i].id);
            const auto [cq, count] = edges_.completion_of(receives ? m.receive : m.source);
            out_.add(manager(RankId(r)), wait(cq, count, items[i].id));
          }
        }
        begin = end;
      }
    }
  }

  // How many handshakes or credits have come before the message at `place` of its part may go. The
  // first credit stands for a whole window, each later one for one receive more.
  std::uint64_t grants_before(std::uint32_t place) const {
    if (options_.readiness == Readiness::kHandshake || place < options_.window) return 1;
    return std::uint64_t{place} - options_.window + 2;
  }

  void add_grants() {
    for (const EdgeQueues::Part& p : edges_.parts()) {
      if (!p.grant.valid()) continue;
      Entry send;
      send.kind = EntryKind::kSend;
      Entry receive;
      receive.kind = EntryKind::kRecv;
      if (options_.readiness == Readiness::kWindow) {
        const std::uint32_t first = std::min(options_.window, p.messages);
        out_.add(p.grant, enable(EntryKind::kRecvEnable, p.receive, first, MessageId::none()));
        for (std::uint32_t place = first; place < p.messages; ++place) {
          out_.add(p.grant, send);
          out_.add(p.ready, receive);
          out_.add(p.grant, wait(out_.queue(p.receive).cq, options_.cq_start + place - first + 1,
                                 MessageId::none()));
          out_.add(p.grant,
                   enable(EntryKind::kRecvEnable, p.receive, place + 1, MessageId::none()));
        }
      }
      out_.add(p.grant, send);
      out_.add(p.ready, receive);
    }
  }

  void add_collectors() {
    std::vector<QueueId> collector(schedule_.rank_count());
    const auto collect = [&](QueueId from, std::uint64_t count) {
      const RankId rank = out_.queue(from).rank;
      QueueId& queue = collector[rank.value];
      if (!queue.valid()) {
        queue =
            edges_.add_queue(rank, QueueKind::kManagement, Purpose::kCollect, edges_.new_pair());
      }
      out_.add(queue, wait(out_.queue(from).cq, count, MessageId::none()));
    };
    for (const EdgeQueues::Part& p : edges_.parts()) {
      collect(p.receive, options_.cq_start + p.messages);
      collect(p.send, p.sent);
    }
    for (const QueueId queue : collector) {
      if (!queue.valid()) continue;
      Entry tell;
      tell.signaled = true;
      out_.add(queue, tell);
    }
  }

  // What is too long goes on in a queue that its last entry enables.
  void fit(QueueId id) {
    const std::size_t size = out_.entries(id).size();
    const std::size_t depth = options_.limits.queue_depth;
    if (size <= depth) return;
    const Queue queue = out_.queue(id);
    if (queue.kind != QueueKind::kManagement) {
      throw InternalError(fmt::format("a {} queue of {} entries is longer than the depth {}",
                                      name(queue.purpose), size, depth));
    }
    if (!options_.split) {
      throw Unsupported(
          fmt::format("offload: the {} queue of rank {} has {} entries, more than the {} of a "
                      "queue, and splitting is off",
                      name(queue.purpose), queue.rank.value, size, depth));
    }
    const QueueId next = edges_.add_queue(queue.rank, queue.kind, queue.purpose, edges_.new_pair());
    out_.queue(next).managed = true;
    std::vector<Entry>& all = out_.entries(id);
    const std::vector<Entry> rest(all.begin() + static_cast<std::ptrdiff_t>(depth) - 1, all.end());
    all.resize(depth - 1);
    for (const Entry& entry : rest) out_.add(next, entry);
    out_.add(id,
             enable(EntryKind::kSendEnable, next, std::min(rest.size(), depth), MessageId::none()));
  }

  const Schedule& schedule_;
  const QueueOptions& options_;
  const MessageGraph& graph_;
  QueueProgramBuilder out_;
  EdgeQueues edges_;
  std::vector<QueueId> manager_;                                            // by rank
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> known_;  // queue, cq: count
};

}  // namespace

QueueProgram compile_queues(const Schedule& schedule, const QueueOptions& options) {
  return compile_queues(schedule, MessageGraph(schedule), options);
}

QueueProgram compile_queues(const Schedule& schedule, const MessageGraph& graph,
                            const QueueOptions& options) {
  require_in_range(options);
  return QueueCompiler(schedule, graph, options).run();
}

}  // namespace slackline::offload
