// Which channels of a schedule are copies of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "hw/multicast/flows.h"
#include "hw/transport.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;

// "0>3: 3>1 3>2": each flow's channel, and those that copy it.
std::string flows_of(const sched::Schedule& schedule) {
  const std::vector<std::uint32_t> flows = multicast_flows(schedule);
  const auto name = [&](std::uint32_t c) {
    const sched::Channel& channel = schedule.channels()[c];
    return std::to_string(channel.src.value) + ">" + std::to_string(channel.dst.value);
  };
  std::string text;
  for (std::uint32_t source = 0; source < flows.size(); ++source) {
    if (flows[source] != source) continue;
    text += (text.empty() ? "" : "; ") + name(source) + ":";
    for (std::uint32_t c = 0; c < flows.size(); ++c) {
      if (flows[c] == source && c != source) text += " " + name(c);
    }
  }
  return text;
}
std::string flows_of(const char* spec) { return flows_of(sched::compile(sched::parse_spec(spec))); }

TEST(MulticastFlows, ASwitchsCopiesAreOneFlow) {
  EXPECT_EQ(flows_of("switch-multicast:ranks=4,bytes=3000,block=1000"), "0>3: 3>1 3>2");
  EXPECT_EQ(flows_of("switch-multicast:ranks=4,bytes=3000,block=1000,root=1"), "1>3: 3>0 3>2");
  EXPECT_EQ(flows_of("switch-multicast:ranks=4,bytes=3000,block=1000,ready=none"), "0>3: 3>1 3>2");
  EXPECT_EQ(flows_of("switch-multicast:ranks=4,bytes=3000,block=1000,ready=write"), "0>3: 3>1 3>2");
  EXPECT_EQ(flows_of("switch-multicast:ranks=4,bytes=3000,block=1000,loss=500000,seed=3"),
            "0>3: 3>1 3>2");
}

TEST(MulticastFlows, CopiesOfCopiesAreTheFirstOnes) {
  EXPECT_EQ(flows_of("switch-multicast:ranks=7,bytes=3000,block=1000,fan-out=2x2"),
            "0>4: 4>1 5>2 5>3 4>6 6>5");
}

TEST(MulticastFlows, RanksThatKeepWhatTheyPassOnOrAddUpAreNoSwitches) {
  for (const char* const spec :
       {"chain:ranks=4,bytes=3000,block=1000", "binomial-pipeline:ranks=4,bytes=3000,block=1000",
        "switch-allreduce:ranks=4,bytes=3000,block=1000", "allreduce:ranks=4,bytes=3000",
        "switch-multicast:ranks=1,bytes=3000", "switch-multicast:ranks=4,bytes=0"}) {
    EXPECT_EQ(flows_of(spec), "") << spec;
  }
  EXPECT_THAT(testing::error_of<Unsupported>([&] {
                require_multicast_flows(sched::compile(sched::parse_spec("chain:ranks=3,bytes=8")),
                                        "--how");
              }),
              HasSubstr("--how: no rank of this schedule only copies"));
}

// Rank 1 receives two messages of 8 bytes from rank 0 and sends them on to rank 2.
struct Draft {
  std::uint64_t second_at = 8;  // where the second one is received
  std::uint64_t sent_from = 8;  // …and read
  bool waits = true;            // the second send for its receive
  bool kept = false;            // the contract speaks of rank 1
  bool copies = false;          // rank 1 writes there itself
  // Rank 0 puts into rank 1, or rank 1 into rank 2, or rank 0 gets from rank 1, with no message.
  sched::OpKind beside = sched::OpKind::kSend;
  std::uint32_t by = 0;
  bool apart = false;  // …on a channel of its own

  sched::Schedule build() const {
    using namespace sched;
    ScheduleBuilder builder(3);
    std::vector<BufferId> at;
    for (std::uint32_t r = 0; r < 3; ++r) at.push_back(builder.add_buffer(RankId(r), 32));
    Channel in;
    in.src = RankId(0);
    in.dst = RankId(1);
    Channel out;
    out.src = RankId(1);
    out.dst = RankId(2);
    const ChannelId first = builder.add_channel(in);
    const ChannelId second = builder.add_channel(out);
    const auto add = [&](std::uint32_t rank, OpKind kind, ChannelId channel, std::uint64_t offset) {
      Op op;
      op.kind = kind;
      op.rank = RankId(rank);
      op.channel = channel;
      (kind == OpKind::kSend ? op.reads : op.writes) = builder.add_slice({at[rank], offset, 8});
      return builder.add(op);
    };
    add(0, OpKind::kSend, first, 0);
    add(0, OpKind::kSend, first, 8);
    const OpId a = add(1, OpKind::kRecv, first, 0);
    const OpId b = add(1, OpKind::kRecv, first, second_at);
    const OpId c = add(1, OpKind::kSend, second, 0);
    const OpId d = add(1, OpKind::kSend, second, sent_from);
    builder.add_edge(a, c);
    if (waits) builder.add_edge(b, d);
    if (copies) {
      Op op;
      op.kind = OpKind::kCopy;
      op.rank = RankId(1);
      op.reads = builder.add_slice({at[1], 0, 8});
      op.writes = builder.add_slice({at[1], 24, 8});
      builder.add(op);
    }
    if (beside != OpKind::kSend) {
      const Slice here{at[by], 16, 8};
      const Slice there{at[by + 1], 24, 8};
      Op op;
      op.kind = beside;
      op.rank = RankId(by);
      op.channel = apart ? builder.add_channel(by == 0 ? in : out) : by == 0 ? first : second;
      op.reads = builder.add_slice(beside == OpKind::kPut ? here : there);
      op.writes = builder.add_slice(beside == OpKind::kPut ? there : here);
      builder.add(op);
    }
    add(2, OpKind::kRecv, second, 0);
    add(2, OpKind::kRecv, second, 8);
    builder.add_pre({{at[0], 0, 16}, ValueId(0), 0});
    builder.add_post({{at[2], 0, 16}, ValueId(0), 0});
    if (kept) builder.add_post({{at[1], 0, 8}, ValueId(0), 0});
    return builder.build();
  }
};

TEST(MulticastFlows, OnlyWholeMessagesThatWaitForTheirsAreCopies) {
  EXPECT_EQ(flows_of(Draft().build()), "0>1: 1>2");
  EXPECT_EQ(flows_of(Draft{.second_at = 4, .sent_from = 4}.build()), "");  // written twice
  EXPECT_EQ(flows_of(Draft{.sent_from = 16}.build()), "");                 // other bytes
  EXPECT_EQ(flows_of(Draft{.waits = false}.build()), "");
  EXPECT_EQ(flows_of(Draft{.kept = true}.build()), "");
  EXPECT_EQ(flows_of(Draft{.copies = true}.build()), "");
}

// A transport that multicasts takes sends alone on a flow's channels.
TEST(MulticastFlows, ChannelsOnWhichOtherThingsGoAreNone) {
  for (const sched::OpKind kind : {sched::OpKind::kPut, sched::OpKind::kGet}) {
    for (const std::uint32_t by : {0u, 1u}) {
      if (kind == sched::OpKind::kGet && by == 1) continue;  // it would write what it copies
      EXPECT_EQ(flows_of(Draft{.beside = kind, .by = by}.build()), "") << by;
      EXPECT_EQ(flows_of(Draft{.beside = kind, .by = by, .apart = true}.build()), "0>1: 1>2") << by;
    }
  }
}

}  // namespace
}  // namespace slackline::hw
