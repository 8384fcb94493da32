// Multicasts by datagrams over Soft-RoCE: all ranks on one device, whose host loops what is sent to
// a group back to its members.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "hw/rank_facts.h"
#include "hw/session.h"
#include "hw/verbs/transport.h"
#include "sched/compile.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;

TEST(Multicast, EachPacketIsSentOnceWhoeverGetsIt) {
  constexpr std::uint32_t kRanks = 5;
  MeshRanks ranks;
  ranks.start_all(kRanks, [](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    hw::VerbsOptions verbs;
    verbs.multicast = true;
    verbs.mtu = 1024;
    const auto transport = hw::make_verbs_transport(verbs);
    hw::Session session(mesh, *transport);
    for (const char* const spec : {"switch-multicast:ranks=5,bytes=100000,block=30000",
                                   "switch-multicast:ranks=5,bytes=50000,block=7000,root=2"}) {
      hw::RunOptions run;
      run.iterations = 3;
      run.warm_up = 0;
      const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
      say(session.run(schedule, run).breach.value_or("proved"));
      const hw::MulticastCounts counts = *transport->facts().multicast;
      if (mesh.rank() == 0) say(fmt::format("sent {}", counts.sent));
      say(counts.sent == 0 && counts.received == 0 ? "nothing came" : "some came");
    }
  });
  for (int run = 0; run < 2; ++run) {
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      EXPECT_EQ(ranks.next(r), "proved") << r;
      // Of 1000 bytes: three blocks of 30 packets and one of 10, three times. Then it was rank 2.
      if (r == 0) {
        EXPECT_EQ(ranks.next(r), "sent 300");
      }
      EXPECT_EQ(ranks.next(r), "some came") << r;
    }
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "(end)") << r;
}

}  // namespace
}  // namespace slackline
