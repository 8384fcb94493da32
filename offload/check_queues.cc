#include "offload/check_queues.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/enum_names.h"
#include "offload/queue_findings.h"

namespace slackline::offload {
namespace {

using sched::OpId;

bool same_memory(const QueueProgram& program, sched::SliceRange a, const sched::Schedule& schedule,
                 sched::SliceRange b) {
  return std::ranges::equal(program.slices(a), schedule.slices(b));
}

void check_producers(const ProgramIndex& index, QueueFindings& findings) {
  const QueueProgram& program = index.program;
  std::vector<char> told(program.cqs().size(), 0);
  for (std::uint32_t i = 0; i < program.queues().size(); ++i) {
    const auto entries = program.entries(program.queues()[i]);
    for (std::uint32_t e = 0; e < entries.size(); ++e) {
      if (entries[e].kind != EntryKind::kWait || told[entries[e].target]) continue;
      const auto& producers = index.completions.producers(CqId(entries[e].target));
      if (producers.size() == 1) continue;
      told[entries[e].target] = 1;
      findings.add(
          QueueCode::kProducer, QueueId(i),
          fmt::format("{} waits for completion queue {}, which {} queues complete to; "
                      "expected exactly one",
                      describe(program, QueueId(i), e), entries[e].target, producers.size()));
    }
  }
}

}  // namespace

std::string_view name(QueueCode code) {
  constexpr base::EnumNames<QueueCode, 13> kNames = {
      "schedule", "producer", "count",   "enable", "deadlock", "hold",      "ready",
      "excess",   "order",    "collect", "depth",  "counter",  "capability"};
  return kNames[code];
}

ProgramIndex::ProgramIndex(const QueueProgram& program_in, const sched::Schedule& schedule_in,
                           const MessageGraph& graph_in, QueueFindings& findings)
    : program(program_in),
      schedule(schedule_in),
      graph(graph_in),
      completions(program_in),
      entry_of_(schedule_in.op_count()),
      place_(program_in.entries().size(), 0),
      turn_(graph_in.messages().size()),
      ready_of_(program_in.queues().size()) {
  const auto wrong = [&](std::string message) {
    findings.add(QueueCode::kSchedule, QueueId::none(), std::move(message));
  };
  if (program.schedule() != schedule.digest()) {
    wrong(fmt::format("the program is of schedule {}, not of {}", to_string(program.schedule()),
                      to_string(schedule.digest())));
    return;
  }
  bool same = program.rank_count() == schedule.rank_count() &&
              program.buffers().size() == schedule.buffers().size();
  for (std::size_t b = 0; same && b < program.buffers().size(); ++b) {
    same = program.buffers()[b].rank == schedule.buffers()[b].rank &&
           program.buffers()[b].bytes == schedule.buffers()[b].bytes;
  }
  if (!same) {
    wrong("its ranks or buffers are not the schedule's");
    return;
  }
  for (std::uint32_t i = 0; i < graph.order().size(); ++i) turn_[graph.order()[i].value] = i;
  place_entries(findings);
  for (const Message& m : graph.messages()) {
    for (const OpId op : {m.source, m.receive}) {
      if (!entry_of(op).queue.valid()) {
        wrong(fmt::format("no entry carries out {}", describe(schedule, op)));
      }
    }
  }
  elsewhere_ =
      last_elsewhere(graph, [&](MessageId id) { return entry_of(graph.message(id).source).queue; });
}

void ProgramIndex::place_entries(QueueFindings& findings) {
  for (std::uint32_t i = 0; i < program.queues().size(); ++i) {
    const Queue& q = program.queues()[i];
    std::uint32_t messages = 0;
    for (std::uint32_t e = 0; e < q.count; ++e) {
      const Entry& entry = program.entries(q)[e];
      const bool moves = is_message(entry.kind) || entry.kind == EntryKind::kRecv;
      if (moves) place_[q.first + e] = messages++;
      if ((moves && q.purpose == Purpose::kData) != entry.op.valid()) {
        findings.add(QueueCode::kSchedule, QueueId(i),
                     fmt::format("{} {}; expected an operation for data and for nothing else",
                                 describe(program, QueueId(i), e),
                                 entry.op.valid() ? "has an operation" : "has no operation"));
      } else if (entry.op.valid()) {
        check_message(QueueId(i), e, findings);
      } else if (moves && program.bytes(entry.local) != 0) {
        findings.add(QueueCode::kSchedule, QueueId(i),
                     fmt::format("{} moves bytes that are no operation's",
                                 describe(program, QueueId(i), e)));
      }
    }
    if (q.purpose != Purpose::kData && q.kind == QueueKind::kReceive && q.serves.valid()) {
      ready_of_[q.serves.value] = QueueId(i);
    }
  }
  // Messages and receives of a connection meet in order.
  for (std::uint32_t i = 0; i < program.queues().size(); ++i) {
    const Queue& q = program.queues()[i];
    if (q.kind != QueueKind::kSend) continue;
    std::vector<OpId> sent, received;
    for (const Entry& entry : program.entries(q)) {
      if (is_message(entry.kind)) sent.push_back(entry.op);
    }
    for (const Entry& entry : program.entries(program.queue(q.peer))) received.push_back(entry.op);
    const auto meet = [&](OpId s, OpId r) {
      return s.valid() == r.valid() &&
             (!s.valid() || (s.value < schedule.op_count() && schedule.op(s).match == r));
    };
    if (!std::ranges::equal(sent, received, meet)) {
      findings.add(QueueCode::kSchedule, QueueId(i),
                   fmt::format("the messages of {} do not meet the receives of queue {} as the "
                               "schedule matches them",
                               describe(program, QueueId(i)), q.peer.value));
    }
  }
}

void ProgramIndex::check_message(QueueId queue, std::uint32_t e, QueueFindings& findings) {
  const Queue& q = program.queue(queue);
  const Entry& entry = program.entries(q)[e];
  const auto wrong = [&](std::string_view what) {
    findings.add(QueueCode::kSchedule, queue,
                 fmt::format("{} {}", describe(program, queue, e), what));
  };
  if (entry.op.value >= schedule.op_count() || !graph.of(entry.op).valid()) {
    wrong("is of an operation that is no message");
    return;
  }
  const sched::Op& op = schedule.op(entry.op);
  const EntryKind kind = op.kind == sched::OpKind::kRecv  ? EntryKind::kRecv
                         : op.kind == sched::OpKind::kPut ? EntryKind::kWrite
                                                          : EntryKind::kSend;
  const sched::SliceRange local = kind == EntryKind::kRecv ? op.writes : op.reads;
  const sched::SliceRange remote = kind == EntryKind::kWrite ? op.writes : sched::SliceRange{0, 0};
  if (op.rank != q.rank || kind != entry.kind) {
    wrong(fmt::format("does not do what {} does", describe(schedule, entry.op)));
  } else if (!same_memory(program, entry.local, schedule, local) ||
             !same_memory(program, entry.remote, schedule, remote)) {
    wrong(fmt::format("has other memory than {}", describe(schedule, entry.op)));
  } else if (entry_of(entry.op).queue.valid()) {
    wrong(fmt::format("carries out {} a second time", describe(schedule, entry.op)));
  } else {
    entry_of_[entry.op.value] = {queue, e};
  }
}

Need ProgramIndex::readiness_of_message(QueueId queue, std::uint32_t entry) const {
  if (program.readiness() == Readiness::kNone) return {};
  const QueueId ready = ready_of_[queue.value];
  if (!ready.valid()) return {CqId(0), ~std::uint64_t{0}};  // never: nothing can tell it
  const CqId cq = program.queue(ready).cq;
  const std::uint32_t at = place(program.queue(queue), entry);
  const std::uint64_t grants = program.readiness() == Readiness::kHandshake || at < program.window()
                                   ? 1
                                   : std::uint64_t{at} - program.window() + 2;
  return {cq, program.cq(cq).start + grants};
}

std::vector<Need> ProgramIndex::needs_of_message(QueueId queue, std::uint32_t entry) const {
  std::vector<Need> all;
  const Need ready = readiness_of_message(queue, entry);
  if (ready.cq.valid()) all.push_back(ready);
  const OpId op = program.entries(program.queue(queue))[entry].op;
  if (!op.valid()) return all;
  const MessageId id = graph.of(op);
  // Who takes over a channel from another queue does so when all is acknowledged there; so whoever
  // has its messages has those before. RDMC's order waits for every one of them instead.
  const bool in_turn = program.mode() != Mode::kRdmcMq;
  const MessageId before = graph.previous(id);
  if (in_turn && before.valid() && before == elsewhere_[id.value]) {
    all.push_back(done(graph.message(before).source));
  }
  for (const OpId need : graph.needs(id)) {
    all.push_back(done(need));
    if (in_turn) continue;
    const bool receives = schedule.op(need).kind == sched::OpKind::kRecv;
    for (MessageId at = elsewhere_[graph.of(need).value]; at.valid(); at = elsewhere_[at.value]) {
      all.push_back(done(receives ? graph.message(at).receive : graph.message(at).source));
    }
  }
  return all;
}

Need ProgramIndex::done(OpId op) const {
  const EntryRef at = entry_of(op);
  const Queue& q = program.queue(at.queue);
  const std::uint64_t count = completions.count_of(q.first + at.entry);
  // A completion that is never written is one that never comes.
  return {q.cq, count == 0 ? ~std::uint64_t{0} : count};
}

QueueDiagnostics check_queues(const QueueProgram& program, const sched::Schedule& schedule,
                              const MessageGraph& graph, const QueueCheckOptions& options) {
  QueueFindings findings(options.max_diagnostics);
  const ProgramIndex index(program, schedule, graph, findings);
  if (findings.empty()) check_producers(index, findings);
  if (!findings.empty()) return findings.take();
  check_greedy_run(index, findings);
  check_order(index, findings);
  check_limits(index, options.limits, findings);
  return findings.take();
}

}  // namespace slackline::offload
