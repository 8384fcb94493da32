// A group that cannot be created: who is lost is named, and its name is not used again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <vector>

#include "base/error.h"
#include "hw/bytes.h"
#include "hw/group.h"
#include "hw/group/control.h"
#include "hw/group/create.h"
#include "hw/transports.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;
using testing::refusal;
using ::testing::StartsWith;

using Say = MeshRanks::Say;

std::unique_ptr<hw::Transport> net() {
  hw::TransportOptions options;
  options.host = "127.0.0.1";
  return hw::make_transport("net", options);
}

// The root has told the name before it hears that nothing comes of it: another member may have
// begun the group by then, and leaves it with words that no other group must hear. Rank 1 is
// played.
TEST(GroupCreation, TheNameOfARefusedGroupIsNotUsedAgain) {
  MeshRanks ranks;
  ranks.start_all(2, [](const hw::MeshOptions& options, const Say& say) {
    hw::Mesh mesh(options);
    if (mesh.rank() == 0) {
      hw::Groups groups(mesh, net, testing::quick_groups());
      for (const std::uint32_t id : {1u, 2u}) {
        say(refusal([&] { groups.create_group(id, {0, 1}, {}); }));
      }
      mesh.barrier();
      return;
    }
    std::vector<std::uint32_t> names;
    for (const std::uint32_t id : {1u, 2u}) {
      hw::GroupMeeting meeting(mesh, {id, {0, 1}, ""}, std::chrono::hours(1));
      meeting.refuse(InputError("not now"));
      const hw::Bytes wish = mesh.receive(0, hw::kGroupHello + id);
      hw::ByteReader reader(wish);
      reader.get<std::uint8_t>();  // what it is
      reader.list<std::uint32_t>();
      reader.text();
      names.push_back(reader.get<std::uint32_t>());
    }
    say(names[0] == names[1] ? "the same name" : "two names");
    mesh.barrier();
  });
  EXPECT_EQ(ranks.next(0), "2 not now");
  EXPECT_EQ(ranks.next(0), "2 not now");
  EXPECT_EQ(ranks.next(1), "two names");
}

// Long before the patience is over.
TEST(GroupCreation, WhoIsLostMeanwhileIsNamed) {
  MeshRanks ranks;
  ranks.start_all(4, [](const hw::MeshOptions& options, const Say& say) {
    hw::Mesh mesh(options);
    hw::GroupsOptions group_options = testing::quick_groups();
    group_options.timeout = std::chrono::hours(1);
    hw::Groups groups(mesh, net, group_options);
    mesh.barrier();
    // What it said for the barrier may not have left it when it has heard the others.
    if (mesh.rank() != 3) mesh.send(3, 1, {});
    for (std::uint32_t r = 0; r < 3 && mesh.rank() == 3; ++r) mesh.receive(r, 1);
    if (mesh.rank() == 3) _exit(0);
    if (mesh.rank() != 2) {
      try {
        groups.create_group(1, {0, 1, 3}, {});
      } catch (const hw::PeerLost& lost) {
        say(fmt::format("{} {}", lost.rank(), lost.what()));
      }
    }
    groups.create_group(2, {0, 1, 2}, {});
    say(groups.destroy_group(2).delivered ? "delivered" : "not delivered");
  });
  for (const std::uint32_t r : {0u, 1u}) {
    EXPECT_THAT(ranks.next(r), StartsWith("3 create_group: group 1: rank 3 was lost: "));
  }
  for (const std::uint32_t r : {0u, 1u, 2u}) EXPECT_EQ(ranks.next(r), "delivered");
}

}  // namespace
}  // namespace slackline
