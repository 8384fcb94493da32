// Multicasts by datagrams over Soft-RoCE: all ranks on one device, whose host loops what is sent to
// a group back to its members.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "hw/session.h"
#include "hw/verbs/transport.h"
#include "sched/compile.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;

constexpr std::uint32_t kRanks = 4;

// A session of ranks on the GID, which say what they come to.
void multicast(const hw::MeshOptions& options, std::uint8_t gid_index, const MeshRanks::Say& say) {
  hw::Mesh mesh(options);
  hw::VerbsOptions verbs;
  verbs.multicast = true;
  verbs.mtu = 1024;
  verbs.gid_index = gid_index;
  const auto transport = hw::make_verbs_transport(verbs);
  hw::Session session(mesh, *transport);
  for (const char* const spec : {"switch-multicast:ranks=4,bytes=70000,block=30000",
                                 "switch-multicast:ranks=4,bytes=50000,block=7000,root=2"}) {
    hw::RunOptions run;
    run.iterations = 2;
    run.warm_up = 0;
    run.waiting = hw::Waiting::kInterrupt;
    const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
    say(session.run(schedule, run).breach.value_or("proved"));
    const hw::MulticastCounts counts = *transport->facts().multicast;
    if (mesh.rank() == 0) say(fmt::format("sent {}", counts.sent));
    say(counts.sent == 0 && counts.received == 0 ? "nothing came" : "some came");
  }
}

TEST(Multicast, EachPacketIsSentOnceWhoeverGetsItOverIPv4AndIPv6) {
  for (const std::uint8_t gid_index : {std::uint8_t{0}, std::uint8_t{1}}) {
    SCOPED_TRACE(gid_index);
    MeshRanks ranks;
    ranks.start_all(kRanks, [&](const hw::MeshOptions& options, const MeshRanks::Say& say) {
      multicast(options, gid_index, say);
    });
    for (int run = 0; run < 2; ++run) {
      for (std::uint32_t r = 0; r < kRanks; ++r) {
        EXPECT_EQ(ranks.next(r), "proved") << r;
        if (r == 0) {
          // Of 1000 bytes: two blocks of 30 packets and one of 10, twice. Then it was rank 2.
          EXPECT_EQ(ranks.next(r), "sent 140");
        }
        EXPECT_EQ(ranks.next(r), "some came") << r;
      }
    }
    for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "(end)") << r;
  }
}

}  // namespace
}  // namespace slackline
