#include "offload/emulate_timed.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"
#include "machine/congestion.h"
#include "machine/driven_run.h"
#include "machine/event_queue.h"
#include "machine/paths.h"
#include "machine/port_arbiter.h"
#include "machine/run/adaptive_ways.h"
#include "offload/packed_run.h"

namespace slackline::offload {
namespace {

using machine::kInstant_s;
using sched::OpId;
using sched::RankId;

using machine::ExecutionEvent;
using Kind = ExecutionEvent::Kind;

// An event's id is a queue or, for ports, a rank. What ends in one instant does so in this order,
// then in that of ids.
constexpr Kind kEntryEnds = Kind::kLaneEnd;
constexpr Kind kSent = Kind::kSent;                  // a queue's message has left
constexpr Kind kSmallOutFree = Kind::kOutFree;       // the out-port for small messages, …
constexpr Kind kLargeOutFree = Kind::kReplyOutFree;  // …and for large ones
constexpr Kind kArrived = Kind::kArrived;            // a queue's first message on the wire
constexpr Kind kAcknowledged = Kind::kDone;          // a queue's first message that landed

constexpr std::uint32_t turn(Kind kind) {
  constexpr Kind kOrder[] = {kEntryEnds, kSent, kSmallOutFree, kLargeOutFree, kArrived};
  std::uint32_t turn = 0;
  while (turn < std::size(kOrder) && kOrder[turn] != kind) ++turn;
  return turn;
}

class TimedRun final : public machine::DrivenRun {
 public:
  TimedRun(const QueueProgram& program, const sched::Schedule& schedule, const MessageGraph& graph,
           const machine::Platform& platform, const machine::Paths& paths, const NicTiming& timing,
           machine::DrivenClock& clock)
      : program_(program),
        schedule_(schedule),
        platform_(platform),
        timing_(timing),
        memory_(program, schedule),
        nic_(program, schedule, graph, memory_),
        paths_(paths),
        clock_(clock),
        gap_s_(sched::seconds(platform.gap)),
        entry_s_(sched::seconds(timing.entry_time)),
        queues_(program.queues().size()),
        queue_of_(schedule.op_count() + program.queues().size()),
        ports_{Ports(program.rank_count()), Ports(program.rank_count())} {
    find_ways();
  }

  void start() override {
    for (std::uint32_t r = 0; r < program_.rank_count(); ++r) nic_.start(RankId(r));
    settle();
  }

  void instant(double now_s, std::vector<ExecutionEvent>& events) override {
    nic_.now_s = now_s;
    std::sort(events.begin(), events.end(), [](ExecutionEvent a, ExecutionEvent b) {
      return std::pair(turn(a.kind()), a.op()) < std::pair(turn(b.kind()), b.op());
    });
    for (const ExecutionEvent event : events) handle(event);
    settle();
  }

  std::string result() override {
    nic_.finish();
    return pack(nic_);
  }

 private:
  // The two directions of a NIC, and who waits for its out-port: one class of message.
  struct Ports {
    explicit Ports(std::uint32_t ranks)
        : arbiter(ranks), waiting(ranks), taken(ranks, false), served(ranks, 0), last(ranks) {}
    machine::PortArbiter arbiter;
    std::vector<std::vector<QueueId>> waiting;  // by rank
    std::vector<bool> taken;                    // by rank: the out-port is promised or held
    std::vector<std::uint32_t> served;          // by rank, the queue that had it last
    std::vector<OpId> last;                     // by rank, the message that had it last
    std::vector<RankId> changed;                // ranks whose choice may have changed
  };

  struct State {
    machine::PathId way;
    machine::PathId way_back;
    bool busy = false;          // its head is being carried out
    double offered_s = 0;       // when its head became a message that may go
    OpId behind;                // the message that its head waited for at its own out-port, if any
    double began_s = 0;         // when the message that is leaving began to
    std::uint64_t bytes = 0;    // of that
    std::uint32_t on_wire = 0;  // messages that have not arrived
  };

  // Each queue's messages take the way of the channel that it serves, or back.
  void find_ways() {
    for (std::uint32_t i = 0; i < program_.queues().size(); ++i) {
      const Queue& q = program_.queues()[i];
      if (q.kind != QueueKind::kSend || q.count == 0) continue;
      const bool back = q.purpose != Purpose::kData;
      const QueueId data = back ? q.serves : QueueId(i);
      if (!data.valid()) continue;
      for (const Entry& entry : program_.entries(program_.queue(data))) {
        if (!entry.op.valid()) continue;
        const sched::ChannelId channel = schedule_.op(entry.op).channel;
        queues_[i].way = paths_.of(channel, back);
        queues_[i].way_back = paths_.of(channel, !back);
        break;
      }
    }
  }

  State& state(QueueId queue) { return queues_[queue.value]; }
  const Entry& head(QueueId queue) const {
    return program_.entries(program_.queue(queue))[nic_.head(queue)];
  }
  std::uint64_t head_bytes(QueueId queue) const { return program_.bytes(head(queue).local); }
  bool is_large(std::uint64_t bytes) const { return bytes > platform_.interleave_bytes; }

  // As the clock names queues and ranks.
  static OpId id(QueueId queue) { return OpId(queue.value); }
  static OpId id(RankId rank) { return OpId(rank.value); }
  // A rank has a NIC to itself here.
  static machine::NicId nic_of(RankId rank) { return machine::NicId(rank.value); }

  void handle(ExecutionEvent event) {
    const QueueId queue(event.op().value);
    switch (event.kind()) {
      case kEntryEnds:
        state(queue).busy = false;
        nic_.do_local(queue);
        nic_.woken().push_back(queue);
        break;
      case kSent:
        sent(queue);
        break;
      case kSmallOutFree:
      case kLargeOutFree:
        free_out(RankId(event.op().value), event.kind() == kLargeOutFree);
        break;
      case kArrived:
        --state(queue).on_wire;
        land(queue);
        break;
      case kAcknowledged:
        nic_.acknowledge(queue);
        break;
      default:
        throw InternalError("offload: an event that no NIC has");
    }
  }

  // Everything that takes no time, then what may start.
  void settle() {
    for (bool more = true; more;) {
      for (std::size_t i = 0; i < nic_.woken().size(); ++i) work(nic_.woken()[i]);
      nic_.woken().clear();
      for (Ports& ports : ports_) {
        for (const RankId rank : ports.changed) choose(ports, rank);
        ports.changed.clear();
        machine::PortArbiter::Start start;
        while (ports.arbiter.next_empty(start)) transmit(ports, start);
        while (ports.arbiter.next_start(start)) transmit(ports, start);
      }
      more = !nic_.woken().empty();
    }
  }

  void work(QueueId queue) {
    const Queue& q = program_.queue(queue);
    if (q.kind == QueueKind::kReceive) {
      land(q.peer);
      return;
    }
    while (!state(queue).busy) {
      const NicQueues::Next next = nic_.next(queue);
      if (next == NicQueues::Next::kNothing) return;
      if (next == NicQueues::Next::kMessage) {
        offer(queue);
      } else if (entry_s_ > 0 && head(queue).kind != EntryKind::kNop) {
        state(queue).busy = true;
        clock_.at(nic_.now_s + entry_s_, {id(queue), kEntryEnds});
      } else {
        nic_.do_local(queue);
      }
    }
  }

  // What has arrived lands in order, as far as receives are posted.
  void land(QueueId queue) {
    while (nic_.under_way(queue) > state(queue).on_wire && nic_.arrive(queue)) {
      clock_.at(nic_.now_s + paths_[state(queue).way_back].latency_s, {id(queue), kAcknowledged});
    }
  }

  void offer(QueueId queue) {
    const RankId rank = program_.queue(queue).rank;
    state(queue).busy = true;
    state(queue).offered_s = nic_.now_s;
    state(queue).bytes = head_bytes(queue);
    const OpId op = head(queue).op;
    if (op.valid()) nic_.times[op.value].ready_s = nic_.now_s;
    Ports& ports = ports_[is_large(state(queue).bytes)];
    ports.waiting[rank.value].push_back(queue);
    ports.changed.push_back(rank);
  }

  // Rivals for a port go by operation, as in the event engine; handshakes and credits come last.
  OpId message_id(QueueId queue) const {
    const OpId op = head(queue).op;
    return op.valid() ? op : OpId(schedule_.op_count() + queue.value);
  }

  void choose(Ports& ports, RankId rank) {
    auto& waiting = ports.waiting[rank.value];
    if (ports.taken[rank.value] || waiting.empty()) return;
    const auto key = [&](QueueId queue) {
      std::uint64_t first = 0;
      if (timing_.egress == Egress::kLeastSlack) first = head(queue).latest;
      if (timing_.egress == Egress::kRoundRobin) first = queue.value - ports.served[rank.value] - 1;
      return std::tuple(first, state(queue).offered_s, message_id(queue));
    };
    const auto best = std::min_element(waiting.begin(), waiting.end(),
                                       [&](QueueId a, QueueId b) { return key(a) < key(b); });
    const QueueId queue = *best;
    waiting.erase(best);
    ports.taken[rank.value] = true;
    ports.served[rank.value] = queue.value;
    const OpId message = message_id(queue);
    const bool waited = state(queue).offered_s < nic_.now_s;
    state(queue).behind = waited ? ports.last[rank.value] : OpId::none();
    ports.last[rank.value] = message;
    queue_of_[message.value] = queue;
    const RankId target = program_.queue(program_.queue(queue).peer).rank;
    ports.arbiter.join(nic_.now_s, message, nic_of(rank), nic_of(target), state(queue).bytes == 0);
  }

  void transmit(Ports& ports, const machine::PortArbiter::Start& start) {
    const QueueId queue = queue_of_[start.op.value];
    State& s = state(queue);
    const OpId op = head(queue).op;
    nic_.send(queue);
    if (op.valid()) {
      sched::OpTimes& t = nic_.times[op.value];
      t.issued_s = t.ready_s;  // the NIC has had it since then
      // One that waited for both ports waited for the other end's last: it asks for that one only
      // once it has its own.
      const OpId behind = start.behind.valid() ? start.behind : s.behind;
      const bool waited = behind.valid() && t.ready_s < nic_.now_s;
      if (waited && behind.value < schedule_.op_count()) t.cause = behind;
    }
    s.began_s = nic_.now_s;
    ++s.on_wire;
    if (s.bytes == 0) {
      ports.arbiter.free_in(start.dst);
      free_out_after_gap(queue);
      clock_.at(nic_.now_s, {id(queue), kSent});
    } else if (!is_large(s.bytes)) {
      clock_.at(paths_.sent_s(nic_.now_s, s.way, s.bytes), {id(queue), kSent});
    } else {
      clock_.transmit(nic_.now_s, s.way, s.bytes, id(queue));
    }
  }

  void sent(QueueId queue) {
    State& s = state(queue);
    if (s.bytes != 0) {
      const Queue& q = program_.queue(queue);
      ports_[is_large(s.bytes)].arbiter.free_in(nic_of(program_.queue(q.peer).rank));
      free_out_after_gap(queue);
    }
    clock_.at(nic_.now_s + paths_[s.way].latency_s, {id(queue), kArrived});
    s.busy = false;
    nic_.woken().push_back(queue);
  }

  // The out-port is held for the gap at least, counted from the message's start.
  void free_out_after_gap(QueueId queue) {
    const RankId rank = program_.queue(queue).rank;
    const double free_s = state(queue).began_s + gap_s_;
    const bool large = is_large(state(queue).bytes);
    if (free_s < nic_.now_s + kInstant_s) {
      free_out(rank, large);
    } else {
      clock_.at(free_s, {id(rank), large ? kLargeOutFree : kSmallOutFree});
    }
  }

  void free_out(RankId rank, bool large) {
    Ports& ports = ports_[large];
    ports.arbiter.free_out(nic_.now_s, nic_of(rank));
    ports.taken[rank.value] = false;
    ports.changed.push_back(rank);
  }

  const QueueProgram& program_;
  const sched::Schedule& schedule_;
  const machine::Platform& platform_;
  const NicTiming& timing_;
  const MemoryMap memory_;
  NicQueues nic_;
  const machine::Paths& paths_;
  machine::DrivenClock& clock_;
  const double gap_s_;
  const double entry_s_;
  std::vector<State> queues_;
  std::vector<QueueId> queue_of_;  // by message id
  std::array<Ports, 2> ports_;     // small, large
};

constexpr base::EnumNames<Egress, 3> kEgressNames = {"fifo", "round-robin", "least-slack"};

}  // namespace

std::string_view name(Egress egress) { return kEgressNames[egress]; }

std::optional<Egress> egress_named(std::string_view text) { return kEgressNames.find(text); }

Emulation emulate_timed(const QueueProgram& program, const machine::Setting& setting,
                        const MessageGraph& graph, const NicTiming& timing, const NicClock& clock) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Platform& platform = setting.platform;
  if (platform.nic != machine::NicDiscipline::kSerial) {
    throw Unsupported("offload: NICs that share their ports fairly; expected nic=serial");
  }
  if (platform.node.is_shared()) {
    throw Unsupported("offload: nodes of several ranks; expected ranks_per_node=1");
  }
  if (platform.node.own_in_memory) {
    throw Unsupported("offload: own messages through memory; expected own_messages=nic");
  }
  if (platform.node.rails.are_several()) {
    throw Unsupported("offload: hosts of several NICs; expected rails=1");
  }
  if (platform.node.qp_lock.count() > 0) {
    throw Unsupported("offload: posts that take a lock; expected a platform without qp_lock");
  }
  machine::require_no_switches(platform, "offload");
  machine::require_fixed_ways(platform, "offload");
  machine::require_no_congestion(platform, "offload");
  if (platform.ack_bytes != 0) {
    throw Unsupported(
        "offload: acknowledgements that use the ports; expected a platform without ack");
  }
  if (!setting.delays.failures.empty()) {
    throw Unsupported("offload: a delay plan with failures; expected delays only");
  }
  const machine::Paths paths(setting);
  Emulation result = unpack(clock.drive(paths, [&](machine::DrivenClock& time) {
    return std::make_unique<TimedRun>(program, schedule, graph, platform, paths, timing, time);
  }));
  result.trace.schedule = schedule.digest();
  result.trace.platform = platform.spec();
  result.trace.delays = setting.delays.text();
  result.trace.engine = clock.engine;
  result.trace.title = schedule.title();
  fill_in(schedule, graph, result.trace);
  return result;
}

}  // namespace slackline::offload
