// Data structures hold what their operations should leave, in whatever order these come; and the
// checks that say so notice defects.
#include "sched/workloads/structures/structure_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "sched/verify.h"
#include "tests/support/structure_case.h"
#include "tests/support/structure_interpreter.h"

namespace slackline {
namespace {

using sched::Breach;
using sched::Finding;
using sched::StructureProgram;
using testing::first_of;
using testing::interpret;
using testing::Interpreted;
using testing::memory_in;
using testing::structure_of;

std::vector<Finding> check(const StructureProgram& program, const Interpreted& ran) {
  return sched::check_structure(program, ran.trace, memory_in(ran.memory));
}

bool has(const std::vector<Finding>& found, Breach breach) {
  return std::any_of(found.begin(), found.end(),
                     [&](const Finding& f) { return f.breach == breach; });
}

TEST(Structures, HoldWhatTheirOperationsLeave) {
  for (const std::string& spec : testing::structure_specs()) {
    const StructureProgram program = structure_of(spec);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Interpreted ran = interpret(program.schedule, seed);
      EXPECT_EQ(first_of(check(program, ran)), "") << spec << ", order " << seed;
    }
  }
}

TEST(Structures, CallsAndLocalQueuesAreProved) {
  for (const std::string& spec : testing::structure_specs()) {
    const bool fixed =
        spec.find("via=am") != std::string::npos || spec.find("level=cl") != std::string::npos;
    if (!fixed) continue;
    const sched::Diagnostics found = sched::verify(structure_of(spec).schedule);
    EXPECT_TRUE(found.empty()) << spec << ": " << found.front().message;
  }
}

// Every order in which a defect strikes is found out.
void expect_noticed(const std::string& spec, const testing::Defects& defects,
                    std::vector<Breach> any_of) {
  const StructureProgram program = structure_of(spec);
  int struck = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Interpreted ran = interpret(program.schedule, seed, defects);
    if (ran.hits == 0) continue;
    ++struck;
    const std::vector<Finding> found = check(program, ran);
    EXPECT_TRUE(std::any_of(any_of.begin(), any_of.end(),
                            [&](Breach breach) { return has(found, breach); }))
        << spec << ", order " << seed << ": " << first_of(found);
  }
  EXPECT_GT(struck, 10) << spec;
}

TEST(StructureDefects, ALostWrite) {
  for (const int nth : {0, 3, 11}) {
    testing::Defects lost;
    lost.lost_put = nth;
    expect_noticed("hash-table:ranks=4,operations=6,op=insert", lost, {Breach::kLost});
    expect_noticed("hash-table:ranks=4,operations=6,op=insert,level=cw,load=1", lost,
                   {Breach::kLost});
    expect_noticed("queue:ranks=4,operations=6,op=push", lost, {Breach::kLost});
    expect_noticed("queue:ranks=4,operations=6,level=cw", lost, {Breach::kLost});
    expect_noticed("queue:ranks=4,operations=6,op=push,level=checksum", lost, {Breach::kLost});
    expect_noticed("queue:ranks=4,operations=16,phases=1,slots=4,queues=one", lost,
                   {Breach::kWrong, Breach::kTwice});
  }
}

TEST(StructureDefects, AWriteOfWhichOnlyTheFirstWordArrives) {
  for (const int nth : {0, 5}) {
    testing::Defects torn;
    torn.torn_put = nth;
    expect_noticed("hash-table:ranks=4,operations=6,op=insert,entry=24", torn, {Breach::kTorn});
    expect_noticed("hash-table:ranks=4,operations=6,level=cw,entry=64,targets=any", torn,
                   {Breach::kTorn});
    expect_noticed("queue:ranks=4,operations=6,op=push,entry=16", torn, {Breach::kTorn});
    expect_noticed("queue:ranks=4,operations=6,op=push,level=checksum,entry=16", torn,
                   {Breach::kTorn});
    // Where places are used again only pops tell.
    expect_noticed("queue:ranks=4,operations=16,phases=1,slots=4,queues=one,entry=40", torn,
                   {Breach::kTorn});
  }
}

TEST(StructureDefects, ASwapThatLies) {
  testing::Defects lies;
  lies.lying_swaps = true;
  expect_noticed("hash-table:ranks=4,operations=6,op=insert,load=1", lies, {Breach::kLost});
  expect_noticed("hash-table:ranks=4,operations=6,op=insert,level=cw,load=1", lies,
                 {Breach::kLost});
  expect_noticed("queue:ranks=4,operations=6,op=push,queues=one", lies, {Breach::kPointer});
  expect_noticed("queue:ranks=4,operations=6,op=pop,queues=one", lies, {Breach::kPointer});
}

TEST(StructureDefects, AHandlerThatRunsTwice) {
  testing::Defects twice;
  twice.repeated_sum = 2;
  for (const char* spec :
       {"hash-table:ranks=2,operations=6,via=am,op=insert", "queue:ranks=2,operations=6,via=am"}) {
    expect_noticed(spec, twice, {Breach::kRuns});
    // Memory alone shows it as well as the trace alone.
    const StructureProgram program = structure_of(spec);
    const Interpreted ran = interpret(program.schedule, 1, twice);
    EXPECT_TRUE(has(sched::check_contents(program, {}, memory_in(ran.memory)), Breach::kRuns));
    EXPECT_TRUE(has(sched::check_handlers(program, ran.trace), Breach::kRuns));
  }
}

// One byte behind the first word, of what stands there and of what was brought.
TEST(StructureDefects, EveryByteOfAnEntryCounts) {
  for (const char* spec : {"hash-table:ranks=2,operations=5,clients=1,entry=40,sizes=drawn",
                           "hash-table:ranks=2,operations=5,clients=1,entry=24,via=am",
                           "queue:ranks=2,operations=5,clients=1,entry=24",
                           "queue:ranks=2,operations=5,entry=24,level=cl",
                           "queue:ranks=2,operations=5,clients=1,entry=32,sizes=drawn,via=am",
                           "queue:ranks=2,operations=5,clients=1,entry=16,level=checksum"}) {
    const StructureProgram program = structure_of(spec);
    for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
      const sched::StructureOp& op = program.ops[i];
      const bool write = sched::is_write(op.access);
      const auto& part = program.parts[(write ? op.target : op.rank).value];
      Interpreted ran = interpret(program.schedule, 3);
      std::vector<std::byte>& bytes = ran.memory[(write ? part.entries : part.landing).value];
      // Where the first word of the entry stands, whoever chose the slot.
      const std::uint64_t stride = write ? program.slot_bytes() : program.landing_bytes();
      std::uint64_t at = write ? 0 : op.index * stride;
      std::uint64_t word = 0;
      const auto read = [&] { std::memcpy(&word, bytes.data() + at, 8); };
      for (read(); write && word != op.entry(); read()) at += stride;
      if (write || op.value.valid()) {
        if (op.bytes > 8) {
          bytes[at + op.bytes - 1] ^= std::byte{1};
          EXPECT_TRUE(has(check(program, ran), Breach::kTorn)) << spec << ", operation " << i;
          bytes[at + op.bytes - 1] ^= std::byte{1};
        }
        if (write && op.bytes < program.options.entry) {  // nor may anything stand behind it
          bytes[at + op.bytes] ^= std::byte{1};
          EXPECT_TRUE(has(check(program, ran), Breach::kTorn)) << spec << ", operation " << i;
        }
      } else {
        bytes[at + 8] ^= std::byte{1};  // a pop that takes what comes, which has two words at least
        const bool short_one = program.options.sizes == sched::EntrySizes::kDrawn;
        EXPECT_TRUE(short_one || has(check(program, ran), Breach::kTorn)) << spec;
      }
    }
  }
}

// The run, and a place to change it.
struct Corrupted {
  explicit Corrupted(const std::string& spec)
      : program(structure_of(spec)), ran(interpret(program.schedule, 7)) {}
  std::uint64_t& word(sched::BufferId buffer, std::uint64_t i) {
    return reinterpret_cast<std::uint64_t*>(ran.memory[buffer.value].data())[i];
  }
  std::vector<Finding> found() const { return check(program, ran); }

  StructureProgram program;
  Interpreted ran;
};

// The first slot of some part with an entry, and the first without.
struct Places {
  std::uint32_t rank = 0;
  std::uint64_t full = 0;
  std::uint64_t empty = 0;
};
Places places_of(Corrupted& c) {
  for (std::uint32_t r = 0; r < c.program.parts.size(); ++r) {
    Places places{r, c.program.slots, c.program.slots};
    for (std::uint64_t s = c.program.slots; s-- > 0;) {
      (c.word(c.program.parts[r].entries, s) != 0 ? places.full : places.empty) = s;
    }
    if (places.full < c.program.slots && places.empty < c.program.slots) return places;
  }
  return {};
}

TEST(StructureDefects, WhatATableMayNotHold) {
  const std::string spec = "hash-table:ranks=4,operations=6,op=insert,load=0.3";
  {
    Corrupted c(spec);
    const Places p = places_of(c);
    c.word(c.program.parts[p.rank].entries, p.empty) =
        c.word(c.program.parts[p.rank].entries, p.full);
    EXPECT_TRUE(has(c.found(), Breach::kTwice));
  }
  {
    Corrupted c(spec);
    const Places p = places_of(c);
    c.word(c.program.parts[p.rank].entries, p.empty) = 12345;
    EXPECT_TRUE(has(c.found(), Breach::kForeign));
  }
  {
    Corrupted c(spec);
    const Places p = places_of(c);
    c.word(c.program.parts[p.rank].flags, p.full) |= sched::kWriting;
    EXPECT_TRUE(has(c.found(), Breach::kFlag));
  }
  {
    Corrupted c(spec);
    const Places p = places_of(c);
    c.word(c.program.parts[p.rank].flags, p.empty) = 1u << sched::kFirstReadBit;
    EXPECT_TRUE(has(c.found(), Breach::kFlag));
  }
}

// An entry moved as far from its home as the part is wide, past a free bucket.
TEST(StructureDefects, AnEntryThatProbingDoesNotReach) {
  Corrupted c("hash-table:ranks=2,operations=4,clients=1,op=insert,slots=64");
  const sched::StructureOp& op = c.program.ops.front();
  const sched::StructurePart& part = c.program.parts[op.target.value];
  std::uint64_t at = op.slot;
  while (c.word(part.entries, at) != op.entry()) at = (at + 1) % 64;
  const std::uint64_t away = (op.slot + 63) % 64;
  ASSERT_EQ(c.word(part.entries, away), 0u);
  std::swap(c.word(part.entries, at), c.word(part.entries, away));
  std::swap(c.word(part.flags, at), c.word(part.flags, away));
  EXPECT_TRUE(has(c.found(), Breach::kUnreachable));
  EXPECT_FALSE(has(c.found(), Breach::kLost));
}

TEST(StructureDefects, WhatAQueueMayNotHold) {
  const std::string spec = "queue:ranks=2,operations=5,clients=1,op=push";
  const auto ring = [](const Corrupted& c) { return c.program.parts[0].entries; };
  {
    Corrupted c(spec);
    std::swap(c.word(ring(c), 1), c.word(ring(c), 3));
    EXPECT_TRUE(has(c.found(), Breach::kOrder));
    EXPECT_FALSE(has(c.found(), Breach::kLost));
  }
  {
    Corrupted c(spec);
    c.word(ring(c), 1) = c.word(ring(c), 2);
    EXPECT_TRUE(has(c.found(), Breach::kTwice));
    EXPECT_TRUE(has(c.found(), Breach::kLost));
  }
  {
    Corrupted c(spec);
    c.word(ring(c), 4) = 99;
    EXPECT_TRUE(has(c.found(), Breach::kForeign));
  }
  for (std::uint64_t word = 0; word < sched::kQueueWords; ++word) {
    Corrupted c(spec);
    ++c.word(c.program.parts[0].control, word);
    EXPECT_TRUE(has(c.found(), Breach::kPointer)) << word;
  }
  {
    Corrupted c("queue:ranks=2,operations=5,clients=1,op=push,level=checksum");
    c.word(ring(c), 3) ^= 4;  // the second word of the second place
    EXPECT_TRUE(has(c.found(), Breach::kWrong));
  }
}

TEST(StructureDefects, WhatReadsMayNotBring) {
  for (const char* spec : {"hash-table:ranks=2,operations=5,clients=1,op=find",
                           "queue:ranks=2,operations=5,clients=1,op=pop",
                           "queue:ranks=2,operations=5,clients=1,op=pop,level=cl",
                           "hash-table:ranks=2,operations=5,clients=1,op=find,via=am"}) {
    Corrupted c(spec);
    c.word(c.program.parts[1].landing, 0) ^= 1;
    EXPECT_TRUE(has(c.found(), Breach::kWrong)) << spec;
  }
  Corrupted c("queue:ranks=2,operations=5,clients=1,op=pop");
  c.word(c.program.parts[1].landing, 2) = c.word(c.program.parts[1].landing, 1);
  EXPECT_TRUE(has(c.found(), Breach::kTwice));
}

TEST(StructureDefects, HandlersOutOfOrderOrNotRun) {
  const std::string spec = "queue:ranks=2,operations=4,clients=1,op=push,via=am";
  Corrupted c(spec);
  const std::uint32_t first = c.program.ops[0].handler_first.value + 1;
  const std::uint32_t second = c.program.ops[1].handler_first.value + 1;
  std::swap(c.ran.trace.ops[first].issued_s, c.ran.trace.ops[second].issued_s);
  EXPECT_TRUE(has(c.found(), Breach::kOrder));
  Corrupted never(spec);
  never.ran.trace.ops[first].issued_s = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(has(never.found(), Breach::kRuns));
}

// A trace in which everything takes place at the same time breaks every promise but crw's.
TEST(StructureOverlaps, AreHeldAgainstTheLevel) {
  const auto found_in = [](const std::string& spec) {
    Corrupted c(spec);
    for (sched::OpTimes& times : c.ran.trace.ops) {
      times.ready_s = times.issued_s = 0;
      times.done_s = 1;
    }
    for (sched::StructureOp& op : c.program.ops) op.after = sched::OpId::none();
    return sched::check_overlaps(c.program, c.ran.trace);
  };
  EXPECT_THAT(first_of(found_in("hash-table:ranks=2,operations=2,level=cw")),
              ::testing::HasSubstr("which"));
  EXPECT_TRUE(has(found_in("hash-table:ranks=2,operations=2,level=cw"), Breach::kOverlap));
  EXPECT_TRUE(has(found_in("queue:ranks=3,operations=2,level=cw,queues=one"), Breach::kOverlap));
  EXPECT_TRUE(found_in("hash-table:ranks=2,operations=2").empty());
  EXPECT_TRUE(found_in("hash-table:ranks=2,operations=2,level=cw,op=insert").empty());
  EXPECT_TRUE(found_in("hash-table:ranks=2,operations=2,level=cr,op=find").empty());
  EXPECT_TRUE(found_in("queue:ranks=2,operations=2,level=checksum").empty());
  EXPECT_TRUE(found_in("queue:ranks=2,operations=2,level=cl").empty());  // each its own
}

}  // namespace
}  // namespace slackline
