// Channels that gather messages, on real transports: every rank proves its bytes.
#include "hw/executor/bundles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "hw/executor/channels.h"
#include "sched/compile.h"
#include "tests/hw/gathered.h"
#include "tests/hw/local_ranks.h"
#include "tests/hw/loop_ranks.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using testing::Gathered;
using namespace sched;  // NOLINT: as the draft does

std::string breach(const std::string& provider, const Schedule& schedule) {
  hw::FabricOptions options;
  options.provider = provider;
  if (provider != "shm") options.host = "127.0.0.1";
  for (const testing::RankReport& report : testing::run_locally(
           schedule, [&] { return hw::make_fabric_transport(options); },
           std::chrono::seconds(20))) {
    if (!report.error.empty()) return report.error;
  }
  return "";
}

TEST(RunBundles, CallsAreAggregated) {
  for (const char* provider : {"shm", "net"}) {
    for (const char* pattern : {"call-return", "broadcast-buffer-write"}) {
      for (const char* how :
           {"trad,flush=100", "ovfl,signal=3", "trad,via=send", "trad,chunk=200,chunk-limit=2"}) {
        const std::string spec =
            fmt::format("{}:ranks=3,bytes=20,messages=60,aggregation={}", pattern, how);
        EXPECT_EQ(breach(provider, compile(parse_spec(spec))), "") << provider << " " << spec;
      }
    }
  }
}

TEST(RunBundles, MessagesOfEveryKindComeInOrder) {
  for (const char* provider : {"shm", "net"}) {
    for (const Bundle bundle : {Bundle::kTraditional, Bundle::kOverflow}) {
      for (const char* kinds : {"ffffffpppppf", "ssssssssss", "isfpisfpisfpsss", "eseesesssee"}) {
        for (const std::uint64_t apart : {0, 40}) {
          Gathered gathered(bundle, kinds, apart);
          // Long enough that only the last ones are sent for their age.
          gathered.draft.channels[0].bundle_delay = Time{2'000'000'000};
          EXPECT_EQ(breach(provider, gathered.draft.build()), "")
              << provider << " " << kinds << " " << apart << " " << name(bundle);
        }
      }
    }
  }
}

TEST(RunBundles, MessagesOfOneByteComeToo) {
  for (const char* kinds : {"ssesspsf", "fffpppff"}) {
    Gathered gathered(Bundle::kTraditional, kinds, 0, true, 1);
    EXPECT_EQ(breach("net", gathered.draft.build()), "") << kinds;
  }
}

TEST(RunBundles, AFlushSendsTheRest) {
  for (const char* kinds : {"fff", "sss"}) {
    Gathered gathered(Bundle::kTraditional, kinds, 0, true);
    gathered.draft.channels[0].bundle_bytes = 1'000'000;
    EXPECT_EQ(breach("net", gathered.draft.build()), "") << kinds;
  }
}

// So many requests of a kind rank 0 has posted after some rounds.
std::size_t posted(testing::LoopRanks& ranks, hw::RequestKind kind) {
  for (int i = 0; i < 10; ++i) ranks.round();
  const auto& requests = ranks.transport(0).posted;
  return static_cast<std::size_t>(
      std::ranges::count(requests, kind, [](const hw::WorkRequest& r) { return r.kind; }));
}

// As in a simulation, which knows no headers: 5 messages of 24 bytes fill a bundle of 100.
TEST(RunBundles, TheBytesOfMessagesFillThem) {
  const Schedule schedule = Gathered(Bundle::kTraditional, "ssssssssss", 0).draft.build();
  testing::Loop loop;
  testing::LoopRanks ranks(schedule, loop);
  ranks.set_up();
  ranks.begin();
  EXPECT_EQ(posted(ranks, hw::RequestKind::kSend), 2u);
  EXPECT_TRUE(ranks.finish());
  ranks.expect_proved();
}

// As in a simulation: a calculation that has the lane keeps it waiting, and so does a delay of its
// own.
TEST(RunBundles, AFlushHasItsTurnOnItsLane) {
  constexpr Time kMinute{60'000'000'000'000};
  for (const bool calculates : {true, false}) {
    Gathered gathered(Bundle::kTraditional, "sss", 0);
    gathered.draft.channels[0].bundle_bytes = 1'000'000;
    if (calculates) {
      gathered.draft.add(OpKind::kCalc, 0);
      gathered.draft.ops.back().arguments.emplace().duration = kMinute;
    }
    gathered.draft.add(OpKind::kFlush, 0, gathered.channel);
    const Schedule schedule = gathered.draft.build();
    machine::DelayPlan plan;
    if (!calculates) plan.ops.push_back({OpId(3), kMinute, true, RankId::none()});
    const machine::Delays delays(plan, schedule, machine::Platform{});
    hw::ExecutorOptions options;
    options.delays = &delays;
    testing::Loop loop;
    testing::LoopRanks ranks(schedule, loop);
    ranks.set_up_alike(options);
    ranks.begin();
    EXPECT_EQ(posted(ranks, hw::RequestKind::kSend), 0u) << calculates;
  }
}

// As in a simulation: what was gathered is on its way when its bundle is.
TEST(RunBundles, TimesOnTheWireAreTheBundles) {
  Gathered gathered(Bundle::kTraditional, "sss", 0);
  gathered.draft.channels[0].bundle_bytes = 1'000'000;
  gathered.draft.add(OpKind::kCalc, 0);
  gathered.draft.ops.back().arguments.emplace().duration = Time{1'000'000'000};
  gathered.draft.add(OpKind::kFlush, 0, gathered.channel);
  const Schedule schedule = gathered.draft.build();
  testing::Loop loop;
  testing::LoopRanks ranks(schedule, loop);
  ranks.set_up();
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  const auto times = ranks.executor(0).times();
  for (std::uint32_t send = 0; send < 3; ++send) {
    EXPECT_LT(times[send].issued_s, times[send].wire_s) << send;
    EXPECT_EQ(times[send].wire_s, times[4].issued_s) << send;
  }
}

// Nothing says how many messages without bytes a bundle has, but the memory for their headers.
TEST(RunBundles, MessagesWithoutBytesFillTheirMemory) {
  std::string kinds(20000, 'e');
  Gathered gathered(Bundle::kTraditional, kinds, 0, true);
  const Schedule schedule = gathered.draft.build();
  testing::Loop loop;
  testing::LoopRanks ranks(schedule, loop);
  ranks.set_up();
  ranks.begin();
  EXPECT_TRUE(ranks.finish());
  const std::size_t bundles = posted(ranks, hw::RequestKind::kSend);
  EXPECT_EQ(bundles, 5u);
}

// A get, an atomic, and a put that is too large to be copied count in the window.
TEST(RunBundles, WhatGoesByItselfHoldsOthersBack) {
  constexpr std::uint64_t kLarge = 100'000;
  for (const auto& [kind, in_order] :
       {std::pair{OpKind::kGet, false}, std::pair{OpKind::kFetchAdd, false},
        std::pair{OpKind::kPut, false}, std::pair{OpKind::kGet, true},
        std::pair{OpKind::kPut, true}}) {
    testing::Draft draft;
    draft.ranks = 2;
    const ChannelId channel = draft.channel(0, 1, 1);
    draft.channels[0].bundle = Bundle::kOverflow;
    draft.channels[0].bundle_bytes = 1000;
    const BufferId here = draft.buffer(0, 2 * kLarge);
    const BufferId there = draft.buffer(1, 2 * kLarge);
    if (kind == OpKind::kGet) draft.get(channel, {there, 0, 8}, {here, 0, 8});
    if (kind == OpKind::kFetchAdd) {
      draft.atomic(kind, channel, {there, 0, 8}, {{here, 0, 8}});
      draft.ops.back().arguments.emplace().operand.value = 1;
    }
    if (kind == OpKind::kPut) draft.put(channel, {here, 0, kLarge}, {there, 0, kLarge});
    for (std::uint64_t at = kLarge; at < kLarge + 64; at += 8) {
      draft.put(channel, {here, at, 8}, {there, at, 8});
    }
    const Schedule schedule = draft.build();
    testing::Loop loop;
    testing::LoopRanks ranks(schedule, loop);
    // Where one completion speaks for those before it, these have one all the same.
    ranks.transport(0).in_order = in_order;
    ranks.set_up();
    ranks.transport(0).held = true;
    ranks.begin();
    const std::size_t alone = kind == OpKind::kPut ? 1 : 0;
    EXPECT_EQ(posted(ranks, hw::RequestKind::kWrite), alone) << name(kind);
    ranks.transport(0).held = false;
    EXPECT_EQ(posted(ranks, hw::RequestKind::kWrite), alone + 1) << name(kind);
    EXPECT_TRUE(ranks.finish()) << name(kind);
  }
}

// Nothing of such a bundle is posted: its operations are done when it leaves, for its age or for
// the room that a message before it has made.
TEST(RunBundles, PutsWithoutBytesAreDoneWhenTheirBundleLeaves) {
  constexpr std::uint64_t kLarge = 100'000;
  for (const Bundle bundle : {Bundle::kTraditional, Bundle::kOverflow}) {
    testing::Draft draft;
    draft.ranks = 2;
    const ChannelId channel = draft.channel(0, 1, 1);
    draft.channels[0].bundle = bundle;
    draft.channels[0].bundle_bytes = 1000;
    const BufferId here = draft.buffer(0, kLarge);
    const BufferId there = draft.buffer(1, kLarge);
    if (bundle == Bundle::kTraditional) {
      draft.channels[0].bundle_delay = Time{1'000'000};
    } else {
      draft.put(channel, {here, 0, kLarge}, {there, 0, kLarge});  // too large to be copied
    }
    draft.put(channel, {here, 0, 0}, {there, 0, 0});
    const Schedule schedule = draft.build();
    testing::Loop loop;
    testing::LoopRanks ranks(schedule, loop);
    ranks.set_up();
    ranks.begin();
    EXPECT_TRUE(ranks.finish()) << name(bundle);
  }
}

// A bundle says which operations it has. Whoever sent it is named if it cannot have them.
TEST(RunBundles, WhatIsNoBundleIsRefused) {
  Gathered gathered(Bundle::kTraditional, "ssp", 0);
  const Schedule schedule = gathered.draft.build();
  const auto end = [&](std::uint32_t op, std::size_t bytes) -> std::string {
    testing::Loop loop;
    testing::LoopRanks ranks(schedule, loop);
    ranks.set_up();
    ranks.begin();
    std::vector<std::byte> bundle(bytes);
    if (bytes >= sizeof op) std::memcpy(bundle.data(), &op, sizeof op);
    testing::LoopTransport source(loop);
    const hw::Segment segment{bundle.data(), bundle.size(), 7};
    hw::WorkRequest request;
    request.kind = hw::RequestKind::kSend;
    request.channel = hw::ExecutorChannels(schedule, 0).of_bundles(gathered.channel);
    request.local = {&segment, 1};
    source.post({&request, 1});
    return testing::error_of<EnvironmentError>([&] {
      for (int i = 0; i < 10; ++i) ranks.executor(1).progress();
    });
  };
  constexpr std::size_t kHead = 16;
  constexpr std::size_t kBytes = 24;  // of an operation
  EXPECT_EQ(end(0, kHead + kBytes), "");
  EXPECT_EQ(end(2, kHead + kBytes), "");
  EXPECT_EQ(end(0, kHead + kBytes - 1), "rank 0 sent what is no bundle: cut short");
  EXPECT_EQ(end(0, kHead + kBytes + 1), "rank 0 sent what is no bundle: cut short");
  EXPECT_EQ(end(0, 3), "rank 0 sent what is no bundle: cut short");
  EXPECT_EQ(end(99, kHead + kBytes), "rank 0 sent what is no bundle: an operation that is none");
  // Rank 1's own receive.
  EXPECT_EQ(end(3, kHead + kBytes),
            "rank 0 sent what is no bundle: an operation of another channel");
}

}  // namespace
}  // namespace slackline
