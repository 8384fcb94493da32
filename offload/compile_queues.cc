#include "offload/compile_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "offload/message_graph.h"
#include "offload/refusals.h"
#include "sched/error.h"

namespace slackline::offload {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Schedule;

// A run of one channel's messages that has a queue pair of its own.
struct Part {
  QueueId send;
  QueueId receive;
  QueueId ready;  // at the sender: receives handshakes or credits
  QueueId grant;  // at the receiver: sends them
  std::uint32_t messages = 0;
};

class QueueCompiler {
 public:
  QueueCompiler(const Schedule& schedule, const QueueOptions& options)
      : schedule_(schedule),
        options_(options),
        graph_(schedule),
        out_(schedule.rank_count()),
        part_(graph_.messages().size()),
        place_(graph_.messages().size()),
        signaled_(graph_.messages().size(), 0),
        manager_(schedule.rank_count()) {}

  QueueProgram run() {
    out_.set_schedule(schedule_.digest());
    out_.set_title(schedule_.title());
    out_.set_mode(options_.mode);
    out_.set_readiness(options_.readiness,
                       options_.readiness == Readiness::kWindow ? options_.window : 0);
    for (const auto& buffer : schedule_.buffers()) out_.add_buffer(buffer.rank, buffer.bytes);
    out_.add_slices(schedule_.slices());
    cut_channels();
    mark_signaled();
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
  std::uint32_t depth() const { return options_.limits.queue_depth; }
  const Part& part(MessageId id) const { return parts_[part_[id.value]]; }

  // The most entries that a message may take in any queue of its part.
  std::uint32_t entries_of(MessageId id) const {
    std::uint32_t entries = 1;
    if (options_.mode == Mode::kSqWait) {
      entries += static_cast<std::uint32_t>(graph_.needs(id).size());
      if (options_.readiness != Readiness::kNone) ++entries;
    }
    if (options_.readiness == Readiness::kWindow) entries = std::max(entries, 3u);
    return entries;
  }

  void cut_channels() {
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
      const std::uint32_t more = entries_of(MessageId(i));
      if (more > depth()) refuse(m.source, "it waits for more than a queue holds");
      if (at == 0 || entries + more > depth()) {
        if (at != 0 && !options_.split) {
          refuse(m.source, fmt::format("its channel takes more than the {} entries of a queue, and "
                                       "splitting is off",
                                       depth()));
        }
        parts_.push_back(new_part(m));
        at = static_cast<std::uint32_t>(parts_.size());
        entries = 0;
      }
      entries += more;
      part_[i] = at - 1;
      place_[i] = parts_[at - 1].messages++;
    }
  }

  [[noreturn]] void refuse(OpId op, std::string_view reason) const {
    throw Unsupported(fmt::format("offload: {}: {}", describe(schedule_, op), reason));
  }

  QueueId new_queue(RankId rank, QueueKind kind, Purpose purpose, std::uint32_t pair) {
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
  std::pair<QueueId, QueueId> connect(RankId src, RankId dst, Purpose purpose,
                                      std::uint32_t src_pair, std::uint32_t dst_pair) {
    const QueueId send = new_queue(src, QueueKind::kSend, purpose, src_pair);
    const QueueId receive = new_queue(dst, QueueKind::kReceive, purpose, dst_pair);
    out_.queue(send).peer = receive;
    out_.queue(receive).peer = send;
    return {send, receive};
  }

  Part new_part(const Message& m) {
    Part part;
    const std::uint32_t here = pairs_++;
    const std::uint32_t there = pairs_++;
    std::tie(part.send, part.receive) = connect(m.src, m.dst, Purpose::kData, here, there);
    out_.queue(part.send).managed = options_.mode != Mode::kSqWait;
    out_.queue(part.receive).managed =
        options_.mode == Mode::kRdmcMq || options_.readiness == Readiness::kWindow;
    if (options_.readiness == Readiness::kHandshake) {
      std::tie(part.grant, part.ready) = connect(m.dst, m.src, Purpose::kReady, there, here);
    } else if (options_.readiness == Readiness::kWindow) {
      const std::uint32_t from = pairs_++;
      const std::uint32_t to = pairs_++;
      std::tie(part.grant, part.ready) = connect(m.dst, m.src, Purpose::kCredit, from, to);
    }
    if (part.grant.valid()) {
      out_.queue(part.grant).serves = part.receive;
      out_.queue(part.ready).serves = part.send;
    }
    return part;
  }

  // The completions that somebody waits for: barriers, the collector, and all in RDMC's order.
  void mark_signaled() {
    for (std::uint32_t i = 0; i < graph_.messages().size(); ++i) {
      const bool last = place_[i] + 1 == part(MessageId(i)).messages;
      if (last || options_.mode == Mode::kRdmcMq) signaled_[i] = 1;
      for (const OpId need : graph_.needs(MessageId(i))) {
        if (schedule_.op(need).kind != sched::OpKind::kRecv) signaled_[graph_.of(need).value] = 1;
      }
    }
    sent_count_.resize(signaled_.size());
    std::vector<std::uint64_t> counts(parts_.size(), options_.cq_start);
    for (std::uint32_t i = 0; i < signaled_.size(); ++i) {
      counts[part_[i]] += signaled_[i];
      sent_count_[i] = counts[part_[i]];
    }
  }

  // Where and at which count an operation is known to be done.
  std::pair<CqId, std::uint64_t> completion_of(OpId op) {
    const MessageId id = graph_.of(op);
    if (schedule_.op(op).kind == sched::OpKind::kRecv) {
      return {out_.queue(part(id).receive).cq, options_.cq_start + place_[id.value] + 1};
    }
    return {out_.queue(part(id).send).cq, sent_count_[id.value]};
  }

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
    const Part& p = part(id);
    if (options_.mode != Mode::kRdmcMq) {
      const QueueId waits = options_.mode == Mode::kSqWait ? p.send : manager(m.src);
      if (p.ready.valid()) {
        wait_once(waits, out_.queue(p.ready).cq,
                  options_.cq_start + grants_before(place_[id.value]), id);
      }
      for (const OpId need : graph_.needs(id)) {
        const auto [cq, count] = completion_of(need);
        wait_once(waits, cq, count, id);
      }
    }
    const sched::Op& op = schedule_.op(m.source);
    Entry entry;
    entry.kind = op.kind == sched::OpKind::kPut ? EntryKind::kWrite : EntryKind::kSend;
    entry.signaled = signaled_[id.value] != 0;
    entry.local = op.reads;
    if (entry.kind == EntryKind::kWrite) entry.remote = op.writes;
    entry.op = m.source;
    entry.step = m.step;
    entry.latest = m.latest;
    out_.add(p.send, entry);
    if (options_.mode == Mode::kMqEnable) {
      out_.add(manager(m.src), enable(EntryKind::kSendEnable, p.send, place_[id.value] + 1, id));
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
    out_.add(part(id).receive, entry);
  }

  QueueId manager(RankId rank) {
    QueueId& queue = manager_[rank.value];
    if (!queue.valid()) queue = new_queue(rank, QueueKind::kManagement, Purpose::kOrder, pairs_++);
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
            out_.add(manager(RankId(r)), enable(kind, receives ? part(id).receive : part(id).send,
                                                place_[id.value] + 1, id));
          }
        }
        for (const bool receives : {true, false}) {
          for (std::size_t i = begin; i < end; ++i) {
            if (items[i].receives != receives) continue;
            const Message& m = graph_.message(items[i].id);
            const auto [cq, count] = completion_of(receives ? m.receive : m.source);
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
    for (const Part& p : parts_) {
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
        queue = new_queue(rank, QueueKind::kManagement, Purpose::kCollect, pairs_++);
      }
      out_.add(queue, wait(out_.queue(from).cq, count, MessageId::none()));
    };
    std::vector<std::uint64_t> sent(parts_.size());
    for (std::uint32_t i = 0; i < part_.size(); ++i) sent[part_[i]] = sent_count_[i];
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
      collect(parts_[i].receive, options_.cq_start + parts_[i].messages);
      collect(parts_[i].send, sent[i]);
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
    if (size <= depth()) return;
    const Queue queue = out_.queue(id);
    if (queue.kind != QueueKind::kManagement) {
      throw InternalError(fmt::format("a {} queue of {} entries is longer than the depth {}",
                                      name(queue.purpose), size, depth()));
    }
    if (!options_.split) {
      throw Unsupported(
          fmt::format("offload: the {} queue of rank {} has {} entries, more than the {} of a "
                      "queue, and splitting is off",
                      name(queue.purpose), queue.rank.value, size, depth()));
    }
    const QueueId next = new_queue(queue.rank, queue.kind, queue.purpose, pairs_++);
    out_.queue(next).managed = true;
    std::vector<Entry>& all = out_.entries(id);
    const std::vector<Entry> rest(all.begin() + depth() - 1, all.end());
    all.resize(depth() - 1);
    for (const Entry& entry : rest) out_.add(next, entry);
    out_.add(id, enable(EntryKind::kSendEnable, next, std::min<std::size_t>(rest.size(), depth()),
                        MessageId::none()));
  }

  const Schedule& schedule_;
  const QueueOptions& options_;
  MessageGraph graph_;
  QueueProgramBuilder out_;
  std::vector<Part> parts_;
  std::uint32_t pairs_ = 0;
  // By message:
  std::vector<std::uint32_t> part_;
  std::vector<std::uint32_t> place_;  // in its part
  std::vector<std::uint8_t> signaled_;
  std::vector<std::uint64_t> sent_count_;  // of its send's completion queue, once it is done
  std::vector<QueueId> manager_;           // by rank
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> known_;  // queue, cq: count
};

}  // namespace

QueueProgram compile_queues(const Schedule& schedule, const QueueOptions& options) {
  require_in_range(options);
  return QueueCompiler(schedule, options).run();
}

}  // namespace slackline::offload
