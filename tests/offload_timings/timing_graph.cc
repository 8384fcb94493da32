#include "tests/offload_timings/timing_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "offload/completions.h"

namespace slackline::offload {

using sched::OpId;
using sched::RankId;

// Numbers every event by what it is, says what comes before it, and sorts.
class TimingGraph::Maker {
 public:
  Maker(TimingGraph& out, const QueueProgram& program, const sched::Schedule& schedule,
        const MessageGraph& graph)
      : out_(out),
        program_(program),
        schedule_(schedule),
        graph_(graph),
        completions_(program),
        entries_(static_cast<std::uint32_t>(program_.entries().size())),
        raw_(1 + 4 * std::size_t{entries_} + program_.rank_count()),
        landing_(entries_, 0),
        place_of_(schedule.op_count(), kNone),
        queue_of_(entries_),
        enablers_(program_.queues().size()) {}

  void run() {
    for (std::uint32_t r = 0; r < program_.rank_count(); ++r) {
      raw_[start(RankId(r))] = {{0, 0}, 1 + r, true};
    }
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) find(QueueId(q));
    for (const Message& m : graph_.messages()) {
      if (place_of_[m.source.value] == kNone || place_of_[m.receive.value] == kNone) {
        throw InputError("offload: the program lacks messages of the schedule");
      }
    }
    elsewhere_ = last_elsewhere(graph_, [&](MessageId id) {
      return queue_of_[place_of_[graph_.message(id).source.value]];
    });
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      if (program_.queues()[q].kind != QueueKind::kReceive) add_queue(QueueId(q));
    }
    sort();
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  enum Kind : std::uint32_t { kEntries, kWays, kBacks };

  struct Raw {
    std::uint32_t before[2] = {0, 0};
    std::uint32_t factor = 0;
    bool there = false;
  };
  struct Enable {
    std::uint64_t upto;
    std::uint32_t event;
  };

  std::uint32_t entry(std::uint32_t at) const { return 1 + at; }
  std::uint32_t way(std::uint32_t at) const { return 1 + entries_ + at; }
  std::uint32_t join(std::uint32_t at) const { return 1 + 2 * entries_ + at; }
  std::uint32_t back(std::uint32_t at) const { return 1 + 3 * entries_ + at; }
  std::uint32_t start(RankId rank) const { return 1 + 4 * entries_ + rank.value; }

  void set(std::uint32_t event, std::uint32_t a, std::uint32_t b, Kind kind, QueueId queue) {
    raw_[event] = {{a, b}, 1 + program_.rank_count() + 3 * queue.value + kind, true};
  }
  // Takes no time.
  std::uint32_t joined(std::uint32_t event, std::uint32_t a, std::uint32_t b) {
    raw_[event] = {{a, b}, 0, true};
    return event;
  }

  // What never happens: nothing behind it is reached.
  std::uint32_t never() {
    out_.ends = false;
    return 0;
  }

  [[noreturn]] void refuse(QueueId queue, std::string_view why) const {
    throw InputError(fmt::format("offload: {} {}; expected what the proof finds sound",
                                 describe(program_, queue), why));
  }

  void find(QueueId id) {
    const Queue& q = program_.queue(id);
    std::uint32_t messages = 0;
    for (std::uint32_t e = 0; e < q.count; ++e) {
      const Entry& it = program_.entries(q)[e];
      const std::uint32_t at = q.first + e;
      if (it.op.valid()) {
        if (it.op.value >= place_of_.size() || !graph_.of(it.op).valid()) {
          refuse(id, "carries out what is no message of the schedule");
        }
        place_of_[it.op.value] = at;
        queue_of_[at] = id;
      }
      if (it.kind == EntryKind::kWait && completions_.producers(CqId(it.target)).size() > 1) {
        refuse(id, fmt::format("waits for completion queue {}, which has several producers",
                               it.target));
      }
      if (is_message(it.kind)) {
        const Queue& to = program_.queue(q.peer);
        landing_[at] = to.managed || messages == 0 ? join(at) : way(at);
        if (messages < to.count) landing_[to.first + messages] = landing_[at];
        ++messages;
      }
      if (is_enable(it.kind)) note_enable(id, it, entry(at));
    }
    if (q.kind == QueueKind::kSend && messages != program_.queue(q.peer).count) never();
  }

  void note_enable(QueueId by, const Entry& it, std::uint32_t event) {
    const Queue& target = program_.queues()[it.target];
    auto& all = enablers_[it.target];
    if (!all.empty() && program_.queue(by).kind != QueueKind::kManagement) {
      const std::uint32_t before = all.back().event;
      if (before < entry(program_.queue(by).first)) {
        refuse(QueueId(it.target), "is enabled by two queues");
      }
    }
    const std::uint64_t upto = it.count - target.start;
    if (all.empty() || upto > all.back().upto) all.push_back({upto, event});
  }

  // What lets an entry of a managed queue go.
  std::uint32_t enabler(QueueId queue, std::uint32_t e) {
    const auto& all = enablers_[queue.value];
    const auto at =
        std::ranges::upper_bound(all, std::uint64_t{e}, {}, [](const Enable& x) { return x.upto; });
    return at == all.end() ? never() : at->event;
  }

  std::uint32_t posted(QueueId receives, std::uint32_t e) {
    const Queue& q = program_.queue(receives);
    return q.managed ? enabler(receives, e) : start(q.rank);
  }

  // Where an entry's completion is written, or what it is about has landed.
  std::uint32_t done(EntryRef ref) {
    if (!ref.queue.valid()) return never();
    const Queue& q = program_.queue(ref.queue);
    const std::uint32_t at = q.first + ref.entry;
    const Entry& it = program_.entries()[at];
    if (is_message(it.kind)) return back(at);
    if (it.kind != EntryKind::kRecv) return entry(at);
    return landing_[at] == 0 ? never() : landing_[at];
  }

  void add_queue(QueueId id) {
    const Queue& q = program_.queue(id);
    std::uint32_t messages = 0;
    std::uint32_t landed = 0, acknowledged = 0;  // of the message before
    for (std::uint32_t e = 0; e < q.count; ++e) {
      const Entry& it = program_.entries(q)[e];
      const std::uint32_t at = q.first + e;
      std::uint32_t before = e == 0 ? 0 : entry(at - 1);
      std::uint32_t other = 0;
      if (q.managed) {
        other = enabler(id, e);
        if (e != 0 && other == enabler(id, e - 1)) other = 0;
      } else if (e == 0) {
        before = start(q.rank);
      }
      if (it.kind == EntryKind::kWait) {
        if (before != 0 && other != 0) before = joined(join(at), before, other);
        if (before == 0) before = other;
        other = done(completions_.maker(CqId(it.target), it.count));
      }
      set(entry(at), before, other, kEntries, id);
      if (!is_message(it.kind)) continue;
      set(way(at), entry(at), landed, kWays, id);
      const std::uint32_t there = posted(q.peer, messages);
      landed = landing_[at];
      if (landed == join(at)) joined(landed, way(at), there);
      set(back(at), landed, acknowledged, kBacks, id);
      acknowledged = back(at);
      ++messages;
      if (q.purpose != Purpose::kData) continue;
      if (program_.readiness() != Readiness::kNone && landed == join(at)) {
        out_.posted.push_back({there, way(at)});
      }
      if (!it.op.valid()) continue;
      for (const OpId need : graph_.needs(graph_.of(it.op))) {
        const bool receives = schedule_.op(need).kind == sched::OpKind::kRecv;
        for (MessageId m = graph_.of(need); m.valid(); m = elsewhere_[m.value]) {
          const Message& message = graph_.message(m);
          const std::uint32_t from = place_of_[(receives ? message.receive : message.source).value];
          out_.held.push_back({receives ? landing_[from] : back(from), entry(at)});
        }
      }
    }
  }

  void sort() {
    const auto all = static_cast<std::uint32_t>(raw_.size());
    std::vector<std::uint32_t> begin(all + 1, 0), after, left(all, 0), number(all, 0), order;
    const auto for_each_arc = [&](auto&& visit) {
      for (std::uint32_t i = 1; i < all; ++i) {
        for (const std::uint32_t from : raw_[i].before) {
          if (raw_[i].there && from != 0) visit(from, i);
        }
      }
    };
    for_each_arc([&](std::uint32_t from, std::uint32_t to) {
      ++begin[from + 1];
      ++left[to];
    });
    for (std::uint32_t i = 0; i < all; ++i) begin[i + 1] += begin[i];
    after.resize(begin[all]);
    std::vector<std::uint32_t> fill(begin.begin(), begin.end() - 1);
    for_each_arc([&](std::uint32_t from, std::uint32_t to) { after[fill[from]++] = to; });
    std::size_t count = 0;
    for (std::uint32_t i = 1; i < all; ++i) {
      if (!raw_[i].there) continue;
      ++count;
      if (left[i] == 0) order.push_back(i);
    }
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (std::uint32_t j = begin[order[k]]; j < begin[order[k] + 1]; ++j) {
        if (--left[after[j]] == 0) order.push_back(after[j]);
      }
    }
    if (order.size() != count) out_.ends = false;
    for (std::uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k + 1;
    for (const std::uint32_t i : order) {
      const Raw& raw = raw_[i];
      out_.events.push_back({{number[raw.before[0]], number[raw.before[1]]}, raw.factor});
    }
    for (auto* demands : {&out_.held, &out_.posted}) {
      for (Demand& d : *demands) d = {number[d.needed], number[d.event]};
    }
    const auto part = [&](std::uint32_t first, std::uint32_t length) {
      return std::vector<std::uint32_t>(number.begin() + first, number.begin() + first + length);
    };
    out_.entry = part(entry(0), entries_);
    out_.way = part(way(0), entries_);
    out_.back = part(back(0), entries_);
    out_.start = part(start(RankId(0)), program_.rank_count());
    for (const std::uint32_t event : landing_) out_.landing.push_back(number[event]);
  }

  TimingGraph& out_;
  const QueueProgram& program_;
  const sched::Schedule& schedule_;
  const MessageGraph& graph_;
  const QueueCompletions completions_;
  const std::uint32_t entries_;
  std::vector<Raw> raw_;                 // event 0 is the beginning
  std::vector<std::uint32_t> landing_;   // by message and by receive; 0: none
  std::vector<std::uint32_t> place_of_;  // by operation
  std::vector<QueueId> queue_of_;        // by entry that carries out an operation
  std::vector<MessageId> elsewhere_;
  std::vector<std::vector<Enable>> enablers_;  // by queue, in order
};

TimingGraph::TimingGraph(const QueueProgram& program, const sched::Schedule& schedule,
                         const MessageGraph& messages) {
  Maker(*this, program, schedule, messages).run();
}

}  // namespace slackline::offload
