// What entries of several words, operations at home and claims by compare_swap cost, by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/advice/structure_cost.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "machine/platform.h"
#include "tests/support/structure_case.h"
#include "tests/unit/analysis/idle_call.h"

namespace slackline {
namespace {

using sched::RankId;
using sched::StructureAccess;
using testing::structure_of;

// A byte takes 1 ns on the wire, and an eighth of that in memory.
const std::string kStar =
    "star:rate=8Gbps,latency=700ns,o_post=300ns,o_complete=200ns,gap=0,interleave=0,"
    "atomic_service=250ns,copy_rate=64Gbps";
const std::string kOwnInMemory =
    kStar + ",own_messages=memory,memory_latency=100ns,cpu_atomic=30ns";

// When the client's n-th operation is done, from when the one before is.
double took_s(const std::string& spec, const std::string& platform, std::uint32_t nth = 0) {
  const sched::StructureProgram program = structure_of(spec);
  const machine::Platform on = machine::parse_platform_spec(platform);
  const sched::Trace trace = analysis::run_events({program.schedule, on});
  const sched::Trace flows = analysis::run_flows({program.schedule, on});
  EXPECT_NEAR(flows.makespan_s(), trace.makespan_s(), 1e-9 * trace.makespan_s()) << spec;
  const sched::StructureOp& op = program.ops[nth];
  const double begin_s = op.after.valid() ? trace.ops[op.after.value].done_s : 0;
  return trace.ops[op.last.value].done_s - begin_s;
}

std::string with_entry(const std::string& spec, std::uint64_t bytes) {
  return spec + ",entry=" + std::to_string(bytes);
}

// A round trip of a message alone: post, both ways, completion.
constexpr double kTrip_s = 300e-9 + 700e-9 + 700e-9 + 200e-9;
constexpr double kSwap_s = kTrip_s + 250e-9 + 8e-9;

TEST(StructureEntries, CostTheirBytesOnTheWireOnce) {
  for (const std::uint64_t bytes : {8u, 16u, 64u, 4096u, 1048576u}) {
    const double wire_s = 1e-9 * static_cast<double>(bytes);
    const auto expect = [&](const std::string& spec, double expected_s) {
      const double took = took_s(with_entry(spec, bytes), kStar);
      EXPECT_NEAR(took, expected_s, 1e-9 * expected_s) << spec << ", " << bytes << " B";
    };
    const std::string table = "hash-table:ranks=2,clients=1";
    const std::string queue = "queue:ranks=2,clients=1";
    expect(table + ",op=insert,level=cw", kSwap_s + kTrip_s + wire_s);
    expect(table + ",op=insert", 2 * kSwap_s + kTrip_s + wire_s);
    expect(table + ",op=find,level=cr", kTrip_s + wire_s);
    expect(table + ",op=find", 2 * kSwap_s + kTrip_s + wire_s);
    expect(queue + ",op=push,level=cw", kSwap_s + kTrip_s + wire_s);
    expect(queue + ",op=push,level=checksum", kSwap_s + kTrip_s + wire_s + 8e-9);
    expect(queue + ",op=pop,level=checksum", kSwap_s + kTrip_s + 8e-9 + kTrip_s + wire_s);
    expect(queue + ",op=push,level=cl,handler=1us", 1e-6 + wire_s / 8);
    // By call: ticket and mark beside it, a handler, copies of the entry and of the ticket.
    const double ways_s = 2 * (300e-9 + 700e-9 + 200e-9) + 400e-9 + 1e-9;
    expect(table + ",op=insert,via=am,handler=400ns", ways_s + wire_s + 16e-9 + wire_s / 8 + 8e-9);
    expect(table + ",op=find,via=am,handler=400ns", ways_s + 24e-9 + wire_s + 8e-9);
    expect(queue + ",op=pop,via=am,handler=400ns", ways_s + 16e-9 + wire_s + 8e-9);
  }
}

TEST(StructureEntries, AreWhatTheCostModelSays) {
  const machine::Platform platform = machine::parse_platform_spec(kStar);
  const machine::Wiring wiring(platform, 2);
  for (const std::uint64_t bytes : {8u, 24u, 2048u}) {
    const analysis::ComponentCosts costs =
        analysis::idle_costs(platform, wiring, RankId(1), RankId(0), sched::Time{400'000}, bytes);
    for (const analysis::CostRow& row : analysis::cost_rows()) {
      const bool table =
          row.access == StructureAccess::kInsert || row.access == StructureAccess::kFind;
      const std::string spec =
          std::string(table ? "hash-table" : "queue") +
          ":ranks=2,clients=1,handler=400ns,op=" + std::string(name(row.access)) +
          ",level=" + std::string(sched::name(row.level));
      const double took = took_s(with_entry(spec, bytes), kStar);
      EXPECT_NEAR(took, row.price_s(costs), 1e-9 * took) << spec << ", " << bytes << " B";
    }
    for (const auto& [access, spec] : {std::pair(StructureAccess::kInsert, "hash-table"),
                                       {StructureAccess::kFind, "hash-table"},
                                       {StructureAccess::kPush, "queue"},
                                       {StructureAccess::kPop, "queue"}}) {
      const std::string text = std::string(spec) + ":ranks=2,clients=1,via=am,handler=400ns,op=" +
                               std::string(name(access));
      const double took = took_s(with_entry(text, bytes), kStar);
      EXPECT_NEAR(took,
                  testing::idle_call_s(platform, wiring, RankId(1), RankId(0), access,
                                       sched::Time{400'000}, bytes),
                  1e-9 * took)
          << text << ", " << bytes << " B";
    }
  }
}

// With one rank every target is its own.
TEST(StructureEntries, AtHomeCostMemoryAlone) {
  const double local_s = 300e-9 + 100e-9 + 100e-9 + 200e-9;  // a trip through memory
  const double swap_s = local_s + 30e-9 + 1e-9;
  for (const std::uint64_t bytes : {8u, 512u}) {
    const double copy_s = 1e-9 * static_cast<double>(bytes) / 8;
    const std::string table = with_entry("hash-table:ranks=1,targets=any", bytes);
    const std::string queue = with_entry("queue:ranks=1,targets=any", bytes);
    const auto expect = [&](const std::string& spec, const std::string& platform,
                            double expected_s) {
      EXPECT_NEAR(took_s(spec, platform), expected_s, 1e-9 * expected_s) << spec;
    };
    expect(table + ",op=insert,level=cw", kOwnInMemory, swap_s + local_s + copy_s);
    expect(table + ",op=find,level=cr", kOwnInMemory, local_s + copy_s);
    expect(queue + ",op=push", kOwnInMemory, 2 * swap_s + local_s + copy_s);
    // Where own messages pass the NIC they cost what any do.
    expect(queue + ",op=push", kStar, 2 * kSwap_s + kTrip_s + 8 * copy_s);
    // A call at home is none, whatever own messages do.
    for (const std::string& platform : {kStar, kOwnInMemory}) {
      expect(table + ",op=insert,via=am,handler=400ns", platform, 400e-9 + copy_s);
      expect(queue + ",op=pop,via=am,handler=400ns", platform, 400e-9 + copy_s);
    }
  }
}

// One client: a place is there at once for who adds. Who swaps expects 0, and then what it found.
TEST(StructureClaims, OfOneClientByHand) {
  const std::string spec = "queue:ranks=2,clients=1,operations=4,op=push,level=cw";
  const double put_s = kTrip_s + 8e-9;
  for (std::uint32_t nth = 0; nth < 4; ++nth) {
    EXPECT_NEAR(took_s(spec, kStar, nth), kSwap_s + put_s, 1e-14);
    EXPECT_NEAR(took_s(spec + ",claim=swap", kStar, nth), (nth == 0 ? 1 : 2) * kSwap_s + put_s,
                1e-14);
    EXPECT_NEAR(took_s(spec + ",claim=read-swap", kStar, nth), kTrip_s + 8e-9 + kSwap_s + put_s,
                1e-14);
  }
}

// Against others, a swap that starts from what the failed one found has less time to be overtaken
// in than one that reads first: half of the messages of an attempt.
TEST(StructureClaims, StartingFromWhatWasSeenTakesFewerMessages) {
  const auto messages = [](const std::string& claim) {
    const sched::StructureProgram program =
        structure_of("queue:ranks=9,operations=20,op=push,level=cw,queues=one,claim=" + claim);
    const machine::Platform on = machine::parse_platform_spec(kStar);
    const sched::Trace trace = analysis::run_events({program.schedule, on});
    EXPECT_EQ(testing::first_of(sched::check_structure(
                  program, trace, sched::kept_memory(program.schedule, trace))),
              "");
    std::uint64_t sent = 0;
    for (const sched::StructureOp& op : program.ops) {
      for (sched::OpId id = op.first; id <= op.ticket; ++id.value) {
        sent += trace.ops[id.value].attempts;
      }
    }
    return sent;
  };
  const std::uint64_t adds = messages("add");
  const std::uint64_t swaps = messages("swap");
  const std::uint64_t reads = messages("read-swap");
  EXPECT_EQ(adds, 160u);
  EXPECT_GT(swaps, 2 * adds);
  EXPECT_GT(reads, swaps);
}

}  // namespace
}  // namespace slackline
