// Remote invocations: proved for all small series, and what they promise held in runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "sched/compile.h"
#include "sched/verify.h"
#include "sched/workloads/calls/call.h"
#include "tests/property/random_runs.h"
#include "tests/support/draft.h"
#include "tests/support/error_of.h"

namespace slackline::testing {
namespace {

const std::vector<std::string> kCalls = {"call",
                                         "call-buffer",
                                         "call-buffer-write",
                                         "call-buffer-read",
                                         "call-return",
                                         "broadcast",
                                         "broadcast-buffer",
                                         "broadcast-buffer-write",
                                         "broadcast-buffer-read"};

class Calls : public ::testing::TestWithParam<std::string> {
 protected:
  // Nothing where a result comes back, which is of what was read.
  static const char* reads_less() {
    return GetParam() == "call-return" ? "" : ",chunk=64,chunk-limit=2,slots=3,reads=identifier";
  }
  static const char* counts() {
    return GetParam() == "call-return" ? "" : ",chunk=64,slots=3,reads=count,handler=2ns";
  }
};

std::string defect(const std::string& text) {
  const Diagnostics found = verify(compile(parse_spec(text)));
  return found.empty() ? "" : fmt::format("{}: {}", text, found.front().message);
}

TEST_P(Calls, AreProvedForAllSmallSeries) {
  for (std::uint32_t n = 1; n <= 9; ++n) {
    for (const std::uint32_t m : {1u, 2u, 5u, 13u}) {
      for (const char* via : {"write", "send"}) {
        for (const char* notify : {"transmit", "consume"}) {
          for (const char* room :
               {"", ",chunk=100,chunks=1,chunk-limit=2,slots=3,signal=4", reads_less(), counts(),
                ",chunk=64,chunks=2,chunk-limit=3,slots=2",
                ",chunk=40,chunk-limit=1,slots=1,signal=1",
                ",chunk=64,chunk-limit=2,slots=3,signal=2,serialize=copy"}) {
            ASSERT_EQ(
                defect(fmt::format("{}:ranks={},bytes={},messages={},root={},via={},notify={}{}",
                                   GetParam(), n, n * m % 3 * 10, m, m % n, via, notify, room)),
                "");
          }
        }
      }
    }
  }
}

// A call that reads another record, is left out of the state or is added twice, or a buffer that
// comes to another place, breaks the contract.
TEST_P(Calls, EveryCallIsRunOnce) {
  for (const std::string how : {",via=write", ",via=send", reads_less(), counts()}) {
    const Schedule sound = compile(
        parse_spec(fmt::format("{}:ranks=4,bytes=16,messages=4,signal=0{}", GetParam(), how)));
    std::uint32_t handlers = 0;
    for (std::uint32_t i = 0; i < sound.op_count(); ++i) {
      if (sound.ops()[i].kind != OpKind::kReduce) continue;
      ++handlers;
      for (const bool twice : {false, true}) {
        Draft draft = Draft::from(sound);
        std::vector<Slice>& reads = draft.ops[i].reads;
        twice ? reads.push_back(reads.back()) : reads.pop_back();
        const Diagnostics found = verify(draft.build());
        ASSERT_FALSE(found.empty()) << GetParam() << " op " << i;
        // The first that is counted has nothing to add to.
        EXPECT_EQ(found.front().code, draft.ops[i].reads.empty() ? Code::kSize : Code::kPost);
      }
    }
    // The first is a copy, unless it is counted.
    const bool counted = how.find("count") != std::string::npos;
    EXPECT_EQ(handlers, (GetParam().starts_with("broadcast") ? 4u : 3u) * (counted ? 4 : 3));
  }
}

// A record is copied between the posts, in program order: after the call before it is posted and,
// if that one is waited for, done.
TEST(CallSerialize, ARecordIsCopiedAfterTheCallBefore) {
  const machine::Platform platform =
      machine::parse_platform_spec("star:rate=8Gbps,latency=3us,o_post=1us,copy_rate=16Gbps");
  const auto run = [&](const char* options) {
    const Schedule schedule = compile(
        parse_spec(fmt::format("call:ranks=2,bytes=1992,messages=4,via=send,slots=4,{}", options)));
    std::vector<OpTimes> root;
    const Trace trace = analysis::run_events({schedule, platform});
    for (OpId id = schedule.first_op(RankId(0)); id < schedule.end_op(RankId(0)); ++id.value) {
      if (schedule.op(id).kind != OpKind::kJoin) root.push_back(trace.ops[id.value]);
    }
    return root;
  };
  // 2000 bytes take 1 us to copy, and 1 us to post.
  const std::vector<OpTimes> copied = run("serialize=copy,signal=0");
  ASSERT_EQ(copied.size(), 8u);
  for (std::size_t m = 0; m < 4; ++m) {
    EXPECT_NEAR(copied[2 * m].issued_s, 2e-6 * static_cast<double>(m), 1e-15);
    EXPECT_NEAR(copied[2 * m].done_s, 2e-6 * static_cast<double>(m) + 1e-6, 1e-15);
    EXPECT_NEAR(copied[2 * m + 1].issued_s, 2e-6 * static_cast<double>(m) + 2e-6, 1e-15);
  }
  // The second send is waited for: 2 us on the wire, 3 there and 3 back.
  const std::vector<OpTimes> awaited = run("serialize=copy,signal=2");
  ASSERT_EQ(awaited.size(), 8u);
  EXPECT_NEAR(awaited[3].done_s, 12e-6, 1e-15);
  EXPECT_NEAR(awaited[4].issued_s, 12e-6, 1e-15);
  EXPECT_NEAR(awaited[5].issued_s, 14e-6, 1e-15);
  ASSERT_EQ(run("signal=0").size(), 4u);
}

// An empty function reads its identifier, and so takes the time of that, whatever goes with it.
TEST(CallReads, AnIdentifierTakesTheTimeOfAWord) {
  const auto made = [](const std::string& reads) {
    return compile(parse_spec("call:ranks=2,bytes=4KiB,messages=3,reads=" + reads));
  };
  const auto bytes_added = [](const Schedule& s) {
    std::vector<std::uint64_t> bytes;
    for (const Op& op : s.ops()) {
      if (op.kind == OpKind::kCopy || op.kind == OpKind::kReduce) {
        bytes.push_back(s.slices(op.writes).front().bytes);
      }
    }
    return bytes;
  };
  EXPECT_EQ(bytes_added(made("all")), (std::vector<std::uint64_t>{4104, 4104, 4104}));
  const Schedule counted = made("identifier");
  EXPECT_EQ(bytes_added(counted), (std::vector<std::uint64_t>{8, 8, 8}));
  ASSERT_EQ(counted.contract().post.size(), 1u);
  EXPECT_EQ(counted.contract().post[0].slice.bytes, 8u);
  EXPECT_EQ(counted.contract().post[0].terms, 3u);
}

// A function that is counted takes its own time, and none for what it reads.
TEST(CallReads, ACountTakesTheTimeOfTheFunction) {
  const Schedule s = compile(
      parse_spec("call:ranks=2,bytes=4KiB,messages=3,reads=count,handler=2ns,signal=0,via=send"));
  const sched::Trace trace = analysis::run_events({s, machine::load_platform("fdr-4node")});
  std::uint32_t counts = 0;
  for (std::uint32_t i = 0; i < s.op_count(); ++i) {
    const Op& op = s.ops()[i];
    EXPECT_NE(op.kind, OpKind::kCalc);
    EXPECT_NE(op.kind, OpKind::kCopy);
    if (op.kind != OpKind::kReduce) continue;
    EXPECT_EQ(s.slices(op.writes).front().bytes, 8u);
    EXPECT_NEAR(trace.ops[i].done_s - trace.ops[i].issued_s, 2e-9, 1e-18);
    EXPECT_EQ(op.step, counts++);
  }
  EXPECT_EQ(counts, 3u);
  ASSERT_EQ(s.contract().post.size(), 1u);
  EXPECT_EQ(s.contract().post[0].slice.bytes, 8u);
  EXPECT_EQ(s.contract().post[0].terms, 3u);
}

// Where a chunk is used again only because its consumed offset came back, the proof fails without.
TEST(CallChunks, RestOnTheConsumedOffset) {
  const Schedule sound =
      compile(parse_spec("call:ranks=3,bytes=8,messages=12,chunk=48,chunks=1,chunk-limit=2"));
  std::uint32_t waits = 0;
  for (std::size_t e = 0; e < sound.edges().size(); ++e) {
    const Edge edge = sound.edges()[e];
    if (sound.op(edge.pred).kind != OpKind::kPoll || sound.op(edge.succ).kind != OpKind::kPut) {
      continue;
    }
    ++waits;
    Draft draft = Draft::from(sound);
    draft.edges.erase(draft.edges.begin() + static_cast<std::ptrdiff_t>(e));
    EXPECT_FALSE(verify(draft.build()).empty()) << describe(sound, edge.succ);
  }
  EXPECT_EQ(waits, 2u * 4);  // to each target: six uses of two chunks
}

std::uint32_t count(const Schedule& schedule, OpKind kind, RankId rank) {
  std::uint32_t found = 0;
  for (const Op& op : schedule.ops()) found += op.kind == kind && op.rank == rank ? 1 : 0;
  return found;
}

TEST(CallChunks, AreObtainedAFewAtATimeAndReportedWhenUsedUp) {
  const auto made = [](const std::string& room) {
    return compile(parse_spec("call:ranks=2,bytes=8,messages=40," + room));
  };
  // Records of 16 bytes and a mark: two to a chunk of 50 bytes, 20 uses.
  Schedule s = made("chunk=50,chunks=2,chunk-limit=16");
  EXPECT_EQ(count(s, OpKind::kSend, RankId(0)), 8u);  // service calls
  EXPECT_EQ(count(s, OpKind::kPut, RankId(1)), 4u);   // consumed offsets
  s = made("chunk=50,chunks=3,chunk-limit=4");
  EXPECT_EQ(count(s, OpKind::kSend, RankId(0)), 2u);
  EXPECT_EQ(count(s, OpKind::kPut, RankId(1)), 16u);
  s = made("chunks=2");  // 16 MiB hold them all
  EXPECT_EQ(count(s, OpKind::kSend, RankId(0)), 1u);
  EXPECT_EQ(count(s, OpKind::kPut, RankId(1)), 0u);
}

TEST(CallNotify, TellsOfTransmissionOrOfConsumption) {
  const std::string text = "call:ranks=5,bytes=8,messages=6,notify=";
  EXPECT_EQ(count(compile(parse_spec(text + "transmit")), OpKind::kPut, RankId(2)), 0u);
  EXPECT_EQ(count(compile(parse_spec(text + "consume")), OpKind::kPut, RankId(2)), 6u);
  const machine::Platform platform = machine::load_platform("fractus");
  const auto sync_s = [&](const std::string& notify) {
    const Schedule s = compile(parse_spec(text + notify + ",handler=10us"));
    const OpId last(s.end_op(RankId(0)).value - 1);
    EXPECT_EQ(s.op(last).kind, OpKind::kJoin);
    return analysis::run_events({s, platform}).ops[last.value].done_s;
  };
  EXPECT_LT(sync_s("transmit"), 60e-6);
  EXPECT_GT(sync_s("consume"), 60e-6);  // six handlers one after the other
}

TEST(CallSignal, HoldsEveryNthPostBack) {
  for (const std::uint32_t every : {0u, 1u, 4u}) {
    const Schedule s =
        compile(parse_spec(fmt::format("call:ranks=2,bytes=8,messages=12,signal={}", every)));
    std::uint32_t waited_for = 0;
    for (const Edge& e : s.edges()) {
      waited_for += s.op(e.pred).kind == OpKind::kPut && s.op(e.succ).kind == OpKind::kPut ? 1 : 0;
    }
    EXPECT_EQ(waited_for, every == 0 ? 0u : 11 / every);
  }
}

// Handlers run one at a time and in the order of the calls, whatever delays there are.
TEST_P(Calls, RunInTheOrderOfTheirChannel) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    const Schedule s = compile(parse_spec(fmt::format(
        "{}:ranks={},bytes={},messages={},via={},handler={}ns,chunk=8KiB,chunk-limit=2,slots=2",
        GetParam(), 2 + dice.below(6), dice.below(4000), 1 + dice.below(20),
        dice.one_in(2) ? "send" : "write", dice.below(5000))));
    const sched::Trace trace = analysis::run_events(
        {s, random_platform(dice, machine::NicDiscipline::kSerial), random_delays(dice, s)});
    std::vector<double> free_s(s.rank_count(), 0);
    std::vector<std::uint32_t> next(s.rank_count(), 0);
    for (std::uint32_t i = 0; i < s.op_count(); ++i) {
      const Op& op = s.ops()[i];
      if (op.kind != OpKind::kCalc) continue;
      EXPECT_EQ(op.step, next[op.rank.value]++);
      EXPECT_GE(trace.ops[i].issued_s, free_s[op.rank.value]);
      free_s[op.rank.value] = trace.ops[i].done_s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Primitives, Calls, ::testing::ValuesIn(kCalls), [](const auto& named) {
  std::string name = named.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

TEST(CallSpec, RoundTripsAndSaysWhatIsWrong) {
  for (const char* text :
       {"call:ranks=4,bytes=64,messages=100,notify=consume,handler=1us",
        "call-buffer-read:ranks=2,bytes=4KiB,root=1,via=send",
        "broadcast:ranks=16,bytes=8,chunk=4KiB,chunks=1,chunk-limit=4,signal=16"}) {
    const Spec spec = parse_spec(text);
    EXPECT_EQ(format_spec(spec), text);
    const Schedule schedule = compile(spec);
    EXPECT_EQ(schedule.title(), text);
    EXPECT_GE(most_ops(spec), schedule.op_count());
  }
  const auto spec_error = [](const std::string& text) {
    return error_of([&] { compile(parse_spec(text)); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(spec_error("call:ranks=2,bytes=100,chunk=64"),
              HasSubstr("chunk: 64 bytes; expected"));
  EXPECT_THAT(spec_error("call:ranks=2,bytes=8,via=mail"), HasSubstr("expected write or send"));
  EXPECT_THAT(spec_error("call:ranks=2,bytes=8,block=8"),
              HasSubstr("block: not an option of call"));
  EXPECT_THAT(spec_error("call:ranks=2,bytes=8,handler=-1us"), HasSubstr("handler:"));
  EXPECT_THAT(spec_error("call:ranks=9,bytes=8,messages=2147483648"), HasSubstr("operations"));
  EXPECT_THAT(spec_error("call-return:ranks=2,bytes=8,reads=identifier"),
              HasSubstr("reads: identifier; expected all"));
  EXPECT_EQ(spec_error("call-return:ranks=2,bytes=8,reads=count,handler=2ns"),
            "reads: count; expected all, since the result is of what was read");
  EXPECT_EQ(spec_error("call:ranks=2,bytes=8,reads=count"),
            "handler: 0; expected more than 0 with reads=count, whose calls take that");
}

}  // namespace
}  // namespace slackline::testing
