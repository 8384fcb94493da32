// What the checks of data structures say, to the letter and of which operation, of runs whose
// memory or trace was changed in one place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sched/workloads/structures/structure_check.h"
#include "sched/workloads/structures/structure_words.h"
#include "sched/workloads/structures/structure_workload.h"
#include "tests/support/structure_case.h"
#include "tests/support/structure_interpreter.h"

namespace slackline {
namespace {

using sched::describe_entry;
using sched::Finding;
using sched::OpId;
using sched::RankId;
using sched::StructureOp;
using sched::StructurePart;
using Texts = std::vector<std::string>;

struct Structure {
  explicit Structure(const std::string& spec)
      : program(testing::structure_of(spec)), ran(testing::interpret(program.schedule, 7)) {}

  std::uint64_t& word(sched::BufferId buffer, std::uint64_t i) {
    return reinterpret_cast<std::uint64_t*>(ran.memory[buffer.value].data())[i];
  }
  const StructurePart& part(std::uint32_t rank) const { return program.parts[rank]; }
  // Of the contents alone; without the buffer `hidden`, as if it had not been kept.
  std::vector<Finding> contents(sched::BufferId hidden = sched::BufferId::none()) const {
    const sched::FinalMemory all = testing::memory_in(ran.memory);
    return sched::check_contents(program, ran.trace, [&](sched::BufferId id) {
      return id == hidden ? std::span<const std::byte>() : all(id);
    });
  }

  sched::StructureProgram program;
  testing::Interpreted ran;
};

Texts texts(const std::vector<Finding>& found) {
  Texts all;
  for (const Finding& f : found) all.push_back(fmt::format("{}: {}", name(f.breach), f.message));
  return all;
}

// An insert that stands at its home, with a free slot behind it.
struct Stands {
  const StructureOp* op = nullptr;
  sched::BufferId entries, flags;
  std::uint32_t rank = 0;
  std::uint64_t slot = 0;
  std::uint64_t free = 0;  // behind it
};
Stands at_home(Structure& run) {
  for (const StructureOp& op : run.program.ops) {
    const StructurePart& part = run.part(op.target.value);
    if (run.word(part.entries, op.slot) != op.entry()) continue;
    for (std::uint64_t free = op.slot + 1; free < run.program.slots; ++free) {
      if (run.word(part.entries, free) != 0) continue;
      return {&op, part.entries, part.flags, op.target.value, op.slot, free};
    }
  }
  return {};
}

const std::string kInserts = "hash-table:ranks=4,operations=6,op=insert,load=0.3";

TEST(TableFindings, AreToldSlotBySlot) {
  const auto flag = [](const Stands& s, std::uint64_t slot, const char* is, const char* expected) {
    return fmt::format("flag: the flag of rank {}'s slot {} is {}; expected {}", s.rank, slot, is,
                       expected);
  };
  {
    Structure run(kInserts);
    const Stands s = at_home(run);
    ASSERT_NE(s.op, nullptr);
    run.word(s.entries, s.free) = s.op->entry();
    const auto found = run.contents();
    EXPECT_EQ(texts(found), (Texts{fmt::format("twice: {} is in rank {}'s slot {}, a second time",
                                               describe_entry(s.op->entry()), s.rank, s.free),
                                   flag(s, s.free, "0x0", "0x1")}));
    EXPECT_EQ(found.front().op, s.op->first);
    EXPECT_EQ(found.back().op, OpId::none());
  }
  {
    Structure run(kInserts);
    const Stands s = at_home(run);
    run.word(s.entries, s.free) = 0x3039;
    const auto found = run.contents();
    EXPECT_EQ(texts(found),
              (Texts{fmt::format(
                  "foreign: key 0x00003039 is in rank {}'s slot {}, which nobody inserted there",
                  s.rank, s.free)}));
    EXPECT_EQ(found.front().op, OpId::none());
  }
  {
    Structure run(kInserts);
    const Stands s = at_home(run);
    run.word(s.flags, s.slot) |= sched::kWriting;
    EXPECT_EQ(texts(run.contents()), (Texts{flag(s, s.slot, "0x3", "0x1")}));
    // Flags that were not kept are not held against anything.
    EXPECT_EQ(texts(run.contents(s.flags)), Texts());
  }
  {
    Structure run(kInserts);
    const Stands s = at_home(run);
    run.word(s.entries, s.slot) = 0;
    const auto found = run.contents();
    EXPECT_EQ(texts(found), (Texts{flag(s, s.slot, "0x1", "0x0"),
                                   fmt::format("lost: {} is not in rank {}'s part",
                                               describe_entry(s.op->entry()), s.rank)}));
    EXPECT_EQ(found.back().op, s.op->first);
    // Nothing is said of a part that was not kept.
    EXPECT_EQ(texts(run.contents(s.entries)), Texts());
  }
}

// An insert that stands at its home, with free slots on both sides: nobody else's way passes it.
const StructureOp* alone(Structure& run) {
  const std::uint64_t slots = run.program.slots;
  for (const StructureOp& op : run.program.ops) {
    const sched::BufferId entries = run.part(op.target.value).entries;
    if (run.word(entries, op.slot) == op.entry() && run.word(entries, (op.slot + 1) % slots) == 0 &&
        run.word(entries, (op.slot + slots - 1) % slots) == 0) {
      return &op;
    }
  }
  return nullptr;
}

// Moved to the slot before its home, an entry is as far from it as can be.
TEST(TableFindings, AnEntryIsReachedFromItsHome) {
  const std::string spec = "hash-table:ranks=2,operations=4,clients=1,op=insert,slots=64";
  for (const std::uint64_t by : {63u, 1u}) {
    Structure run(spec);
    const StructureOp* op = alone(run);
    ASSERT_NE(op, nullptr);
    const StructurePart& part = run.part(op->target.value);
    const std::uint64_t away = (op->slot + by) % 64;
    std::swap(run.word(part.entries, op->slot), run.word(part.entries, away));
    std::swap(run.word(part.flags, op->slot), run.word(part.flags, away));
    const auto found = run.contents();
    EXPECT_EQ(texts(found),
              (Texts{fmt::format("unreachable: {} is in rank {}'s slot {}, but slot {} on the way "
                                 "from its home is free",
                                 describe_entry(op->entry()), op->target.value, away, op->slot)}));
    EXPECT_EQ(found.front().op, op->first);
    if (by != 1) continue;
    // A flag alone holds a slot: somebody writes there.
    run.word(part.flags, op->slot) = sched::kTaken;
    EXPECT_EQ(texts(run.contents()),
              (Texts{fmt::format("flag: the flag of rank {}'s slot {} is 0x1; expected 0x0",
                                 op->target.value, op->slot)}));
  }
}

TEST(TableFindings, WhatWasGivenIsNobodys) {
  Structure run("hash-table:ranks=2,operations=5,clients=1,op=find");
  const StructurePart* part = nullptr;
  std::uint32_t rank = 0;
  for (std::uint32_t r = 0; r < 2 && part == nullptr; ++r) {
    if (!run.part(r).given.empty()) part = &run.part(rank = r);
  }
  ASSERT_NE(part, nullptr);
  const auto& given = part->given.front();
  EXPECT_EQ(texts(run.contents()), Texts());
  run.word(part->entries, given.place) = 0;
  const auto found = run.contents();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(texts(found).back(), fmt::format("lost: {} is not in rank {}'s part",
                                             describe_entry(sched::entry_of(given.value)), rank));
  EXPECT_EQ(found.back().op, OpId::none());
}

TEST(TableFindings, FindsBringWhatTheyLookedFor) {
  Structure run("hash-table:ranks=2,operations=5,clients=1,op=find");
  const sched::BufferId landing = run.part(1).landing;
  const std::uint64_t was = run.word(landing, 2);
  run.word(landing, 2) ^= 0x10;
  const auto found = run.contents();
  const StructureOp& op = run.program.ops[2];
  EXPECT_EQ(texts(found), (Texts{fmt::format("wrong: rank 1's find (operation 2) of {} brought "
                                             "{:#x}",
                                             describe_entry(op.entry()), was ^ 0x10)}));
  EXPECT_EQ(found.front().op, op.first);
  // Where what landed was not kept, the trace says what was fetched; without that, nothing does.
  EXPECT_EQ(texts(run.contents(landing)), Texts());
  if (!run.ran.trace.results.empty()) {
    run.ran.trace.results[op.get.value] ^= 0x10;
    EXPECT_EQ(texts(run.contents(landing)).size(), 1u);
    run.ran.trace.results.clear();
  }
  EXPECT_EQ(texts(run.contents(landing)), Texts());
}

TEST(TableFindings, ByCallEveryEntryHasItsPlace) {
  Structure run("hash-table:ranks=2,operations=4,clients=1,via=am,op=insert");
  const StructureOp& op = run.program.ops.front();
  const StructurePart& part = run.part(op.target.value);
  std::uint64_t free = 0;
  while (run.word(part.entries, free) != 0) ++free;
  ASSERT_LT(free, run.program.slots);
  std::swap(run.word(part.entries, op.slot), run.word(part.entries, free));
  const auto found = run.contents();
  EXPECT_EQ(texts(found),
            (Texts{fmt::format("unreachable: {} is in rank {}'s slot {}, not at its place",
                               describe_entry(op.entry()), op.target.value, free)}));
  EXPECT_EQ(found.front().op, op.first);
}

// Each caller has a sum at each target, in the order of ranks.
TEST(CallFindings, EveryCallersSumIsHeld) {
  const std::string spec = "queue:ranks=4,operations=3,via=am,op=push,queues=one";
  Structure whole(spec);
  EXPECT_EQ(texts(whole.contents()), Texts());
  std::vector<std::uint32_t> callers;
  for (const StructureOp& op : whole.program.ops) callers.push_back(op.rank.value);
  std::sort(callers.begin(), callers.end());
  callers.erase(std::unique(callers.begin(), callers.end()), callers.end());
  const std::uint32_t target = whole.program.ops.front().target.value;
  for (std::uint32_t number = 0; number < callers.size(); ++number) {
    Structure run(spec);
    ++run.word(run.part(target).states, number);
    EXPECT_EQ(texts(run.contents()),
              (Texts{fmt::format("runs: the 3 calls of rank {} did not each run once at rank {}",
                                 callers[number], target)}));
    EXPECT_EQ(texts(run.contents(run.part(target).states)), Texts());
  }
}

const std::string kPushes = "queue:ranks=2,operations=5,clients=1,op=push";

TEST(QueueFindings, PointersCountWhatWasDone) {
  const char* const names[] = {"tail", "ready tail", "head", "ready head"};
  for (const auto& [spec, expected] :
       std::vector<std::pair<std::string, std::vector<std::uint64_t>>>{
           {kPushes, {5, 5, 0, 0}},
           {kPushes + ",level=cw", {5, 0, 0, 0}},
           {"queue:ranks=2,operations=5,clients=1,op=pop", {0, 0, 5, 5}},
           {"queue:ranks=2,operations=5,clients=1,op=pop,level=cr", {0, 0, 5, 0}}}) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      Structure run(spec);
      run.word(run.part(0).control, i) += 7;
      const auto found = run.contents();
      EXPECT_EQ(texts(found),
                (Texts{fmt::format("pointer: rank 0's queue: its {} is {}; expected {}", names[i],
                                   expected[i] + 7, expected[i])}))
          << spec;
      EXPECT_EQ(found.front().op, OpId::none());
      EXPECT_EQ(texts(run.contents(run.part(0).control)), Texts());
    }
  }
}

TEST(QueueFindings, PlacesAreToldInTheirOrder) {
  const auto key = [](const Structure& run, std::size_t op) {
    return describe_entry(run.program.ops[op].entry());
  };
  const std::string queue = "rank 0's queue: ";
  {
    Structure run(kPushes);
    std::swap(run.word(run.part(0).entries, 1), run.word(run.part(0).entries, 3));
    const auto found = run.contents();
    EXPECT_EQ(texts(found),
              (Texts{"order: " + queue + "rank 1's push 2 stands behind its push 3",
                     "order: " + queue + "rank 1's push 1 stands behind its push 2"}));
    EXPECT_EQ(found.front().op, run.program.ops[2].first);
  }
  {
    Structure run(kPushes);
    run.word(run.part(0).entries, 1) = run.word(run.part(0).entries, 2);
    const auto found = run.contents();
    EXPECT_EQ(texts(found),
              (Texts{"twice: " + queue + key(run, 2) + " is there twice, again in place 2",
                     "lost: " + queue + key(run, 1) + " is not there"}));
    EXPECT_EQ(found.front().op, run.program.ops[2].first);
    EXPECT_EQ(found.back().op, run.program.ops[1].first);
    EXPECT_EQ(texts(run.contents(run.part(0).entries)), Texts());
  }
  {
    Structure run(kPushes);
    run.word(run.part(0).entries, 4) = 99;
    const auto found = run.contents();
    EXPECT_EQ(texts(found), (Texts{"foreign: " + queue +
                                       "place 4 holds key 0x00000063, which nobody pushed there",
                                   "lost: " + queue + key(run, 4) + " is not there"}));
    EXPECT_EQ(found.front().op, OpId::none());
  }
  if (Structure run(kPushes + ",slots=8"); run.program.slots == 8) {
    // Behind all that was pushed.
    std::swap(run.word(run.part(0).entries, 4), run.word(run.part(0).entries, 5));
    EXPECT_EQ(texts(run.contents()), (Texts{"foreign: " + queue + "place 5 holds " + key(run, 4) +
                                                ", which nobody pushed there",
                                            "lost: " + queue + key(run, 4) + " is not there"}));
  } else {
    ADD_FAILURE() << run.program.slots;
  }
  {
    Structure run(kPushes + ",level=checksum");
    run.word(run.part(0).entries, 3) ^= 4;  // the second word of the second place
    const auto found = run.contents();
    EXPECT_EQ(texts(found),
              (Texts{"wrong: " + queue + "the checksum of " + key(run, 1) + " does not fit"}));
    EXPECT_EQ(found.front().op, run.program.ops[1].first);
  }
}

// Where places are known, an element elsewhere is lost, and only what nobody pushed is foreign.
TEST(QueueFindings, ByCallEveryElementHasItsPlace) {
  const std::string spec = "queue:ranks=2,operations=4,clients=1,via=am,op=push";
  const auto key = [](const Structure& run, std::size_t op) {
    return describe_entry(run.program.ops[op].entry());
  };
  Structure swapped(spec);
  std::swap(swapped.word(swapped.part(0).entries, swapped.program.ops[1].slot),
            swapped.word(swapped.part(0).entries, swapped.program.ops[2].slot));
  Texts found = texts(swapped.contents());
  Texts expected = {"lost: rank 0's queue: " + key(swapped, 1) + " is not there",
                    "lost: rank 0's queue: " + key(swapped, 2) + " is not there"};
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
  Structure foreign(spec);
  const std::uint64_t place = foreign.program.ops[3].slot;
  foreign.word(foreign.part(0).entries, place) = 99;
  EXPECT_EQ(texts(foreign.contents()),
            (Texts{fmt::format("foreign: rank 0's queue: place {} holds key 0x00000063, which "
                               "nobody pushed",
                               place),
                   "lost: rank 0's queue: " + key(foreign, 3) + " is not there"}));
  foreign.word(foreign.part(0).entries, place) = 0;
  EXPECT_EQ(texts(foreign.contents()),
            (Texts{"lost: rank 0's queue: " + key(foreign, 3) + " is not there"}));
}

TEST(QueueFindings, PopsBringWhatIsInTheirPlace) {
  const std::string spec = "queue:ranks=2,operations=5,clients=1,op=pop";
  const std::string queue = "rank 0's queue: ";
  {
    Structure run(spec);
    const sched::BufferId landing = run.part(1).landing;
    run.word(landing, 3) ^= 1ull << 40;
    const auto found = run.contents();
    EXPECT_EQ(texts(found), (Texts{fmt::format("wrong: {}rank 1's pop (operation 3) brought {:#x}, "
                                               "which is no element of it",
                                               queue, run.word(landing, 3))}));
    EXPECT_EQ(found.front().op, run.program.ops[3].first);
  }
  {
    Structure run(spec);
    const sched::BufferId landing = run.part(1).landing;
    run.word(landing, 2) = run.word(landing, 1);
    const auto found = run.contents();
    Texts expected = {"twice: " + queue + describe_entry(run.word(landing, 1)) +
                      " was popped twice"};
    if (!run.ran.trace.results.empty()) {
      const std::uint64_t place = run.ran.trace.results[run.program.ops[2].ticket.value];
      expected.push_back(
          fmt::format("wrong: {}rank 1's pop (operation 2) did not bring what is in its place {}",
                      queue, place));
    }
    EXPECT_EQ(texts(found), expected);
    for (const Finding& f : found) EXPECT_EQ(f.op, run.program.ops[2].first);
  }
}

TEST(CallFindings, HandlersRunOnceAndInOrder) {
  const std::string spec = "queue:ranks=2,operations=4,clients=1,op=push,via=am";
  const auto handlers = [](const Structure& run) {
    return sched::check_handlers(run.program, run.ran.trace);
  };
  Structure whole(spec);
  EXPECT_EQ(texts(handlers(whole)), Texts());
  const auto at = [&](std::size_t op, std::uint32_t more) {
    return whole.program.ops[op].handler_first.value + more;
  };
  const auto of = [&](int op) {
    return fmt::format("the handler of rank 1's push (operation {}, {})", op,
                       sched::name(whole.program.ops[0].level));
  };
  {
    Structure run(spec);
    std::swap(run.ran.trace.ops[at(0, 1)].issued_s, run.ran.trace.ops[at(1, 1)].issued_s);
    const auto found = handlers(run);
    EXPECT_EQ(texts(found),
              (Texts{"order: " + of(1) + " ran at rank 0 before that of an earlier call"}));
    EXPECT_EQ(found.front().op, OpId(at(1, 1)));
  }
  {
    Structure run(spec);
    run.ran.trace.ops[at(2, 0)].attempts = 2;
    run.ran.trace.ops[run.program.ops[3].handler_last.value].attempts = 0;
    const auto found = handlers(run);
    EXPECT_EQ(texts(found), (Texts{"runs: " + of(2) + " ran 2 times at rank 0; expected once",
                                   "runs: " + of(3) + " ran 0 times at rank 0; expected once"}));
    EXPECT_EQ(found.front().op, OpId(at(2, 0)));
    EXPECT_EQ(found.back().op, run.program.ops[3].handler_last);
  }
  {
    Structure run(spec);
    run.ran.trace.ops[at(3, 1)].issued_s = std::numeric_limits<double>::infinity();
    EXPECT_EQ(texts(handlers(run)),
              (Texts{"runs: " + of(3) + " ran 0 times at rank 0; expected once"}));
  }
}

// An insert and a find of one table, the find beginning `overlap_s` before the insert ends.
Structure that_overlap(double overlap_s) {
  Structure run("hash-table:ranks=2,operations=2,level=cw");
  sched::StructureProgram& program = run.program;
  const auto write = std::find_if(program.ops.begin(), program.ops.end(),
                                  [](const StructureOp& op) { return is_write(op.access); });
  const auto read = std::find_if(program.ops.begin(), program.ops.end(),
                                 [](const StructureOp& op) { return !is_write(op.access); });
  std::vector<StructureOp> two = {*write, *read};
  two[0].after = OpId::none();
  // What the read begins after: any operation that neither ends with.
  OpId other(0);
  while (other == two[0].last || other == two[1].last) ++other.value;
  two[1].after = other;
  run.ran.trace.ops[two[0].last.value].done_s = 1e-6;
  run.ran.trace.ops[other.value].done_s = 1e-6 - overlap_s;
  run.ran.trace.ops[two[1].last.value].done_s = 2e-6;
  program.ops = two;
  return run;
}

// Of different ranks, up to the errors of both of their clocks; a rank has one clock.
TEST(StructureOverlaps, AreOfMoreThanTheClocksLeaveOpen) {
  const auto overlaps = [](double overlap_s, bool same_rank) {
    Structure run = that_overlap(overlap_s);
    run.program.ops[0].rank = RankId(0);
    run.program.ops[1].rank = RankId(same_rank ? 0 : 1);
    const auto clock_error = [](RankId rank, double) { return rank == RankId(0) ? 1e-9 : 3e-9; };
    return sched::check_overlaps(run.program, run.ran.trace, 9, clock_error).size();
  };
  EXPECT_EQ(overlaps(3.9e-9, false), 0u);
  EXPECT_EQ(overlaps(4.1e-9, false), 1u);
  EXPECT_EQ(overlaps(2e-12, true), 1u);
}

TEST(StructureOverlaps, AreOfMoreThanAnInstant) {
  const auto overlaps = [](double overlap_s, std::size_t most = 9) {
    const Structure run = that_overlap(overlap_s);
    return sched::check_overlaps(run.program, run.ran.trace, most);
  };
  EXPECT_TRUE(overlaps(0).empty());
  EXPECT_TRUE(overlaps(0.5e-12).empty());
  EXPECT_TRUE(overlaps(-1e-9).empty());
  const auto found = overlaps(2e-12);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found.front().message.find("'s find (operation "), std::string::npos);
  EXPECT_NE(found.front().message.find(") overlaps rank "), std::string::npos);
  EXPECT_NE(found.front().message.find(", which cr forbids"), std::string::npos)
      << found.front().message;
  EXPECT_TRUE(overlaps(2e-12, 0).empty());
}

// Every pair that the promise of either forbids, in the order of their begins: found one by one.
Texts overlaps_by_pairs(const sched::StructureProgram& program, const sched::Trace& trace) {
  const auto begin_s = [&](const StructureOp& op) { return trace.ops[op.after.value].done_s; };
  const auto end_s = [&](const StructureOp& op) { return trace.ops[op.last.value].done_s; };
  const auto forbids = [](const StructureOp& one, const StructureOp& other) {
    return (one.level == sched::Promise::kWrite && !is_write(other.access)) ||
           (one.level == sched::Promise::kRead && is_write(other.access)) ||
           (one.level == sched::Promise::kLocal && one.rank != other.rank);
  };
  std::vector<const StructureOp*> sorted;
  for (const StructureOp& op : program.ops) sorted.push_back(&op);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const StructureOp* a, const StructureOp* b) {
    return begin_s(*a) < begin_s(*b);
  });
  Texts found;
  for (std::size_t later = 0; later < sorted.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const StructureOp& one = *sorted[later];
      const StructureOp& other = *sorted[earlier];
      if (!(end_s(other) > begin_s(one) + 1e-12)) continue;
      if (!forbids(one, other) && !forbids(other, one)) continue;
      found.push_back(fmt::format("{} {} {}", one.rank.value, one.index, other.index));
    }
  }
  return found;
}

TEST(StructureOverlaps, AreTheSameAsFoundPairByPair) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  std::size_t all = 0;
  Structure whole("hash-table:ranks=4,operations=6,op=insert");
  const sched::Schedule elsewhere = std::move(whole.program.schedule);  // as where a run has it
  for (int round = 0; round < 300; ++round) {
    Structure run = whole;
    // Mostly one promise, so that most operations are allowed and a few are not.
    const auto usual = static_cast<sched::Promise>(below(4));
    std::uint32_t slot = 0;
    for (StructureOp& op : run.program.ops) {
      op.level = below(8) == 0 ? static_cast<sched::Promise>(below(5)) : usual;
      op.access = below(4) == 0 ? sched::StructureAccess::kPop : sched::StructureAccess::kPush;
      op.index = slot;
      op.target = RankId(below(8) == 0 ? 1 : 0);
      op.after = OpId(slot++);
      op.last = OpId(slot++);
      const double begin_s = below(30);
      run.ran.trace.ops[op.after.value].done_s = begin_s;
      run.ran.trace.ops[op.last.value].done_s =
          below(16) == 0 ? std::numeric_limits<double>::infinity() : begin_s + below(12);
    }
    Texts told;
    Texts expected;
    for (const std::uint32_t structure : {0u, 1u}) {
      Structure part = run;
      std::erase_if(part.program.ops,
                    [&](const StructureOp& op) { return op.structure() != structure; });
      for (const std::string& pair : overlaps_by_pairs(part.program, part.ran.trace)) {
        expected.push_back(pair);
      }
    }
    for (const Finding& found : sched::check_overlaps(run.program, run.ran.trace, 10'000)) {
      unsigned rank = 0;
      unsigned index = 0;
      unsigned other_rank = 0;
      unsigned other = 0;
      ASSERT_EQ(std::sscanf(found.message.c_str(),
                            "rank %u's %*[a-z] (operation %u, %*[a-z]) overlaps rank %u's %*[a-z] "
                            "(operation %u,",
                            &rank, &index, &other_rank, &other),
                4)
          << found.message;
      told.push_back(fmt::format("{} {} {}", rank, index, other));
    }
    ASSERT_EQ(told, expected) << "round " << round;
    all += told.size();
  }
  EXPECT_GT(all, 1000u);
}

TEST(Findings, HaveTheirNames) {
  const char* const names[] = {"lost",    "twice", "foreign", "unreachable", "flag",
                               "pointer", "order", "wrong",   "runs",        "overlap"};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(name(static_cast<sched::Breach>(i)), names[i]);
}

}  // namespace
}  // namespace slackline
