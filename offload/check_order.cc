#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "offload/queue_findings.h"

namespace slackline::offload {
namespace {

// What stands where: queue by queue, in program order. A management queue that goes on in another
// hands over what it has seen.
class OrderCheck {
 public:
  OrderCheck(const ProgramIndex& index, QueueFindings& findings)
      : index_(index),
        program_(index.program),
        findings_(findings),
        enabled_(program_.queues().size(), 0),
        enabled_by_(program_.queues().size()),
        view_(program_.queues().size()) {}

  void run() {
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      if (program_.queues()[q].kind != QueueKind::kReceive) check_queue(QueueId(q));
    }
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      const Queue& queue = program_.queues()[q];
      if (queue.managed && enabled_[q] != queue.count) {
        add(QueueCode::kEnable, QueueId(q),
            fmt::format("{} is managed, and {} of its {} entries are enabled",
                        describe(program_, QueueId(q)), enabled_[q], queue.count));
      }
    }
    check_collectors();
  }

 private:
  // One rank's work in the order in which a queue, or a chain of them, goes through it.
  struct View {
    std::vector<Need> pending;  // waits since the last entry that is none
    std::int64_t last_send = -1;
    std::int64_t last_receive = -1;
    std::uint32_t credits = 0;
    // rdmc-mq: what is enabled and not waited for, and of which step.
    std::vector<EntryRef> outstanding;
    bool waited = false;
    bool sends = false;
    std::int64_t step = -1;
  };

  void add(QueueCode code, QueueId queue, std::string message) {
    findings_.add(code, queue, std::move(message));
  }

  bool is_rdmc(const Queue& q) const {
    return program_.mode() == Mode::kRdmcMq && q.purpose == Purpose::kOrder;
  }

  void check_queue(QueueId id) {
    const Queue& q = program_.queue(id);
    View view = std::move(view_[id.value]);
    for (std::uint32_t e = 0; e < q.count; ++e) {
      const Entry& entry = program_.entries(q)[e];
      if (entry.kind == EntryKind::kWait) {
        const Need need{CqId(entry.target), entry.count};
        is_rdmc(q) ? rdmc_wait(id, e, need, view) : view.pending.push_back(need);
        continue;
      }
      if (is_enable(entry.kind)) {
        const QueueId target(entry.target);
        const Queue& to = program_.queue(target);
        check_enable(id, e);
        if (to.kind == QueueKind::kManagement) {
          if (e + 1 != q.count || target <= id) {
            add(QueueCode::kEnable, id,
                fmt::format("{} enables a management queue; expected one behind it, as the last "
                            "thing",
                            describe(program_, id, e)));
          }
          view_[target.value] = std::move(view);
          return;
        }
        check_enabled(id, e, view);
      } else if (is_message(entry.kind)) {
        check_message(id, e, view);
      } else if (q.purpose == Purpose::kCollect) {
        collected(id, e, view);
      } else {
        check_pending(id, e, view, {});  // a nop needs nothing
      }
      view.pending.clear();
    }
    if (!view.pending.empty()) {
      add(QueueCode::kExcess, id,
          fmt::format("{} ends with a wait that holds back nothing", describe(program_, id)));
    }
    if (!view.outstanding.empty()) {
      add(QueueCode::kOrder, id,
          fmt::format("{} ends without having waited for all that it enabled",
                      describe(program_, id)));
    }
  }

  // Waits stand right before what needs them; one for anything else holds back too much.
  void check_pending(QueueId id, std::uint32_t e, const View& view,
                     const std::vector<Need>& needs) {
    for (const Need& wait : view.pending) {
      if (std::find(needs.begin(), needs.end(), wait) != needs.end()) continue;
      add(QueueCode::kExcess, id,
          fmt::format("{} stands behind a wait for {} completions of completion queue {}, which "
                      "it does not need",
                      describe(program_, id, e), wait.count, wait.cq.value));
    }
  }

  void in_turn(QueueId id, std::uint32_t e, std::int64_t turn, std::int64_t& last) {
    if (turn <= last) {
      add(QueueCode::kOrder, id,
          fmt::format("{} is out of its turn among the messages of rank {}",
                      describe(program_, id, e), program_.queue(id).rank.value));
    }
    last = std::max(last, turn);
  }

  std::int64_t turn_of(const Entry& entry) const { return index_.turn(index_.graph.of(entry.op)); }

  void check_message(QueueId id, std::uint32_t e, View& view) {
    const Queue& q = program_.queue(id);
    const Entry& entry = program_.entries(q)[e];
    if (q.purpose == Purpose::kData) {
      check_pending(id, e, view, q.managed ? std::vector<Need>{} : index_.needs_of_message(id, e));
      in_turn(id, e, turn_of(entry), view.last_send);
      return;
    }
    check_pending(id, e, view, {});
    // A grant may only speak of receives that are there.
    const Queue* serves = q.serves.valid() ? &program_.queue(q.serves) : nullptr;
    if (serves == nullptr || serves->kind != QueueKind::kReceive) {
      add(QueueCode::kReady, id, fmt::format("{} serves no receive queue", describe(program_, id)));
    } else if (serves->managed) {
      const std::uint64_t granted =
          std::min<std::uint64_t>(std::uint64_t{program_.window()} + view.credits++, serves->count);
      if (enabled_[q.serves.value] < granted) {
        add(QueueCode::kReady, id,
            fmt::format("{} is the credit for {} receives of queue {}, of which {} are enabled",
                        describe(program_, id, e), granted, q.serves.value,
                        enabled_[q.serves.value]));
      }
    }
  }

  void check_enable(QueueId id, std::uint32_t e) {
    const Entry& entry = program_.entries(program_.queue(id))[e];
    const Queue& to = program_.queues()[entry.target];
    const std::uint64_t upto = entry.count - to.start;
    std::uint64_t& enabled = enabled_[entry.target];
    QueueId& by = enabled_by_[entry.target];
    if (!to.managed) {
      add(QueueCode::kEnable, id,
          fmt::format("{} enables queue {}, which is not managed", describe(program_, id, e),
                      entry.target));
    }
    if (by.valid() && by != id && program_.queue(id).kind != QueueKind::kManagement) {
      add(QueueCode::kEnable, id,
          fmt::format("{} enables queue {}, and so does queue {}", describe(program_, id, e),
                      entry.target, by.value));
    }
    by = id;
    if (upto > to.count || upto <= enabled) {
      add(QueueCode::kEnable, id,
          fmt::format("{} enables queue {} up to {}, after {} and of {}", describe(program_, id, e),
                      entry.target, upto, enabled, to.count));
      return;
    }
    const bool first_window = program_.readiness() == Readiness::kWindow &&
                              to.kind == QueueKind::kReceive && enabled == 0;
    const std::uint64_t expected = to.kind == QueueKind::kManagement ? to.count
                                   : first_window
                                       ? std::min<std::uint64_t>(program_.window(), to.count)
                                       : enabled + 1;
    if (upto != expected) {
      add(QueueCode::kEnable, id,
          fmt::format("{} enables queue {} up to {}; expected {}", describe(program_, id, e),
                      entry.target, upto, expected));
    }
    enabled = upto;
  }

  // The entry that an enable has just handed over: its needs, and its turn.
  void check_enabled(QueueId id, std::uint32_t e, View& view) {
    const Queue& q = program_.queue(id);
    const Entry& entry = program_.entries(q)[e];
    const QueueId target(entry.target);
    const Queue& to = program_.queue(target);
    const std::uint64_t upto = entry.count - to.start;
    if (upto == 0 || upto > to.count) return;
    const auto last = static_cast<std::uint32_t>(upto - 1);
    const Entry& enabled = program_.entries(to)[last];
    if (!enabled.op.valid()) return;
    if (is_rdmc(q)) {
      rdmc_enable(id, e, {target, last}, view);
    } else if (to.kind == QueueKind::kSend) {
      check_pending(id, e, view, index_.needs_of_message(target, last));
    } else {
      std::vector<Need> needs;
      if (upto > program_.window()) {
        needs.push_back({to.cq, program_.cq(to.cq).start + upto - program_.window()});
      }
      check_pending(id, e, view, needs);
      if (!needs.empty() && view.pending.empty()) {
        add(QueueCode::kReady, id,
            fmt::format("{} enables more than a window of receives", describe(program_, id, e)));
      }
      return;
    }
    in_turn(id, e, turn_of(enabled),
            to.kind == QueueKind::kSend ? view.last_send : view.last_receive);
  }

  // A step's receives, then its sends, then a wait for each of them, and nothing in between.
  void rdmc_enable(QueueId id, std::uint32_t e, EntryRef what, View& view) {
    const Entry& enabled = program_.entries(program_.queue(what.queue))[what.entry];
    const bool sends = enabled.kind != EntryKind::kRecv;
    if (view.waited && view.outstanding.empty()) {
      view.waited = false;
      view.sends = false;
    }
    const bool begins = !view.waited && view.outstanding.empty();
    const auto step = static_cast<std::int64_t>(enabled.step);
    const bool fits = !index_.graph.by_steps() ? begins
                      : begins                 ? step > view.step
                                               : step == view.step;
    if (view.waited || !fits || (view.sends && !sends)) {
      add(QueueCode::kOrder, id,
          fmt::format("{} is out of RDMC's order: a step's receives, its sends, then their "
                      "completions",
                      describe(program_, id, e)));
    }
    view.sends = view.sends || sends;
    view.step = step;
    view.outstanding.push_back(what);
  }

  void rdmc_wait(QueueId id, std::uint32_t e, Need need, View& view) {
    view.waited = true;
    const EntryRef done = index_.completions.maker(need.cq, need.count);
    const auto at = std::find(view.outstanding.begin(), view.outstanding.end(), done);
    if (at == view.outstanding.end()) {
      add(QueueCode::kExcess, id,
          fmt::format("{} waits for {} completions of completion queue {}, the last of which is "
                      "none that it enabled and did not wait for",
                      describe(program_, id, e), need.count, need.cq.value));
      return;
    }
    view.outstanding.erase(at);
  }

  void collected(QueueId id, std::uint32_t e, View& view) {
    const Queue& q = program_.queue(id);
    if (!program_.entries(q)[e].signaled) return;
    if (q.rank.value >= collected_.size()) collected_.resize(program_.rank_count());
    collected_[q.rank.value] = view.pending;
    told_.resize(program_.rank_count(), 0);
    ++told_[q.rank.value];
  }

  // The host of every rank that has data is told once, behind the last completion of each queue.
  void check_collectors() {
    collected_.resize(program_.rank_count());
    told_.resize(program_.rank_count(), 0);
    std::vector<std::size_t> wanted(program_.rank_count(), 0);
    for (std::uint32_t i = 0; i < program_.queues().size(); ++i) {
      const Queue& q = program_.queues()[i];
      if (q.purpose != Purpose::kData || q.count == 0) continue;
      const Need last{q.cq, program_.cq(q.cq).start + index_.completions.count(q.cq)};
      const auto& waits = collected_[q.rank.value];
      ++wanted[q.rank.value];
      const bool signals = completes(program_.entries(q)[q.count - 1]);
      if (!signals || std::find(waits.begin(), waits.end(), last) == waits.end()) {
        add(QueueCode::kCollect, QueueId(i),
            fmt::format("the collector of rank {} does not wait for the end of {}", q.rank.value,
                        describe(program_, QueueId(i))));
      }
    }
    for (std::uint32_t r = 0; r < program_.rank_count(); ++r) {
      if (told_[r] != (wanted[r] != 0 ? 1u : 0u) || collected_[r].size() != wanted[r]) {
        add(QueueCode::kCollect, QueueId::none(),
            fmt::format("the host of rank {} is told {} times, behind {} waits; expected once, "
                        "behind {}",
                        r, told_[r], collected_[r].size(), wanted[r]));
      }
    }
  }

  const ProgramIndex& index_;
  const QueueProgram& program_;
  QueueFindings& findings_;
  std::vector<std::uint64_t> enabled_;
  std::vector<QueueId> enabled_by_;
  std::vector<View> view_;
  std::vector<std::vector<Need>> collected_;  // by rank
  std::vector<std::uint32_t> told_;
};

}  // namespace

void check_order(const ProgramIndex& index, QueueFindings& findings) {
  OrderCheck(index, findings).run();
}

}  // namespace slackline::offload
