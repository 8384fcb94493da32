// Which schedules net would hold up, and what `tcp` stands for then.
#include "hw/early_messages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/transports.h"
#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

// A message of `bytes` in each of two slices, met by a receive.
Draft message(std::uint64_t bytes, std::uint32_t window) {
  Draft draft;
  draft.ranks = 2;
  const ChannelId there = draft.channel(0, 1, window);
  const BufferId from = draft.buffer(0, 2000);
  const BufferId to = draft.buffer(1, 2000);
  draft.send(there, {{from, 0, bytes}, {from, 1000, bytes}});
  draft.recv(there, {{to, 0, 2 * bytes}});
  return draft;
}

TEST(EarlyMessages, NetKeepsAMessageOf128Bytes) {
  EXPECT_FALSE(hw::has_early_messages(message(0, 0).build()));
  EXPECT_FALSE(hw::has_early_messages(message(64, 0).build()));
  EXPECT_TRUE(hw::has_early_messages(message(65, 0).build()));
  EXPECT_TRUE(hw::has_early_messages(message(1000, 0).build()));
}

TEST(EarlyMessages, NoneComesEarlyIntoAWindow) {
  for (const std::uint32_t window : {1u, 2u, 100u}) {
    EXPECT_FALSE(hw::has_early_messages(message(1000, window).build())) << window;
  }
}

TEST(EarlyMessages, OneSidedOperationsAreNone) {
  Draft draft;
  draft.ranks = 2;
  const ChannelId there = draft.channel(0, 1);
  const Slice here{draft.buffer(0, 1000), 0, 1000};
  const Slice away{draft.buffer(1, 1000), 0, 1000};
  draft.get(there, away, here);
  draft.put(there, here, away);
  draft.put(there, here, away, Notify::kImm);
  draft.recv(there);
  EXPECT_FALSE(hw::has_early_messages(draft.build()));
}

TEST(EarlyMessages, OneIsEnough) {
  Draft draft = message(1000, 1);
  const ChannelId back = draft.channel(1, 0);
  draft.send(back, {{BufferId(1), 0, 500}});
  draft.ops.push_back(draft.ops.back());
  draft.recv(back, {{BufferId(0), 0, 500}});
  draft.recv(back, {{BufferId(0), 500, 500}});
  // Operations stand by rank.
  std::stable_sort(draft.ops.begin(), draft.ops.end(),
                   [](const DraftOp& a, const DraftOp& b) { return a.op.rank < b.op.rank; });
  EXPECT_TRUE(hw::has_early_messages(draft.build()));
}

TEST(EarlyMessages, DecideForTcpAlone) {
  const Schedule early = message(1000, 0).build();
  const Schedule late = message(1000, 1).build();
  EXPECT_EQ(hw::transport_for("tcp", early), "tcp;ofi_rxm");
  EXPECT_EQ(hw::transport_for("tcp", late), "tcp");
  for (const hw::TransportEntry& entry : hw::transports()) {
    EXPECT_EQ(hw::transport_for(entry.name, early),
              entry.name == "tcp" ? "tcp;ofi_rxm" : entry.name);
    EXPECT_EQ(hw::transport_for(entry.name, late), entry.name);
  }
}

}  // namespace
}  // namespace slackline::testing
