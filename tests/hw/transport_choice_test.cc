// Which transport ranks can take. A host of its own is a /dev/shm of its own here.
#include "hw/transport_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/call.h"
#include "hw/group.h"
#include "hw/mesh/host_identity.h"
#include "hw/session.h"
#include "hw/transports.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using hw::Mesh;
using hw::MeshOptions;
using testing::MeshRanks;
using Say = MeshRanks::Say;

constexpr const char* kNoRights = "no rights";

bool be_on_a_host(const std::string& name) {
  return unshare(CLONE_NEWNS | CLONE_NEWUTS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", "/dev/shm", "tmpfs", 0, nullptr) == 0 &&
         sethostname(name.c_str(), name.size()) == 0;
}

std::string refusal(const std::function<void()>& ask) { return testing::error_of(ask); }

// Ranks 0 and 2 are on node0, rank 1 is on node1.
void start_on_two_hosts(MeshRanks& ranks, const std::function<void(Mesh&, const Say&)>& body) {
  ranks.start_all(3, [&body](const MeshOptions& own, const Say& say) {
    // Ranks of one host share its /dev/shm; it is enough that rank 1 has another.
    const bool may = own.rank == 1 ? be_on_a_host("node1")
                                   : unshare(CLONE_NEWUTS) == 0 && sethostname("node0", 5) == 0;
    if (!may) return say(kNoRights);
    Mesh mesh(own);
    body(mesh, say);
    mesh.barrier();
  });
}

TEST(HostIdentity, NamesDoNotTellHostsApart) {
  const std::string own = hw::host_identity();
  EXPECT_TRUE(hw::is_same_host(own, hw::host_identity()));
  EXPECT_TRUE(hw::is_same_host("boot/1/2 node0", "boot/1/2 container"));
  EXPECT_FALSE(hw::is_same_host("boot/1/2 node0", "boot/1/3 node0"));
  EXPECT_EQ(hw::host_name("boot/1/2 node0"), "node0");
  EXPECT_EQ(hw::host_name("boot"), "");
}

TEST(TransportChoice, ByTheRanksAlone) {
  EXPECT_NO_THROW(hw::require_ranks("shm", 256));
  EXPECT_THROW(hw::require_ranks("shm", 257), InputError);
  EXPECT_NO_THROW(hw::require_ranks("net", 257));
}

TEST(TransportChoice, OneHostTakesWhatItAsksFor) {
  MeshRanks ranks;
  ranks.start_all(2, [](const MeshOptions& own, const Say& say) {
    Mesh mesh(own);
    for (const char* asked : {"auto", "shm", "net"}) {
      const std::string_view chosen = hw::choose_transport(asked, mesh);
      hw::require_reach(chosen, mesh);
      hw::require_room(chosen, mesh);
      say(std::string(chosen));
    }
    mesh.barrier();
  });
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(ranks.next(r), "shm");
    EXPECT_EQ(ranks.next(r), "shm");
    EXPECT_EQ(ranks.next(r), "net");
    EXPECT_EQ(ranks.next(r), "(end)");
  }
}

TEST(TransportChoice, SharedMemoryEndsAtTheHost) {
  MeshRanks ranks;
  start_on_two_hosts(ranks, [](Mesh& mesh, const Say& say) {
    say(std::string(hw::choose_transport("auto", mesh)));
    say(refusal([&] { hw::require_reach("shm", mesh); }));
    say(refusal([&] { hw::require_reach("net", mesh); }));
    say(refusal([&] { hw::require_reach("shm", mesh, std::vector<std::uint32_t>{2, 0}); }));
  });
  for (std::size_t r = 0; r < 3; ++r) {
    const std::string first = ranks.next(r);
    if (first == kNoRights) GTEST_SKIP() << "namespaces need root";
    EXPECT_EQ(first, "tcp");
    EXPECT_EQ(ranks.next(r),
              "transport shm: rank 0 is on node0, rank 1 on node1, and hosts share no memory; "
              "expected --transport tcp (auto chooses by itself)");
    EXPECT_EQ(ranks.next(r), "");
    EXPECT_EQ(ranks.next(r), "");
    EXPECT_EQ(ranks.next(r), "(end)");
  }
}

// Whoever uses the libraries hears the same.
TEST(TransportChoice, SessionsGroupsAndCallsAsk) {
  MeshRanks ranks;
  start_on_two_hosts(ranks, [](Mesh& mesh, const Say& say) {
    const auto make = [] { return hw::make_transport("shm", {}); };
    const auto transport = make();
    say(refusal([&] { const hw::Session session(mesh, *transport); }));
    say(refusal([&] { const hw::Calls calls(mesh, make()); }));
    hw::Groups groups(mesh, make);
    const std::vector<std::uint32_t> all{0, 1, 2};
    say(refusal([&] { groups.create_group(1, all, {}); }));
  });
  for (std::size_t r = 0; r < 3; ++r) {
    for (int user = 0; user < 3; ++user) {
      const std::string heard = ranks.next(r);
      if (heard == kNoRights) GTEST_SKIP() << "namespaces need root";
      EXPECT_THAT(heard, ::testing::HasSubstr("rank 0 is on node0, rank 1 on node1")) << user;
    }
    EXPECT_EQ(ranks.next(r), "(end)");
  }
}

}  // namespace
}  // namespace slackline
