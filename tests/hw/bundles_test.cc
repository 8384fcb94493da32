// Channels that gather messages, on real transports: every rank proves its bytes.
#include "hw/bundles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sched/compile.h"
#include "tests/hw/local_ranks.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using testing::Draft;
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

// Rank 0 gathers for rank 1: `kinds` of messages, each to a place of its own, `apart` bytes from
// the next.
struct Gathered {
  Draft draft;
  ChannelId channel;

  Gathered(Bundle bundle, const std::string& kinds, std::uint64_t apart, bool flushes = false) {
    constexpr std::uint64_t kBytes = 24;
    draft.ranks = 2;
    channel = draft.channel(0, 1);
    draft.channels[0].bundle = bundle;
    draft.channels[0].bundle_bytes = 100;
    draft.channels[0].window = 2;
    const std::uint64_t all = kinds.size() * (kBytes + apart);
    const BufferId from = draft.buffer(0, all);
    const BufferId to = draft.buffer(1, all);
    std::vector<OpId> flags;
    for (std::uint32_t i = 0; i < kinds.size(); ++i) {
      const Slice source{from, i * kBytes, kBytes};
      const Slice target{to, i * (kBytes + apart), kBytes};
      draft.pre.push_back({source, ValueId(i), 0});
      draft.post.push_back({target, ValueId(i), 0});
      switch (kinds[i]) {
        case 's':
          draft.send(channel, {source});
          break;
        case 'i':
          draft.put(channel, source, target, Notify::kImm);
          break;
        case 'f':
          flags.push_back(draft.put(channel, source, target, Notify::kFlag));
          break;
        default:
          draft.put(channel, source, target);
      }
    }
    if (flushes) draft.add(OpKind::kFlush, 0, channel);
    for (std::uint32_t i = 0; i < kinds.size(); ++i) {
      const Slice target{to, i * (kBytes + apart), kBytes};
      if (kinds[i] == 's') draft.recv(channel, {target});
      if (kinds[i] == 'i') draft.recv(channel);
      if (kinds[i] == 'f') draft.flag(flags[draft.flags.size()], draft.poll(1, {target}));
    }
  }
};

TEST(RunBundles, MessagesOfEveryKindComeInOrder) {
  for (const char* provider : {"shm", "net"}) {
    for (const Bundle bundle : {Bundle::kTraditional, Bundle::kOverflow}) {
      for (const char* kinds : {"ffffffpppppf", "ssssssssss", "isfpisfpisfpsss"}) {
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

TEST(RunBundles, AFlushSendsTheRest) {
  for (const char* kinds : {"fff", "sss"}) {
    Gathered gathered(Bundle::kTraditional, kinds, 0, true);
    gathered.draft.channels[0].bundle_bytes = 1'000'000;
    EXPECT_EQ(breach("net", gathered.draft.build()), "") << kinds;
  }
}

}  // namespace
}  // namespace slackline
