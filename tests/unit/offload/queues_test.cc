// Queue programs as data, as text, and as compiled: costs, limits, refusals, wraps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "offload/check_queues.h"
#include "offload/compile_queues.h"
#include "offload/completions.h"
#include "offload/costs.h"
#include "offload/emulate.h"
#include "offload/queue_dot.h"
#include "offload/queue_program.h"
#include "offload/queue_text.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::offload {
namespace {

using sched::Schedule;

Schedule schedule_of(const std::string& spec) { return sched::compile(sched::parse_spec(spec)); }

QueueOptions options_of(Mode mode) {
  QueueOptions options;
  options.mode = mode;
  options.readiness = default_readiness(mode);
  return options;
}

constexpr Mode kModes[] = {Mode::kSqWait, Mode::kMqEnable, Mode::kRdmcMq};

template <class Error>
std::string error_of(const auto& run) {
  return testing::error_of<Error>(run);
}

TEST(QueueText, ComesBackAsItWas) {
  for (const char* more : {"", ",lower=put", ",order=lockstep"}) {
    for (const Mode mode : kModes) {
      QueueOptions options = options_of(mode);
      options.cq_start = 7;
      options.queue_start = 1ull << 40;
      if (mode == Mode::kSqWait) options.readiness = Readiness::kWindow;
      const QueueProgram program = compile_queues(
          schedule_of(fmt::format("binomial-pipeline:ranks=5,bytes=100,block=16{}", more)),
          options);
      const std::string text = write_queues(program);
      const QueueProgram again = read_queues(text, "again");
      EXPECT_EQ(again, program);
      EXPECT_EQ(write_queues(again), text);
      EXPECT_EQ(again.title().substr(0, 18), "binomial-pipeline:");
      EXPECT_EQ(write_dot(again), write_dot(program));
    }
  }
}

TEST(QueueText, SaysWhatIsWrongAndWhere) {
  const std::string good = write_queues(
      compile_queues(schedule_of("chain:ranks=2,bytes=32,block=16"), options_of(Mode::kSqWait)));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return error_of<InputError>([&] { read_queues(text, "f"); });
  };
  EXPECT_EQ(with("slackline", "slackpipe").substr(0, 4), "f:1:");
  EXPECT_NE(with("queues 1", "queues 2").find("version 2"), std::string::npos);
  EXPECT_NE(with("mode sq-wait", "mode wait").find("f:5: 'wait'"), std::string::npos);
  EXPECT_NE(with("ranks 2", "ranks 0").find("f: queue program"), std::string::npos);
  EXPECT_NE(with("  wait", "  await").find("f:"), std::string::npos);
  EXPECT_NE(with("count 1", "count 2").find("f:2: the digest does not fit"), std::string::npos);
  EXPECT_NE(with("0[0+16]", "0[16+17]").find("behind the buffer"), std::string::npos);
  EXPECT_NE(with("peer 1", "peer 9").find("has no peer"), std::string::npos);
  for (std::size_t size = 0; size + 1 < good.size(); size += 7) {
    const std::string cut = good.substr(0, size);
    const std::string error = error_of<InputError>([&] { read_queues(cut, "f"); });
    EXPECT_EQ(error.substr(0, 1), "f") << size;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

// Whatever the text, only our own errors come out, and what is read survives being written.
TEST(QueueText, BearsAnyText) {
  const std::string good = write_queues(compile_queues(
      schedule_of("binomial-pipeline:ranks=3,bytes=40,block=16"), options_of(Mode::kMqEnable)));
  const std::string without_digest = good.substr(0, 19) + good.substr(good.find("schedule", 19));
  std::mt19937_64 draw(11);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = without_digest;
    for (std::size_t changes = draw() % 3 + 1; changes > 0; --changes) {
      const std::size_t at = draw() % text.size();
      switch (draw() % 3) {
        case 0:
          text[at] = static_cast<char>(draw() % 2 == 0 ? '0' + draw() % 10 : draw() % 128);
          break;
        case 1:
          text.erase(at, draw() % 20);
          break;
        default:
          text.insert(at, text.substr(draw() % text.size(), draw() % 20));
      }
    }
    try {
      const QueueProgram program = read_queues(text, "f");
      EXPECT_EQ(read_queues(write_queues(program)), program);
      ++read;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(read, 100);
}

// The figures published for 16 ranks and 256 blocks: the worst rank of each.
TEST(QueueCosts, AreThoseOfTheBinomialPipeline) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=16,bytes=256KiB,block=1KiB");
  const auto costs = [&](Mode mode) {
    return worst(costs_of(compile_queues(schedule, options_of(mode))));
  };
  const RankCosts sq = costs(Mode::kSqWait);
  EXPECT_EQ(std::tuple(sq.waits, sq.enables, sq.sends), std::tuple(257, 0, 259));
  const RankCosts mq = costs(Mode::kMqEnable);
  EXPECT_EQ(std::tuple(mq.waits, mq.enables, mq.sends), std::tuple(255, 259, 259));
  const RankCosts rdmc = costs(Mode::kRdmcMq);
  EXPECT_EQ(std::tuple(rdmc.waits, rdmc.enables, rdmc.sends, rdmc.management_depth),
            std::tuple(513, 513, 259, 1026));
  // One handshake per edge.
  EXPECT_EQ(sq.readiness_waits, 4u);
  EXPECT_EQ(sq.grants, 4u);
}

// What does not fit a queue goes on in another, or is refused.
TEST(QueueLimits, LongQueuesAreSplitOrRefused) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=8,bytes=4000,block=16");
  const MessageGraph graph(schedule);
  for (const Mode mode : kModes) {
    for (const Readiness readiness :
         {Readiness::kNone, Readiness::kHandshake, Readiness::kWindow}) {
      if (mode == Mode::kRdmcMq && readiness != Readiness::kNone) continue;
      QueueOptions options = options_of(mode);
      options.readiness = readiness;
      options.window = 2;
      options.limits.queue_depth = 32;
      const QueueProgram program = compile_queues(schedule, options);
      EXPECT_LE(worst(costs_of(program)).depth, 32u);
      const auto found = check_queues(program, schedule, graph, {options.limits, 5});
      EXPECT_TRUE(found.empty()) << name(mode) << ": " << found.front().message;
      Emulator emulator(program, schedule, graph);
      for (std::uint64_t seed = 0; seed < 40; ++seed) EXPECT_TRUE(emulator.is_sound(seed));

      options.split = false;
      const std::string refusal = error_of<Unsupported>([&] { compile_queues(schedule, options); });
      EXPECT_NE(refusal.find("splitting is off"), std::string::npos) << refusal;
      EXPECT_NE(refusal.find("op "), std::string::npos) << refusal;
      options.limits.queue_depth = 1u << 15;
      const QueueProgram whole = compile_queues(schedule, options);
      NicLimits shallow;
      shallow.queue_depth = 32;
      const auto deep = check_queues(whole, schedule, graph, {shallow, 5});
      ASSERT_FALSE(deep.empty());
      EXPECT_EQ(deep.front().code, QueueCode::kDepth);
    }
  }
}

TEST(QueueLimits, CapabilitiesAreAskedFor) {
  const Schedule schedule = schedule_of("chain:ranks=3,bytes=64,block=16");
  const MessageGraph graph(schedule);
  const QueueProgram program = compile_queues(schedule, options_of(Mode::kSqWait));
  NicLimits limits;
  limits.cross_channel = false;
  const auto codes = [&] {
    std::string all;
    for (const auto& found : check_queues(program, schedule, graph, {limits, 9})) {
      all += fmt::format("{} ", name(found.code));
    }
    return all;
  };
  EXPECT_EQ(codes(), "capability ");
  limits.cross_channel = true;
  limits.cq_depth = 2;
  EXPECT_EQ(codes(), "");
  limits.ignore_overrun = false;
  EXPECT_EQ(codes(), "depth depth ");
  limits = {};
  limits.message_bytes = 8;
  EXPECT_EQ(codes().substr(0, 12), "depth depth ");
  EXPECT_NE(error_of<Unsupported>([&] {
              QueueOptions options;
              options.limits = limits;
              compile_queues(schedule, options);
            }).find("(send, rank"),
            std::string::npos);
}

// The same program for the message after: every count goes on where this one leaves it.
QueueProgram following(const QueueProgram& program) {
  QueueProgramBuilder next(program);
  std::vector<std::uint64_t> completions(program.cqs().size(), 0);
  for (const Queue& q : program.queues()) {
    for (const Entry& entry : program.entries(q)) {
      if (completes(entry)) ++completions[q.cq.value];
    }
  }
  for (std::size_t c = 0; c < completions.size(); ++c) next.cqs()[c].start += completions[c];
  for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
    next.queue(QueueId(q)).start += program.queues()[q].count;
    for (Entry& entry : next.entries(QueueId(q))) {
      if (entry.kind == EntryKind::kWait) entry.count += completions[entry.target];
      if (is_enable(entry.kind)) entry.count += program.queues()[entry.target].count;
    }
  }
  return next.build();
}

// Messages back to back, while every counter of the hardware wraps.
TEST(QueueWraps, BackToBackMessagesGoOn) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=6,bytes=160,block=16");
  const MessageGraph graph(schedule);
  for (const Mode mode : kModes) {
    for (std::uint64_t before = 0; before < 30; ++before) {
      QueueOptions options = options_of(mode);
      options.queue_start = (5ull << 16) - before;
      options.cq_start = (3ull << 24) - before;
      QueueProgram program = compile_queues(schedule, options);
      for (int message = 0; message < 4; ++message) {
        const auto found = check_queues(program, schedule, graph);
        ASSERT_TRUE(found.empty()) << found.front().message;
        Emulator emulator(program, schedule, graph);
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
          ASSERT_TRUE(emulator.is_sound(seed))
              << name(mode) << ", " << before << " before the wrap";
        }
        program = following(program);
      }
    }
  }
}

// A wait more than half a wrap ahead is taken for met.
TEST(QueueWraps, TooFarAheadIsFound) {
  const Schedule schedule = schedule_of("chain:ranks=3,bytes=64,block=16");
  const MessageGraph graph(schedule);
  QueueProgramBuilder builder(compile_queues(schedule, options_of(Mode::kSqWait)));
  for (std::uint32_t q = 0; q < builder.queues().size(); ++q) {
    for (Entry& entry : builder.entries(QueueId(q))) {
      if (entry.kind == EntryKind::kWait && entry.op == sched::OpId::none() &&
          builder.queues()[q].purpose == Purpose::kData) {
        entry.count += 1u << 24;
      }
    }
  }
  const QueueProgram program = builder.build();
  bool counter = false;
  for (const auto& found : check_queues(program, schedule, graph)) {
    counter = counter || found.code == QueueCode::kCounter;
  }
  EXPECT_TRUE(counter);
}

// A receive queue's completions shared by several peers, waited for by count, relay blocks that are
// not there.
TEST(Emulator, SharedCompletionQueuesRelayWhatIsNotThere) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=8,bytes=512,block=16");
  const MessageGraph graph(schedule);
  const QueueProgram program = compile_queues(schedule, options_of(Mode::kMqEnable));
  QueueProgramBuilder builder(program);
  std::vector<CqId> shared(program.rank_count());
  for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
    Queue& queue = builder.queue(QueueId(q));
    if (queue.kind != QueueKind::kReceive || queue.purpose != Purpose::kData) continue;
    CqId& cq = shared[queue.rank.value];
    if (!cq.valid()) cq = queue.cq;
    queue.cq = cq;
  }
  // Waits count all receives that the schedule has come in by then.
  const QueueCompletions completions(program);
  for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
    const Queue& queue = program.queues()[q];
    for (std::uint32_t e = 0; e < queue.count; ++e) {
      Entry& entry = builder.entries(QueueId(q))[e];
      if (entry.kind != EntryKind::kWait) continue;
      const EntryRef from = completions.maker(CqId(entry.target), entry.count);
      const Queue& maker = program.queue(from.queue);
      if (maker.kind != QueueKind::kReceive || maker.purpose != Purpose::kData) continue;
      const std::uint32_t step = program.entries(maker)[from.entry].step;
      std::uint64_t count = 0;
      for (const Queue& other : program.queues()) {
        if (other.rank != queue.rank || other.kind != QueueKind::kReceive ||
            other.purpose != Purpose::kData) {
          continue;
        }
        for (const Entry& receive : program.entries(other)) count += receive.step <= step;
      }
      entry.target = shared[queue.rank.value].value;
      entry.count = count;
    }
  }
  const QueueProgram wrong = builder.build();
  const auto found = check_queues(wrong, schedule, graph);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().code, QueueCode::kProducer);
  Emulator emulator(wrong, schedule, graph);
  int unsound = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) unsound += emulator.is_sound(seed) ? 0 : 1;
  EXPECT_GT(unsound, 50);
}

// What a queue cannot do is refused by name.
TEST(QueueRefusals, NameTheOperation) {
  const auto refusal = [](const std::string& text) {
    const Schedule schedule = sched::read_text(text, "s");
    return error_of<Unsupported>([&] { compile_queues(schedule); });
  };
  const std::string head =
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 16\nbuffer 1 rank 1 bytes 16\n"
      "channel 0 from 0 to 1\nrank 0\n";
  const auto expect = [&](const std::string& ops, const std::string& named,
                          const std::string& reason) {
    const std::string found = refusal(head + ops);
    EXPECT_NE(found.find(named), std::string::npos) << found;
    EXPECT_NE(found.find(reason), std::string::npos) << found;
  };
  expect("  0 calc for 1us\n", "op 0 (calc, rank 0)", "does not compute");
  expect("  0 reduce reads 0[0+4B] 0[4+4B] writes 0[8+4B]\n", "op 0 (reduce", "needs a CPU");
  expect("  0 get on 0 reads 1[0+8B] writes 0[0+8B]\n", "op 0 (get", "no completion");
  expect("  0 fetch_add on 0 reads 1[0+8B] writes 1[0+8B] 0[0+8B] operand 1\n", "op 0 (fetch_add",
         "cannot branch");
  expect("  0 put on 0 reads 0[0+8B] writes 1[0+8B]\n", "op 0 (put", "immediate");
  EXPECT_NE(error_of<Unsupported>([] {
              compile_queues(schedule_of("chain:ranks=3,bytes=64,block=16,first-block=copy"));
            }).find("(copy, rank 1)"),
            std::string::npos);
  EXPECT_NE(error_of<Unsupported>([] {
              compile_queues(schedule_of("ring-buffer:ranks=3,bytes=64"));
            }).find("no completion"),
            std::string::npos);
  // Two receives into one place.
  expect(
      "  0 send on 0 reads 0[0+8B]\n  1 send on 0 reads 0[0+8B]\nrank 1\n"
      "  2 recv on 0 writes 1[0+8B]\n  3 recv on 0 writes 1[0+8B]\npre 0[0+8B] value 0\n",
      "op 3 (recv, rank 1)", "held back");
}

TEST(QueueOptions, AreChecked) {
  const Schedule schedule = schedule_of("chain:ranks=3,bytes=64,block=16");
  QueueOptions options;
  options.limits.queue_depth = 3;
  EXPECT_THROW(compile_queues(schedule, options), InputError);
  options = {};
  options.readiness = Readiness::kWindow;
  options.window = 0;
  EXPECT_THROW(compile_queues(schedule, options), InputError);
  options = {};
  options.mode = Mode::kRdmcMq;
  EXPECT_THROW(compile_queues(schedule, options), InputError);
}

TEST(Emulator, GivesATraceOfEveryOperation) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=8,bytes=160,block=16");
  const MessageGraph graph(schedule);
  const QueueProgram program = compile_queues(schedule);
  Emulator emulator(program, schedule, graph);
  for (const Timing timing :
       {Timing::kRandom, Timing::kPriority, Timing::kNewest, Timing::kStarve}) {
    const Emulation run = emulator.run(timing, 5);
    EXPECT_TRUE(run.sound());
    EXPECT_EQ(run.trace.schedule, schedule.digest());
    ASSERT_EQ(run.trace.ops.size(), schedule.op_count());
    for (const Message& m : graph.messages()) {
      EXPECT_LT(run.trace.ops[m.source.value].issued_s, run.trace.ops[m.receive.value].done_s);
      EXPECT_LT(run.trace.ops[m.receive.value].done_s, run.trace.ops[m.source.value].done_s);
    }
    EXPECT_EQ(digest_of(emulator.run(timing, 5).trace), digest_of(run.trace));
  }
}

}  // namespace
}  // namespace slackline::offload
