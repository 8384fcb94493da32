// Schedules carried out by real processes: every rank proves its bytes, and the times are a legal
// order of the schedule's events as far as one rank can see them.
#include "hw/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "hw/run.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "sched/event_graph.h"
#include "tests/hw/dataflow.h"
#include "tests/hw/local_ranks.h"
#include "tests/support/collective_specs.h"

namespace slackline {
namespace {

using sched::EventId;
using sched::OpId;

hw::FabricOptions options_of(const std::string& provider) {
  hw::FabricOptions options;
  options.provider = provider;
  if (provider != "shm") options.host = "127.0.0.1";
  return options;
}

void expect_legal_order(const sched::Schedule& schedule, const sched::Trace& trace) {
  const sched::ChannelOrder order = sched::channel_order(schedule);
  const auto time = [&](EventId event) {
    const sched::OpTimes& times = trace.ops[event.op().value];
    return event.is_done() ? times.done_s : times.issued_s;
  };
  for (std::uint32_t e = 0; e < 2 * schedule.op_count(); ++e) {
    sched::for_each_arc_into(schedule, order, {e}, false, [&](EventId pred) {
      // The clocks of two ranks are not aligned.
      if (schedule.op(pred.op()).rank != schedule.op(EventId{e}.op()).rank) return;
      EXPECT_LE(time(pred), time({e})) << describe(schedule, EventId{e}.op());
    });
  }
}

void run_and_prove(const std::string& provider, const std::string& spec) {
  SCOPED_TRACE(provider + " " + spec);
  const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
  const auto reports =
      testing::run_locally(schedule, options_of(provider), std::chrono::seconds(20));
  std::vector<hw::RankRecord> records;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    EXPECT_EQ(reports[r].error, "") << "rank " << r;
    EXPECT_FALSE(reports[r].left_segment) << "rank " << r;
    records.push_back({reports[r].times, {}, {}});
  }
  if (::testing::Test::HasFailure()) return;
  const sched::Trace trace = hw::assemble_trace(schedule, reports[0].transport, records);
  EXPECT_EQ(trace.engine, "run:" + provider);
  expect_legal_order(schedule, trace);
}

class Providers : public ::testing::TestWithParam<const char*> {
 protected:
  // libfabric looks at all its providers when it is first used, which takes longer than a run: here
  // once, for all children to come.
  static void SetUpTestSuite() { hw::make_fabric_transport(options_of("shm")); }

  // ofi_rxm takes long to connect.
  static bool is_slow() { return std::string(GetParam()) == "tcp;ofi_rxm"; }
};

TEST_P(Providers, EveryPatternProvesItsBytesForEveryNumberOfRanks) {
  for (const char* const pattern :
       {"sequential", "chain", "binomial-tree", "binary-tree", "double-tree", "binomial-pipeline",
        "hybrid", "circulant", "scatter-allgather"}) {
    for (int ranks = 1; ranks <= 8; ranks += is_slow() ? 4 : 1) {
      run_and_prove(GetParam(), std::string(pattern) + ":ranks=" + std::to_string(ranks) +
                                    ",bytes=1000,block=300");
      if (HasFailure()) return;
    }
  }
}

TEST_P(Providers, EveryOptionAndSizeProvesItsBytes) {
  for (const char* const pattern :
       {"chain", "binomial-pipeline", "circulant", "scatter-allgather"}) {
    for (const char* const options : {"", ",lower=put", ",ready=write", ",lower=put,ready=write",
                                      ",ready=none", ",lower=put,ready=none", ",order=lockstep"}) {
      for (const char* const size : {"bytes=0,block=64", "bytes=1,block=64",
                                     "bytes=12345,block=1000", "bytes=200003,block=65536"}) {
        if (is_slow() && pattern != std::string("circulant")) continue;
        run_and_prove(GetParam(), std::string(pattern) + ":ranks=5," + size + options);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Providers, FlagsInRingsAreUsedAgain) {
  run_and_prove(GetParam(), "ring-buffer:ranks=4,bytes=100,messages=50,slots=4");
  run_and_prove(GetParam(), "ring-buffer:ranks=3,bytes=5001,messages=20,slots=2,consume=in-place");
  run_and_prove(GetParam(), "table-multicast:ranks=4,bytes=100,messages=50,slots=4,batch=2");
  run_and_prove(GetParam(),
                "table-multicast:ranks=3,bytes=5001,messages=20,slots=2,delivery=stable");
  run_and_prove(GetParam(),
                "table-multicast:ranks=3,bytes=100,messages=20,slots=2,senders=3,delivery=stable");
}

TEST_P(Providers, EveryCollectiveProvesItsBytes) {
  for (const char* const spec : testing::kCollectiveSpecs) {
    run_and_prove(GetParam(), spec);
    if (HasFailure()) return;
  }
}

TEST_P(Providers, CallsProveTheirBytes) {
  for (const char* const spec :
       {"call:ranks=4,bytes=64,messages=40,chunk=512,chunk-limit=2,notify=consume",
        "call-return:ranks=3,bytes=24,messages=30,chunk=256,chunk-limit=3,handler=2us",
        "call:ranks=3,bytes=64,messages=20,reads=count,handler=1us",
        "call-buffer-read:ranks=3,bytes=3000,messages=9",
        "broadcast-buffer-write:ranks=7,bytes=3000,messages=20,chunk=128,chunks=1,chunk-limit=2",
        "broadcast:ranks=4,bytes=8,messages=40,via=send,slots=4"}) {
    if (is_slow() && std::string(spec).starts_with("broadcast")) continue;
    run_and_prove(GetParam(), spec);
    if (HasFailure()) return;
  }
}

TEST_P(Providers, MoreReceivesArePostedThanAProviderHolds) {
  run_and_prove(GetParam(), "chain:ranks=3,bytes=64KiB,block=16,ready=none,in-flight=0");
  run_and_prove(GetParam(), "sequential:ranks=4,bytes=30000,block=10,ready=none,in-flight=0");
}

TEST_P(Providers, GetsAtomicsAndTheirResults) {
  for (const testing::RankReport& report :
       testing::run_locally(testing::dataflow(sched::ValueId(0)), options_of(GetParam()),
                            std::chrono::seconds(20))) {
    EXPECT_EQ(report.error, "");
  }
}

TEST_P(Providers, WrongBytesAreNamed) {
  const auto reports = testing::run_locally(testing::dataflow(sched::ValueId(1)),
                                            options_of(GetParam()), std::chrono::seconds(20));
  EXPECT_THAT(reports[0].error, ::testing::StartsWith("rank 0: byte 0 of buffer 3 is 0x"));
  EXPECT_THAT(reports[0].error, ::testing::EndsWith("byte 0 of value 1"));
  EXPECT_EQ(reports[1].error, "");
}

TEST_P(Providers, WhoWaitsForeverIsEndedAndNamed) {
  // Rank 1 computes for an hour before it answers.
  sched::ScheduleBuilder builder(2);
  sched::Channel forth;
  forth.src = sched::RankId(0);
  forth.dst = sched::RankId(1);
  const sched::ChannelId channel = builder.add_channel(forth);
  sched::Op op;
  op.kind = sched::OpKind::kSend;
  op.rank = sched::RankId(0);
  op.channel = channel;
  builder.add(op);
  op = {};
  op.kind = sched::OpKind::kCalc;
  op.rank = sched::RankId(1);
  sched::OpArguments arguments;
  arguments.duration = sched::Time{3'600'000'000'000'000};
  const OpId calc = builder.add(op, arguments);
  op = {};
  op.kind = sched::OpKind::kRecv;
  op.rank = sched::RankId(1);
  op.channel = channel;
  const OpId received = builder.add(op);
  builder.add_edge(calc, received);
  const auto reports =
      testing::run_locally(builder.build(), options_of(GetParam()), std::chrono::milliseconds(500));
  EXPECT_EQ(reports[1].error, "not through in time");
}

INSTANTIATE_TEST_SUITE_P(All, Providers, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "tcp;ofi_rxm" ? "rxm" : tested.param;
                         });

}  // namespace
}  // namespace slackline
