// Channels that gather messages, on real transports: every rank proves its bytes.
#include "hw/executor/bundles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hw/executor/channels.h"
#include "sched/compile.h"
#include "tests/hw/gathered.h"
#include "tests/hw/local_ranks.h"
#include "tests/hw/loop_ranks.h"

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
    try {
      for (int i = 0; i < 10; ++i) ranks.executor(1).progress();
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  constexpr std::size_t kHead = 16;
  constexpr std::size_t kBytes = 24;  // of an operation
  EXPECT_EQ(end(0, kHead + kBytes), "taken");
  EXPECT_EQ(end(2, kHead + kBytes), "taken");
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
