#include "offload/emulate.h"

#include <algorithm>

#include "machine/draw.h"
#include "sched/event_graph.h"

namespace slackline::offload {
namespace {

using sched::RankId;

constexpr std::uint32_t kAbsent = 0xffffffffu;

}  // namespace

// Everything that is possible now. Actors are numbered: three per queue (its head, its first
// message under way, its first acknowledgement), then one per rank (its start).
class Emulator::Choice {
 public:
  Choice(const QueueProgram& program, Timing timing, std::uint64_t seed)
      : program_(program),
        timing_(timing),
        seed_(seed),
        stream_(machine::draw_stream(0, 0)),
        queues_(static_cast<std::uint32_t>(program.queues().size())),
        at_(3 * std::size_t{queues_} + program.rank_count(), kAbsent) {
    if (timing == Timing::kPriority) {
      priority_.resize(at_.size());
      for (std::uint64_t& priority : priority_) priority = draw() >> 1;
    }
    starved_ = RankId(static_cast<std::uint32_t>(draw() % program.rank_count()));
  }

  static std::uint32_t head(QueueId q) { return 3 * q.value; }
  static std::uint32_t wire(QueueId q) { return 3 * q.value + 1; }
  static std::uint32_t back(QueueId q) { return 3 * q.value + 2; }
  std::uint32_t start(RankId r) const { return 3 * queues_ + r.value; }

  void set(std::uint32_t actor, bool possible) {
    if (possible == (at_[actor] != kAbsent)) return;
    if (possible) {
      at_[actor] = static_cast<std::uint32_t>(actors_.size());
      actors_.push_back(actor);
      return;
    }
    if (timing_ == Timing::kNewest) {  // keeps the order
      actors_.erase(actors_.begin() + at_[actor]);
      for (std::size_t i = at_[actor]; i < actors_.size(); ++i) {
        at_[actors_[i]] = static_cast<std::uint32_t>(i);
      }
    } else {
      actors_[at_[actor]] = actors_.back();
      at_[actors_.back()] = at_[actor];
      actors_.pop_back();
    }
    at_[actor] = kAbsent;
  }

  bool empty() const { return actors_.empty(); }

  std::uint32_t pick() {
    switch (timing_) {
      case Timing::kNewest:
        return actors_.back();
      case Timing::kPriority: {
        std::uint32_t best = actors_.front();
        for (const std::uint32_t actor : actors_) {
          if (priority_[actor] > priority_[best]) best = actor;
        }
        // Now and then the first becomes the last.
        if (draw() % 32 == 0) priority_[best] = lowest_ == 0 ? 0 : --lowest_;
        return best;
      }
      case Timing::kStarve:
        for (int attempt = 0; attempt < 8; ++attempt) {
          const std::uint32_t actor = any();
          if (rank_of(actor) != starved_) return actor;
        }
        return any();
      case Timing::kRandom:
        break;
    }
    return any();
  }

 private:
  std::uint64_t draw() { return machine::draw_bits(stream_, seed_, draws_++); }
  std::uint32_t any() { return actors_[draw() % actors_.size()]; }
  RankId rank_of(std::uint32_t actor) const {
    return actor < 3 * queues_ ? program_.queues()[actor / 3].rank : RankId(actor - 3 * queues_);
  }

  const QueueProgram& program_;
  const Timing timing_;
  const std::uint64_t seed_;
  const std::uint64_t stream_;
  const std::uint32_t queues_;
  std::uint64_t draws_ = 0;
  RankId starved_;
  std::vector<std::uint32_t> actors_;
  std::vector<std::uint32_t> at_;  // by actor, its place in `actors_`
  std::vector<std::uint64_t> priority_;
  std::uint64_t lowest_ = std::uint64_t{1} << 32;
};

Emulator::Emulator(const QueueProgram& program, const sched::Schedule& schedule,
                   const MessageGraph& graph)
    : program_(program),
      schedule_(schedule),
      graph_(graph),
      memory_(program, schedule),
      queues_(program, schedule, graph, memory_) {}

void Emulator::run_events(Timing timing, std::uint64_t seed) {
  queues_.reset();
  Choice choice(program_, timing, seed);
  for (std::uint32_t r = 0; r < program_.rank_count(); ++r)
    choice.set(choice.start(RankId(r)), true);
  const std::uint32_t ends = 3 * static_cast<std::uint32_t>(program_.queues().size());
  while (!choice.empty()) {
    const std::uint32_t actor = choice.pick();
    if (actor >= ends) {
      queues_.start(RankId(actor - ends));
      choice.set(actor, false);
    } else {
      const QueueId queue(actor / 3);
      if (actor == Choice::head(queue)) {
        const bool sends = queues_.next(queue) == NicQueues::Next::kMessage;
        sends ? queues_.send(queue) : queues_.do_local(queue);
        if (sends) choice.set(Choice::wire(queue), true);
        choice.set(actor, queues_.next(queue) != NicQueues::Next::kNothing);
      } else if (actor == Choice::wire(queue)) {
        const bool landed = queues_.arrive(queue);
        if (landed) choice.set(Choice::back(queue), true);
        choice.set(actor, landed && queues_.under_way(queue) != 0);
      } else {
        queues_.acknowledge(queue);
        choice.set(actor, queues_.to_acknowledge(queue) != 0);
      }
    }
    for (std::size_t i = 0; i < queues_.woken().size(); ++i) {
      const QueueId queue = queues_.woken()[i];
      const Queue& q = program_.queue(queue);
      if (q.kind == QueueKind::kReceive) {
        choice.set(Choice::wire(q.peer), queues_.under_way(q.peer) != 0);
      } else {
        choice.set(Choice::head(queue), queues_.next(queue) != NicQueues::Next::kNothing);
      }
    }
    queues_.woken().clear();
    queues_.now_s += 1;
  }
  queues_.finish();
}

bool Emulator::is_sound(std::uint64_t seed) {
  run_events(static_cast<Timing>(seed % 4), seed);
  return queues_.faults().empty();
}

Emulation Emulator::run(Timing timing, std::uint64_t seed) {
  run_events(timing, seed);
  Emulation result;
  result.faults = queues_.faults();
  result.not_ready = queues_.not_ready();
  result.stuck = queues_.stuck();
  result.trace.schedule = schedule_.digest();
  result.trace.engine = "offload:abstract";
  result.trace.seed = seed;
  result.trace.title = schedule_.title();
  result.trace.ops = queues_.times;
  fill_in(schedule_, graph_, result.trace);
  return result;
}

void fill_in(const sched::Schedule& schedule, const MessageGraph& graph, sched::Trace& trace) {
  const auto events = sched::topological_order(schedule);
  if (!events) return;
  const sched::ChannelOrder order = sched::channel_order(schedule);
  for (const sched::EventId event : *events) {
    if (graph.of(event.op()).valid()) continue;
    double time_s = 0;
    sched::OpTimes& t = trace.ops[event.op().value];
    sched::for_each_arc_into(schedule, order, event, true, [&](sched::EventId from) {
      const sched::OpTimes& before = trace.ops[from.op().value];
      const double there_s = from.is_done() ? before.done_s : before.issued_s;
      if (there_s >= time_s && from.op() != event.op()) t.cause = from.op();
      time_s = std::max(time_s, there_s);
    });
    if (event.is_done()) {
      t.done_s = time_s;
    } else {
      t.ready_s = t.issued_s = t.wire_s = time_s;
    }
  }
}

}  // namespace slackline::offload
