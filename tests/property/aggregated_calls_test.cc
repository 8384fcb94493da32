// Aggregated calls: the same calls as plain ones, in fewer messages, and none kept back for ever.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "analysis/engines/event_engine.h"
#include "sched/compile.h"
#include "sched/workloads/calls/call.h"

namespace slackline {
namespace {

using sched::Bundle;
using sched::OpKind;
using sched::Schedule;

// How many messages carry the operations of aggregated channels, and those operations.
std::pair<std::size_t, std::size_t> messages(const Schedule& schedule, const sched::Trace& trace) {
  std::set<std::pair<std::uint32_t, double>> sent;
  std::size_t ops = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (op.kind != OpKind::kSend && op.kind != OpKind::kPut) continue;
    if (schedule.channel(op.channel).bundle == Bundle::kNone) continue;
    ++ops;
    sent.insert({op.channel.value, trace.ops[i].wire_s});
  }
  return {sent.size(), ops};
}

TEST(AggregatedCalls, FinishHoweverSmallTheirRoom) {
  const machine::Platform platform = machine::load_platform("fdr-4node");
  for (const char* pattern : {"call", "call-buffer", "call-buffer-write", "call-buffer-read",
                              "call-return", "broadcast", "broadcast-buffer-write"}) {
    for (const char* how : {"trad", "trad,via=send", "ovfl,signal=1", "ovfl,signal=2,via=send"}) {
      for (const char* room : {"", ",chunk=100,chunks=1,chunk-limit=2,slots=3",
                               ",chunk=64,chunk-limit=1,slots=1,notify=consume", ",flush=0B"}) {
        for (const std::uint32_t ranks : {1u, 2u, 5u}) {
          const std::string spec = fmt::format("{}:ranks={},bytes=10,messages=13,aggregation={}{}",
                                               pattern, ranks, how, room);
          const Schedule schedule = sched::compile(sched::parse_spec(spec));
          ASSERT_LE(schedule.op_count(), sched::call_ops(sched::parse_spec(spec))) << spec;
          SCOPED_TRACE(spec);
          EXPECT_NO_THROW(analysis::run_events({schedule, platform}));
        }
      }
    }
  }
}

TEST(AggregatedCalls, TradSendsAsManyAsFitAtATime) {
  const machine::Platform platform = machine::load_platform("fdr-4node");
  // Records of 8 + 8 + 8 bytes: 171 of them are 4 KiB.
  const Schedule schedule =
      sched::compile(sched::parse_spec("call:ranks=2,bytes=8,messages=1000,aggregation=trad"));
  const auto [sent, ops] = messages(schedule, analysis::run_events({schedule, platform}));
  EXPECT_EQ(ops, 1000u);
  EXPECT_EQ(sent, 6u);  // ⌈1000 / 171⌉
}

TEST(AggregatedCalls, OvflGathersOnlyWhereTheWindowIsFull) {
  const machine::Platform platform = machine::load_platform("fdr-4node");
  const auto run = [&](const char* signal) {
    const Schedule schedule = sched::compile(sched::parse_spec(
        fmt::format("call:ranks=2,bytes=8,messages=1000,aggregation=ovfl,signal={}", signal)));
    return messages(schedule, analysis::run_events({schedule, platform})).first;
  };
  EXPECT_EQ(run("1000"), 1000u);
  EXPECT_LT(run("2"), 500u);
}

}  // namespace
}  // namespace slackline
