// How strong the proof of queue programs is: single defects, each made everywhere it can be, must
// all be found. What the emulator finds by itself is counted beside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "offload/check_queues.h"
#include "offload/compile_queues.h"
#include "offload/completions.h"
#include "offload/emulate.h"
#include "sched/compile.h"

namespace slackline::offload {
namespace {

constexpr std::uint64_t kTimings = 24;

struct Tally {
  std::size_t mutants = 0;
  std::size_t proof = 0;
  std::size_t emulator = 0;
};

class Subject {
 public:
  Subject(const std::string& spec, Mode mode, Readiness readiness, std::uint32_t window = 1,
          std::uint32_t depth = 1u << 15)
      : schedule(sched::compile(sched::parse_spec(spec))), graph(schedule), program([&] {
          QueueOptions options;
          options.mode = mode;
          options.readiness = readiness;
          options.window = window;
          options.limits.queue_depth = depth;
          return compile_queues(schedule, options);
        }()) {}

  // Makes one mutant and looks for it.
  void try_mutant(Tally& tally, const std::function<void(QueueProgramBuilder&)>& mutate,
                  const std::string& what) const {
    QueueProgramBuilder builder(program);
    mutate(builder);
    const QueueProgram mutant = builder.build();
    ASSERT_NE(mutant.digest(), program.digest()) << what;
    ++tally.mutants;
    const bool proof = !check_queues(mutant, schedule, graph).empty();
    EXPECT_TRUE(proof) << what;
    if (proof) ++tally.proof;
    Emulator emulator(mutant, schedule, graph);
    for (std::uint64_t seed = 0; seed < kTimings; ++seed) {
      if (emulator.is_sound(seed)) continue;
      ++tally.emulator;
      break;
    }
  }

  template <class Visit>
  void for_each_entry(Visit&& visit) const {
    for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
      for (std::uint32_t e = 0; e < program.queues()[q].count; ++e) {
        visit(QueueId(q), e, program.entries(program.queues()[q])[e]);
      }
    }
  }

  sched::Schedule schedule;
  MessageGraph graph;
  QueueProgram program;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const char* spec :
       {"binomial-pipeline:ranks=8,bytes=96,block=16",
        "binomial-pipeline:ranks=5,bytes=64,block=16", "binary-tree:ranks=6,bytes=48,block=16",
        "binomial-tree:ranks=6,bytes=48,block=16", "circulant:ranks=7,bytes=64,block=16",
        "scatter-allgather:ranks=4,bytes=64,block=16"}) {
    all.emplace_back(spec, Mode::kSqWait, Readiness::kHandshake);
    all.emplace_back(spec, Mode::kMqEnable, Readiness::kHandshake);
    all.emplace_back(spec, Mode::kSqWait, Readiness::kWindow, 1);
    all.emplace_back(spec, Mode::kMqEnable, Readiness::kWindow, 2);
    all.emplace_back(spec, Mode::kRdmcMq, Readiness::kNone);
  }
  // Channels that go on in a second queue pair.
  for (const char* spec : {"binomial-tree:ranks=5,bytes=80,block=16",
                           "binomial-pipeline:ranks=4,bytes=128,block=16"}) {
    all.emplace_back(spec, Mode::kSqWait, Readiness::kHandshake, 1, 8);
    all.emplace_back(spec, Mode::kMqEnable, Readiness::kHandshake, 1, 4);
  }
  return all;
}

class Mutants : public ::testing::Test {
 protected:
  void report(const char* kind) const {
    fmt::print("{}: {} mutants, the proof found {}, the emulator {}\n", kind, tally_.mutants,
               tally_.proof, tally_.emulator);
    EXPECT_GT(tally_.mutants, 20u);
  }
  Tally tally_;
};

TEST_F(Mutants, WaitOffByOne) {
  for (const Subject& subject : subjects()) {
    subject.for_each_entry([&](QueueId q, std::uint32_t e, const Entry& entry) {
      if (entry.kind != EntryKind::kWait) return;
      for (const int by : {-1, 1}) {
        subject.try_mutant(
            tally_,
            [&](QueueProgramBuilder& builder) {
              builder.entries(q)[e].count += static_cast<std::uint64_t>(std::int64_t{by});
            },
            fmt::format("{} {:+}", describe(subject.program, q, e), by));
      }
    });
  }
  report("a wait off by one");
}

TEST_F(Mutants, WaitDropped) {
  for (const Subject& subject : subjects()) {
    subject.for_each_entry([&](QueueId q, std::uint32_t e, const Entry& entry) {
      if (entry.kind != EntryKind::kWait) return;
      subject.try_mutant(
          tally_,
          [&](QueueProgramBuilder& builder) {
            builder.entries(q).erase(builder.entries(q).begin() + e);
          },
          describe(subject.program, q, e));
    });
  }
  report("a wait dropped");
}

TEST_F(Mutants, EnableDropped) {
  for (const Subject& subject : subjects()) {
    subject.for_each_entry([&](QueueId q, std::uint32_t e, const Entry& entry) {
      if (!is_enable(entry.kind)) return;
      subject.try_mutant(
          tally_,
          [&](QueueProgramBuilder& builder) {
            builder.entries(q).erase(builder.entries(q).begin() + e);
          },
          describe(subject.program, q, e));
    });
  }
  report("an enable dropped");
}

TEST_F(Mutants, EnableMoved) {
  for (const Subject& subject : subjects()) {
    subject.for_each_entry([&](QueueId q, std::uint32_t e, const Entry& entry) {
      if (!is_enable(entry.kind)) return;
      for (const std::uint32_t other : {e - 1, e + 1}) {
        if (other >= subject.program.queue(q).count) continue;
        subject.try_mutant(
            tally_,
            [&](QueueProgramBuilder& builder) {
              std::swap(builder.entries(q)[e], builder.entries(q)[other]);
            },
            fmt::format("{} with {}", describe(subject.program, q, e), other));
      }
    });
  }
  report("an enable moved by one place");
}

TEST_F(Mutants, CompletionQueuesMerged) {
  for (const Subject& subject : subjects()) {
    const QueueProgram& program = subject.program;
    const QueueCompletions completions(program);
    std::vector<char> waited(program.cqs().size(), 0);
    for (const Entry& entry : program.entries()) {
      if (entry.kind == EntryKind::kWait) waited[entry.target] = 1;
    }
    for (std::uint32_t a = 0; a < program.cqs().size(); ++a) {
      for (std::uint32_t b = a + 1; b < program.cqs().size(); ++b) {
        if (program.cqs()[a].rank != program.cqs()[b].rank) continue;
        if (!waited[a] || !waited[b] || completions.count(CqId(b)) == 0) continue;
        subject.try_mutant(
            tally_,
            [&](QueueProgramBuilder& builder) {
              for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
                Queue& queue = builder.queue(QueueId(q));
                if (queue.cq == CqId(b)) queue.cq = CqId(a);
                for (Entry& entry : builder.entries(QueueId(q))) {
                  if (entry.kind == EntryKind::kWait && entry.target == b) entry.target = a;
                }
              }
            },
            fmt::format("completion queues {} and {}", a, b));
      }
    }
  }
  report("completion queues merged");
}

TEST_F(Mutants, CreditBehindItsWait) {
  for (const Subject& subject : subjects()) {
    subject.for_each_entry([&](QueueId q, std::uint32_t e, const Entry& entry) {
      const Queue& queue = subject.program.queue(q);
      if (queue.purpose != Purpose::kCredit || entry.kind != EntryKind::kSend) return;
      if (e + 1 == queue.count) return;
      subject.try_mutant(
          tally_,
          [&](QueueProgramBuilder& builder) {
            std::swap(builder.entries(q)[e], builder.entries(q)[e + 1]);
          },
          describe(subject.program, q, e));
    });
  }
  report("a credit behind its wait");
}

TEST_F(Mutants, SignalOrMemoryChanged) {
  for (const Subject& subject : subjects()) {
    subject.for_each_entry([&](QueueId q, std::uint32_t e, const Entry& entry) {
      if (entry.signaled) {
        subject.try_mutant(
            tally_, [&](QueueProgramBuilder& b) { b.entries(q)[e].signaled = false; },
            describe(subject.program, q, e) + " unsignaled");
      }
      if (entry.op.valid() && entry.local.count != 0 && entry.local.first > 0) {
        subject.try_mutant(
            tally_,
            [&](QueueProgramBuilder& b) {
              sched::Slice piece = subject.program.slices(entry.local)[0];
              if (piece.offset == 0) return void(b.entries(q)[e].local = {});
              piece.offset -= 1;
              b.entries(q)[e].local = b.add_slices({&piece, 1});
            },
            describe(subject.program, q, e) + " elsewhere");
      }
    });
  }
  report("a signal or a piece of memory changed");
}

}  // namespace
}  // namespace slackline::offload
