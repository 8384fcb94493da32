#include "cli/schedule_source.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "cli/link_use.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "tests/support/error_of.h"

namespace slackline::cli {
namespace {

sched::Schedule schedule_of(std::string_view spec) {
  return sched::compile(sched::parse_spec(spec));
}

TEST(WithKey, AddsWhatIsNotThere) {
  EXPECT_EQ(with_key("chain", "lower", "put"), "chain:lower=put");
  EXPECT_EQ(with_key("chain:", "lower", "put"), "chain:lower=put");
  EXPECT_EQ(with_key("chain:ranks=2", "lower", "put"), "chain:ranks=2,lower=put");
  EXPECT_EQ(with_key("chain:ranks=2,lower=put", "lower", "put"), "chain:ranks=2,lower=put");
  EXPECT_EQ(with_key("chain:lower-x=1", "lower", "put"), "chain:lower-x=1,lower=put");
  EXPECT_THROW(with_key("chain:ranks=2,lower=put", "lower", "send"), InputError);
  EXPECT_THROW(with_key("chain:lower=put,ranks=2", "lower", ""), InputError);
}

TEST(WithoutKey, TakesAwayWhatIsThere) {
  EXPECT_EQ(without_key("chain", "bytes"), "chain");
  EXPECT_EQ(without_key("chain:", "bytes"), "chain:");
  EXPECT_EQ(without_key("chain:bytes=1", "bytes"), "chain");
  EXPECT_EQ(without_key("chain:bytes=1,ranks=2", "bytes"), "chain:ranks=2");
  EXPECT_EQ(without_key("chain:ranks=2,bytes=1", "bytes"), "chain:ranks=2");
  EXPECT_EQ(without_key("chain:ranks=2,bytes=1,block=1", "bytes"), "chain:ranks=2,block=1");
  EXPECT_EQ(without_key("chain:cache-bytes=2,rbytes=1", "bytes"), "chain:cache-bytes=2,rbytes=1");
  // What is wrong with it stays wrong.
  EXPECT_EQ(without_key("chain:ranks=2,,bytes=1", "bytes"), "chain:ranks=2,");
  EXPECT_EQ(without_key("chain:ranks=2,bytes=1,", "bytes"), "chain:ranks=2,");
}

// Every pattern at several sizes and lowerings.
std::vector<std::string> specs() {
  std::vector<std::string> all;
  for (const sched::PatternEntry& pattern : sched::plan_patterns()) {
    for (int ranks : {1, 2, 3, 8, 13}) {
      for (const char* more :
           {"", ",lower=put", ",ready=write", ",ready=none", ",first-block=copy", ",window=3"}) {
        all.push_back(
            fmt::format("{}:ranks={},bytes=10000,block=3000{}", pattern.name, ranks, more));
      }
    }
  }
  return all;
}

TEST(BlocksOf, IsWhatThePlanSays) {
  for (const std::string& text : specs()) {
    const sched::Spec spec = sched::parse_spec(text);
    const auto blocks = blocks_of(sched::compile(spec));
    if (spec.multicast.ranks == 1) {
      EXPECT_FALSE(blocks.has_value()) << text;
    } else {
      EXPECT_EQ(blocks, spec.multicast.blocks()) << text;
    }
  }
  EXPECT_FALSE(blocks_of(schedule_of("chain:ranks=3,bytes=0")).has_value());
}

// `compile` prints a schedule's steps, which are the plan's.
TEST(StepCount, IsWhatThePlanSays) {
  for (const std::string& text : specs()) {
    const sched::Spec spec = sched::parse_spec(text);
    EXPECT_EQ(sched::compile(spec).step_count(), sched::plan_of(spec).steps) << text;
  }
}

TEST(LinkUse, EveryRankButTheRootReceivesTheMessageOnce) {
  for (const std::string& text : specs()) {
    const sched::Plan plan = sched::plan_of(sched::parse_spec(text));
    std::vector<std::uint64_t> out(plan.ranks), in(plan.ranks);
    for (const sched::Transfer& transfer : plan.transfers) {
      out[transfer.src.value] += plan.bytes_of(transfer.block);
      in[transfer.dst.value] += plan.bytes_of(transfer.block);
    }
    // Readiness that is written carries a flag with every message.
    if (text.find("ready=write") != std::string::npos) continue;
    const LinkUse use = link_use(schedule_of(text));
    EXPECT_EQ(use.out_bytes, out) << text;
    EXPECT_EQ(use.in_bytes, in) << text;
  }
}

TEST(LinkUse, Utilisation) {
  const sched::Schedule schedule = schedule_of("sequential:ranks=3,bytes=2000,block=1000");
  const auto link = [](std::uint32_t id) { return machine::LinkId(id); };
  const auto from = [](std::uint32_t src, std::uint32_t dst, std::vector<machine::LinkId> links) {
    return machine::Wiring::FixedRoute{sched::RankId(src), sched::RankId(dst), {links, {}}};
  };
  // Rank 0 has two NICs, the others one.
  const machine::Wiring wiring(
      {"a", "b", "c"},
      {{"slow", {4'000'000'000}}, {"fast", {8'000'000'000}}, {"in", {16'000'000'000}}},
      {from(0, 1, {link(0), link(2)}), from(0, 2, {link(1), link(2)}), from(1, 0, {link(2)}),
       from(2, 0, {link(2)})});
  const machine::Paths paths(schedule, wiring, {});
  const std::vector<double> bytes = {500'000'000, 0, 1'000'000'000};
  EXPECT_EQ(utilisation(bytes, false, wiring, paths, 2.0), (std::vector<double>{0.25, 0, 0.25}));
  EXPECT_EQ(utilisation(bytes, true, wiring, paths, 2.0), (std::vector<double>{0.125, 0, 0.25}));
  EXPECT_EQ(utilisation(bytes, true, wiring, paths, 0.0), (std::vector<double>{0, 0, 0}));
}

TEST(LinkUse, LinksThatChangeHaveTheirMeanRate) {
  const sched::Schedule schedule = schedule_of("sequential:ranks=2,bytes=1000,block=1000");
  const machine::Wiring wiring(machine::parse_platform_spec("star:rate=8Gbps"), 2);
  machine::DelayPlan plan;
  plan.link_rates = {{"host-0.out", {4'000'000'000}, sched::Time{2'000'000}},
                     {"host-0.out", {2'000'000'000}, sched::Time{3'000'000}},
                     {"host-1.in", {2'000'000'000}, sched::Time{0}}};
  const machine::Paths paths(schedule, wiring, plan);
  const std::size_t out = wiring.find_link("host-0.out").value().value;
  const std::size_t in = wiring.find_link("host-1.in").value().value;
  const auto mean = [&](std::size_t link, double end_s) {
    return mean_bytes_per_s(wiring, paths, end_s)[link];
  };
  EXPECT_DOUBLE_EQ(mean(out, 2e-6), 1e9);
  EXPECT_DOUBLE_EQ(mean(out, 3e-6), 2.5e9 / 3);  // 1 GB/s for 2 us, then half of it
  EXPECT_DOUBLE_EQ(mean(out, 5e-6), 0.6e9);      // then a quarter of it for 2 us
  EXPECT_DOUBLE_EQ(mean(in, 5e-6), 0.25e9);
  for (const double no_time_s : {0.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_DOUBLE_EQ(mean(out, no_time_s), 1e9);
    EXPECT_DOUBLE_EQ(mean(in, no_time_s), 0.25e9);
  }
  // 3,000 bytes are all that it carries in 5 us.
  EXPECT_DOUBLE_EQ(utilisation({3'000, 0}, false, wiring, paths, 5e-6)[0], 1);
  EXPECT_DOUBLE_EQ(utilisation({0, 1'250}, true, wiring, paths, 5e-6)[1], 1);
  EXPECT_DOUBLE_EQ(nic_use(schedule, wiring, paths, nullptr, 5e-6).out_share[0], 1.0 / 3);
}

TEST(LinkUse, RefusesWhatItCannotCount) {
  const sched::Schedule schedule =
      schedule_of("sequential:ranks=2,bytes=1099511627776,block=1099511627776,ready=none");
  sched::Trace trace;
  trace.ops.resize(schedule.op_count());
  for (sched::OpTimes& op : trace.ops) op.attempts = (1u << 24) - 1;
  EXPECT_EQ(link_use(schedule, {}, &trace).out_bytes[0], ((1ull << 24) - 1) << 40);
  for (sched::OpTimes& op : trace.ops) op.attempts = 1u << 24;
  try {
    link_use(schedule, {}, &trace);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("carries 2^64 bytes or more"), std::string::npos)
        << error.what();
  }
}

TEST(LinkUse, RanksOfANodeShareItsNic) {
  const sched::Schedule schedule = schedule_of("sequential:ranks=4,bytes=1000,block=1000");
  const machine::Wiring wiring(machine::parse_platform_spec("star:ranks_per_node=2,rate=8Gbps"), 4);
  const machine::Paths paths(schedule, wiring, {});
  const LinkUse use = link_use(schedule, wiring.node());
  // What rank 1 gets stays within the node.
  EXPECT_EQ(use.out_bytes, (std::vector<std::uint64_t>{2'000, 0, 0, 0}));
  EXPECT_EQ(use.in_bytes, (std::vector<std::uint64_t>{0, 0, 1'000, 1'000}));
  EXPECT_EQ(utilisation(use.out_wire_bytes, false, wiring, paths, 8e-6),
            (std::vector<double>{0.25, 0.25, 0, 0}));
  EXPECT_EQ(utilisation(use.in_wire_bytes, true, wiring, paths, 8e-6),
            (std::vector<double>{0, 0, 0.25, 0.25}));
  // Two packets a message.
  const LinkUse framed = link_use(schedule, wiring.node(), nullptr, {500, 100, 1, 1});
  EXPECT_EQ(framed.out_bytes, use.out_bytes);
  EXPECT_EQ(framed.out_wire_bytes, (std::vector<double>{2'400, 0, 0, 0}));
}

TEST(LinkUse, EachOfSeveralNicsHasItsOwn) {
  const sched::Schedule schedule =
      schedule_of("sequential:ranks=2,bytes=1500,block=1500,ready=none,stripes=3");
  const machine::Wiring wiring(machine::parse_platform_spec("star:rails=2,rail=channel,rate=8Gbps"),
                               2);
  const machine::Paths paths(schedule, wiring, {});
  // Parts 0 and 2 of the message have the first rail.
  const NicUse nics = nic_use(schedule, wiring, paths, nullptr, 2e-6);
  EXPECT_EQ(nics.out_bytes, (std::vector<std::uint64_t>{1'000, 500, 0, 0}));
  EXPECT_EQ(nics.in_bytes, (std::vector<std::uint64_t>{0, 0, 1'000, 500}));
  EXPECT_EQ(nics.out_share, (std::vector<double>{0.5, 0.25, 0, 0}));
  EXPECT_EQ(nics.in_share, (std::vector<double>{0, 0, 0.5, 0.25}));
  // A rank's share is that of both together.
  const LinkUse use = link_use(schedule, wiring.node());
  EXPECT_EQ(utilisation(use.out_wire_bytes, false, wiring, paths, 2e-6),
            (std::vector<double>{0.375, 0}));
}

// A bundle has a packet, where its messages alone had one each.
TEST(LinkUse, CountsABundleAsOneMessage) {
  sched::ScheduleBuilder builder(2);
  const sched::BufferId out = builder.add_buffer(sched::RankId(0), 4'000);
  const sched::BufferId in = builder.add_buffer(sched::RankId(1), 4'000);
  sched::Channel channel;
  channel.src = sched::RankId(0);
  channel.dst = sched::RankId(1);
  channel.bundle = sched::Bundle::kTraditional;
  channel.bundle_bytes = 4'000;
  const sched::ChannelId c = builder.add_channel(channel);
  for (std::uint64_t i = 0; i < 4; ++i) {
    sched::Op op;
    op.kind = sched::OpKind::kSend;
    op.rank = sched::RankId(0);
    op.channel = c;
    op.reads = builder.add_slice({out, 1'000 * i, 1'000});
    builder.add(op);
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    sched::Op op;
    op.kind = sched::OpKind::kRecv;
    op.rank = sched::RankId(1);
    op.channel = c;
    op.writes = builder.add_slice({in, 1'000 * i, 1'000});
    builder.add(op);
  }
  const sched::Schedule schedule = builder.build();
  const machine::Platform platform =
      machine::parse_platform_spec("star:rate=8Gbps,packet_overhead=100B");
  const sched::Trace trace = analysis::run_events({schedule, platform});
  const machine::Wiring wiring(platform, 2);
  const LinkUse use = link_use(schedule, {}, &trace, wiring.framing());
  EXPECT_EQ(use.out_bytes, (std::vector<std::uint64_t>{4'000, 0}));
  EXPECT_EQ(use.out_wire_bytes, (std::vector<double>{4'100, 0}));
  EXPECT_EQ(use.in_wire_bytes, (std::vector<double>{0, 4'100}));
  const machine::Paths paths(schedule, wiring, {});
  EXPECT_NEAR(nic_use(schedule, wiring, paths, &trace, 8.2e-6).out_share[0], 0.5, 1e-12);
}

TEST(RequireSound, NamesTheFirstErrorAndHowManyMore) {
  using sched::Code;
  using sched::Severity;
  sched::Diagnostics found = {{Code::kDuplicate, Severity::kWarning, {}, "twice"}};
  EXPECT_NO_THROW(require_sound(found, "x.sched"));
  found.push_back({Code::kRaw, Severity::kError, {}, "op 1 reads"});
  found.push_back({Code::kPost, Severity::kError, {}, "rank 2 lacks"});
  EXPECT_EQ(testing::error_of([&] { require_sound(found, "x.sched"); }),
            "x.sched: the schedule is broken: raw: op 1 reads (and 1 more); expected one that "
            "`slackline check` proves");
}

}  // namespace
}  // namespace slackline::cli
