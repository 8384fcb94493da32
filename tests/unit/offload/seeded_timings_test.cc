// Many timings at once against the queues themselves, one event at a time.
#include "tests/offload_timings/seeded_timings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "offload/check_queues.h"
#include "offload/compile_queues.h"
#include "offload/emulate.h"
#include "offload/nic_queues.h"
#include "sched/compile.h"

namespace slackline::offload {
namespace {

using sched::RankId;

constexpr float kNever = -1;

// Carries the queues out, each thing taking as long as the course says.
class OneByOne {
 public:
  OneByOne(const QueueProgram& program, const sched::Schedule& schedule, const MessageGraph& graph,
           const SeededTimings::Course& course)
      : program_(program),
        course_(course),
        memory_(program, schedule),
        nic_(program, schedule, graph, memory_),
        lines_(program.queues().size()),
        entry_end(program.entries().size(), kNever),
        landed(program.entries().size(), kNever),
        acknowledged(program.entries().size(), kNever) {}

  void run() {
    for (std::uint32_t r = 0; r < program_.rank_count(); ++r) push(course_.start[r], kStart, r);
    while (!events_.empty()) {
      const auto [time, what, subject] = events_.top();
      events_.pop();
      now_ = time;
      handle(what, subject);
      for (std::size_t i = 0; i < nic_.woken().size(); ++i) look_at(nic_.woken()[i]);
      nic_.woken().clear();
    }
    nic_.finish();
  }
  const std::vector<std::string>& faults() const { return nic_.faults(); }

 private:
  enum What { kStart, kEntry, kWay, kBack };
  struct Line {
    bool entry_busy = false, way_busy = false, way_over = false, back_busy = false;
    std::vector<std::uint32_t> sent;  // entries, by place in the program
    std::size_t landed = 0, acknowledged = 0;
  };

  void push(float time, What what, std::uint32_t subject) { events_.emplace(time, what, subject); }
  std::uint32_t head(QueueId q) const { return program_.queue(q).first + nic_.head(q); }

  void handle(What what, std::uint32_t subject) {
    if (what == kStart) return nic_.start(RankId(subject));
    const QueueId queue(subject);
    Line& line = lines_[subject];
    switch (what) {
      case kEntry: {
        const std::uint32_t at = head(queue);
        entry_end[at] = now_;
        line.entry_busy = false;
        if (nic_.next(queue) == NicQueues::Next::kMessage) {
          nic_.send(queue);
          line.sent.push_back(at);
          begin_way(queue);
        } else {
          nic_.do_local(queue);
        }
        break;
      }
      case kWay:
        line.way_over = true;
        land(queue);
        break;
      case kBack:
        nic_.acknowledge(queue);
        acknowledged[line.sent[line.acknowledged++]] = now_;
        line.back_busy = false;
        begin_back(queue);
        break;
      case kStart:
        break;
    }
    look_at(queue);
  }

  void look_at(QueueId queue) {
    const Queue& q = program_.queue(queue);
    if (q.kind == QueueKind::kReceive) return land(q.peer);
    Line& line = lines_[queue.value];
    if (line.entry_busy || nic_.next(queue) == NicQueues::Next::kNothing) return;
    line.entry_busy = true;
    push(now_ + course_.entry_takes[head(queue)], kEntry, queue.value);
  }

  void begin_way(QueueId queue) {
    Line& line = lines_[queue.value];
    if (line.way_busy || line.landed == line.sent.size()) return;
    line.way_busy = true;
    push(now_ + course_.way_takes[line.sent[line.landed]], kWay, queue.value);
  }

  void land(QueueId queue) {
    Line& line = lines_[queue.value];
    const QueueId peer = program_.queue(queue).peer;
    const std::uint32_t receive = head(peer);
    if (!line.way_over || !nic_.arrive(queue)) return;
    line.way_busy = line.way_over = false;
    landed[line.sent[line.landed++]] = now_;
    landed[receive] = now_;
    begin_way(queue);
    begin_back(queue);
  }

  void begin_back(QueueId queue) {
    Line& line = lines_[queue.value];
    if (line.back_busy || line.acknowledged == line.landed) return;
    line.back_busy = true;
    push(now_ + course_.back_takes[line.sent[line.acknowledged]], kBack, queue.value);
  }

  const QueueProgram& program_;
  const SeededTimings::Course& course_;
  const MemoryMap memory_;
  NicQueues nic_;
  std::vector<Line> lines_;
  float now_ = 0;
  using Event = std::tuple<float, What, std::uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;

 public:
  std::vector<float> entry_end, landed, acknowledged;
};

QueueProgram compiled(const sched::Schedule& schedule, Mode mode, Readiness readiness,
                      std::uint32_t depth = 1u << 15) {
  QueueOptions options;
  options.mode = mode;
  options.readiness = readiness;
  options.window = 2;
  options.limits.queue_depth = depth;
  return compile_queues(schedule, options);
}

constexpr std::pair<Mode, Readiness> kWays[] = {
    {Mode::kSqWait, Readiness::kHandshake}, {Mode::kSqWait, Readiness::kWindow},
    {Mode::kSqWait, Readiness::kNone},      {Mode::kMqEnable, Readiness::kHandshake},
    {Mode::kMqEnable, Readiness::kWindow},  {Mode::kMqEnable, Readiness::kNone},
    {Mode::kRdmcMq, Readiness::kNone},
};

TEST(SeededTimings, AreThoseOfTheQueuesOneByOne) {
  for (const char* spec :
       {"chain:ranks=2,bytes=16,block=16", "binomial-pipeline:ranks=7,bytes=77,block=16",
        "binomial-tree:ranks=9,bytes=40,block=16,lower=put", "hybrid:ranks=8,bytes=64,block=16",
        "circulant:ranks=6,bytes=80,block=16,root=2", "double-tree:ranks=6,bytes=64,block=16",
        "scatter-allgather:ranks=5,bytes=90,block=16",
        "binomial-pipeline:ranks=4,bytes=48,block=16,order=lockstep,messages=3"}) {
    const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
    const MessageGraph graph(schedule);
    for (const auto& [mode, readiness] : kWays) {
      for (const std::uint32_t depth : {8u, 1u << 15}) {  // queues that go on in others, and not
        const QueueProgram program = compiled(schedule, mode, readiness, depth);
        SeededTimings timings(program, schedule, graph);
        ASSERT_TRUE(timings.ends());
        ASSERT_GT(timings.events(), 3 * graph.messages().size());
        EXPECT_EQ(timings.first_unsound(0, 64), std::nullopt);
        for (const std::uint64_t seed : {0u, 1u, 2u, 3u, 17u, 1006u, 1007u}) {
          const SeededTimings::Course course = timings.course(seed);
          OneByOne queues(program, schedule, graph, course);
          queues.run();
          ASSERT_TRUE(queues.faults().empty())
              << fmt::format("{}, {}, {}, depth {}, seed {}: {}", spec, name(mode), name(readiness),
                             depth, seed, queues.faults().front());
          for (std::uint32_t i = 0; i < program.queues().size(); ++i) {
            const Queue& q = program.queues()[i];
            for (std::uint32_t e = 0; e < q.count; ++e) {
              const std::uint32_t at = q.first + e;
              const std::string what =
                  fmt::format("{}, {}, seed {}", spec, describe(program, QueueId(i), e), seed);
              if (q.kind != QueueKind::kReceive) {
                ASSERT_EQ(queues.entry_end[at], course.entry_end[at]) << what;
              }
              if (q.kind == QueueKind::kReceive || is_message(program.entries()[at].kind)) {
                ASSERT_EQ(queues.landed[at], course.landed[at]) << what;
              }
              if (is_message(program.entries()[at].kind)) {
                ASSERT_EQ(queues.acknowledged[at], course.acknowledged[at]) << what;
              }
            }
          }
        }
      }
    }
  }
}

// Two queue pairs do not keep each other's order: who takes over a channel waits for the one
// before.
TEST(SeededTimings, KeepTheOrderOfSplitChannels) {
  for (const char* spec :
       {"binomial-tree:ranks=9,bytes=40,block=16,lower=put",
        "binomial-tree:ranks=6,bytes=160,block=16", "chain:ranks=4,bytes=160,block=16"}) {
    const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
    const MessageGraph graph(schedule);
    for (const auto& [mode, readiness] : kWays) {
      for (const std::uint32_t depth : {5u, 8u, 11u}) {
        const QueueProgram program = compiled(schedule, mode, readiness, depth);
        NicLimits limits;
        limits.queue_depth = depth;
        const auto found = check_queues(program, schedule, graph, {limits, 5});
        ASSERT_TRUE(found.empty()) << spec << ", " << name(mode) << ": " << found.front().message;
        Emulator emulator(program, schedule, graph);
        for (std::uint64_t seed = 0; seed < 40; ++seed) ASSERT_TRUE(emulator.is_sound(seed));
        SeededTimings timings(program, schedule, graph);
        ASSERT_TRUE(timings.ends());
        EXPECT_EQ(timings.first_unsound(0, 500), std::nullopt) << spec << ", " << name(mode);
      }
    }
  }
}

TEST(SeededTimings, DifferByLengthsThatDifferByKind) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("binomial-pipeline:ranks=6,bytes=640,block=16"));
  const MessageGraph graph(schedule);
  const QueueProgram program = compiled(schedule, Mode::kMqEnable, Readiness::kHandshake);
  SeededTimings timings(program, schedule, graph);
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    const SeededTimings::Course course = timings.course(seed);
    const SeededTimings::Course again = timings.course(seed);
    EXPECT_EQ(course.entry_end, again.entry_end);
    EXPECT_NE(course.entry_end, timings.course(seed + 4).entry_end);
    float least = 1e9f, most = 0;
    for (std::uint32_t i = 0; i < program.queues().size(); ++i) {
      const Queue& q = program.queues()[i];
      if (q.kind == QueueKind::kReceive) continue;
      for (std::uint32_t e = q.first; e < q.first + q.count; ++e) {
        least = std::min(least, course.entry_takes[e]);
        most = std::max(most, course.entry_takes[e]);
      }
    }
    EXPECT_GE(least, 1);
    switch (static_cast<Lengths>(seed % 4)) {
      case Lengths::kNear:
        EXPECT_LT(most, 16);
        EXPECT_GT(most, 8);
        break;
      case Lengths::kFar:
        EXPECT_GT(most, 1000);
        EXPECT_LT(most, 65536);
        break;
      case Lengths::kQueue:
        EXPECT_TRUE(most < 16 || most >= 4096);
        break;
      case Lengths::kStarve:
        EXPECT_GE(most, 512);
        EXPECT_LT(least, 256);
        break;
    }
  }
}

// Waits without which a message goes before its rank holds it, or before its receive is posted.
TEST(SeededTimings, ShowWhatLacksAWait) {
  std::size_t mutants = 0, seeded = 0;
  for (const char* spec :
       {"chain:ranks=4,bytes=64,block=16", "binomial-pipeline:ranks=8,bytes=64,block=16",
        "scatter-allgather:ranks=4,bytes=64,block=16"}) {
    const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
    const MessageGraph graph(schedule);
    for (const auto& [mode, readiness] : kWays) {
      if (mode == Mode::kRdmcMq) continue;  // its order says more than bytes need
      const QueueProgram program = compiled(schedule, mode, readiness);
      for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
        const Queue& queue = program.queues()[q];
        for (std::uint32_t e = 0; e < queue.count; ++e) {
          if (program.entries(queue)[e].kind != EntryKind::kWait) continue;
          QueueProgramBuilder builder(program);
          auto& entries = builder.entries(QueueId(q));
          entries.erase(entries.begin() + e);
          const QueueProgram mutant = builder.build();
          bool early = false;
          for (const QueueDiagnostic& found : check_queues(mutant, schedule, graph)) {
            early = early || found.code == QueueCode::kHold ||
                    (found.code == QueueCode::kReady && queue.purpose != Purpose::kCredit);
          }
          if (!early) continue;
          ++mutants;
          SeededTimings timings(mutant, schedule, graph);
          ASSERT_TRUE(timings.ends());
          const bool shown = timings.first_unsound(0, 512).has_value();
          seeded += shown;
          // Some the schedule's other messages make up for: the proof knows what a rank can know by
          // itself. What any interleaving shows, these timings show.
          Emulator emulator(mutant, schedule, graph);
          for (std::uint64_t seed = 0; seed < 200 && !shown; ++seed) {
            ASSERT_TRUE(emulator.is_sound(seed))
                << fmt::format("{}, {}, {}, {}: {}", spec, name(mode), name(readiness),
                               describe(program, QueueId(q), e),
                               emulator.run(static_cast<Timing>(seed % 4), seed).faults.front());
          }
        }
      }
    }
  }
  EXPECT_GT(mutants, 200u);
  EXPECT_GT(seeded, mutants * 95 / 100);
}

TEST(SeededTimings, SayWhatNeverEnds) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("binomial-pipeline:ranks=4,bytes=64,block=16"));
  const MessageGraph graph(schedule);
  for (const auto& [mode, readiness] : kWays) {
    const QueueProgram program = compiled(schedule, mode, readiness);
    for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
      const Queue& queue = program.queues()[q];
      if (queue.kind == QueueKind::kReceive || queue.purpose == Purpose::kCollect) continue;
      // Without its last entry: an enable, a message, or a message of readiness.
      QueueProgramBuilder builder(program);
      builder.entries(QueueId(q)).pop_back();
      const QueueProgram mutant = builder.build();
      if (mode == Mode::kRdmcMq && queue.purpose == Purpose::kOrder) continue;  // ends with waits
      if (queue.purpose == Purpose::kData) {
        EXPECT_THROW(SeededTimings(mutant, schedule, graph), InputError);
        continue;
      }
      EXPECT_FALSE(SeededTimings(mutant, schedule, graph).ends())
          << name(mode) << ", " << name(readiness) << ", " << describe(program, QueueId(q));
    }
  }
  // Each waits for the other.
  const QueueProgram program = compiled(schedule, Mode::kSqWait, Readiness::kHandshake);
  QueueProgramBuilder builder(program);
  for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
    auto& entries = builder.entries(QueueId(q));
    for (Entry& entry : entries) {
      if (entry.kind == EntryKind::kWait) ++entry.count;
    }
  }
  EXPECT_FALSE(SeededTimings(builder.build(), schedule, graph).ends());
}

TEST(SeededTimings, RefuseWhatDependsOnWhoIsFaster) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("binomial-pipeline:ranks=4,bytes=64,block=16"));
  const MessageGraph graph(schedule);
  const QueueProgram program = compiled(schedule, Mode::kSqWait, Readiness::kHandshake);
  QueueProgramBuilder builder(program);
  std::vector<CqId> first(program.rank_count());
  for (Queue& queue : builder.queues()) {
    if (queue.kind != QueueKind::kReceive || queue.purpose != Purpose::kData) continue;
    CqId& cq = first[queue.rank.value];
    if (!cq.valid()) cq = queue.cq;
    queue.cq = cq;
  }
  EXPECT_THROW(SeededTimings(builder.build(), schedule, graph), InputError);
}

}  // namespace
}  // namespace slackline::offload
