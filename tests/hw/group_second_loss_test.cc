// A member that has heard of a loss is killed. The mesh does not call that a loss, for a process
// may end in any way because of one: its groups end all the same.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hw/group.h"
#include "hw/transports.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/shared_number.h"

namespace slackline {
namespace {

using testing::MeshRanks;

using Say = MeshRanks::Say;
using namespace std::chrono_literals;

constexpr std::uint32_t kFirst = 3;   // is lost
constexpr std::uint32_t kSecond = 1;  // has heard of it

void await_loss(const hw::Mesh& mesh) {
  while (!mesh.any_lost()) std::this_thread::sleep_for(1ms);
}

hw::GroupsOptions patient_groups() {
  hw::GroupsOptions options = testing::quick_groups();
  options.timeout = 1h;
  return options;
}

std::unique_ptr<hw::Transport> net() { return hw::make_transport("net", {.host = "127.0.0.1"}); }

// The second once it knows of the first's loss. All others say that they do.
void kill_both(MeshRanks& ranks) {
  ranks.signal(kFirst, SIGKILL);
  for (const std::uint32_t r : {0u, kSecond, 2u}) EXPECT_EQ(ranks.next(r), "lost");
  ranks.signal(kSecond, SIGKILL);
  EXPECT_EQ(ranks.next(kSecond), "(end)");
}

// Whether the first that is lost is a member too: then the group has failed before, and the others
// settle with the second, which has told them nothing yet.
class GroupSecondLoss : public ::testing::TestWithParam<bool> {};

TEST_P(GroupSecondLoss, EndsTheGroup) {
  std::vector<std::uint32_t> members{0, kSecond, 2};
  if (GetParam()) members.push_back(kFirst);
  testing::SharedNumber go;
  MeshRanks ranks;
  ranks.start_all(4, [&](const hw::MeshOptions& mine, const Say& say) {
    hw::Mesh mesh(mine);
    hw::Groups groups(mesh, net, patient_groups());
    std::vector<std::byte> memory(64);
    hw::GroupCallbacks callbacks;
    callbacks.incoming = [&](std::size_t) { return std::span(memory); };
    // Its completion thread is kept, and hears no word.
    callbacks.completion = [&](std::span<std::byte>) {
      if (mine.rank != kSecond) return;
      say("kept");
      go.await(2);
    };
    if (mine.rank != kFirst || GetParam()) {
      groups.create_group(1, members, callbacks, {.block_bytes = 1024});
    }
    if (mine.rank == 0) groups.send(1, memory);
    if (mine.rank != kSecond) say("ready");
    if (mine.rank == kFirst) go.await(2);
    await_loss(mesh);
    say("lost");
    go.await(1);
    const hw::GroupClosing closing = groups.destroy_group(1);
    say(closing.delivered ? "delivered" : fmt::format("failed by {}", *closing.rank));
    go.await(2);
  });
  EXPECT_EQ(ranks.next(0), "ready");
  EXPECT_EQ(ranks.next(kSecond), "kept");
  EXPECT_EQ(ranks.next(2), "ready");
  EXPECT_EQ(ranks.next(kFirst), "ready");
  kill_both(ranks);
  go.set(1);
  for (const std::uint32_t r : {0u, 2u}) {
    EXPECT_EQ(ranks.next(r), fmt::format("failed by {}", GetParam() ? kFirst : kSecond));
  }
  go.set(2);
}

INSTANTIATE_TEST_SUITE_P(OfAMember, GroupSecondLoss, ::testing::Bool());

// Long before the patience is over.
TEST(GroupCreation, WhoHasLeftMeanwhileIsNamed) {
  testing::SharedNumber go;
  MeshRanks ranks;
  ranks.start_all(4, [&](const hw::MeshOptions& mine, const Say& say) {
    hw::Mesh mesh(mine);
    hw::Groups groups(mesh, net, patient_groups());
    say("ready");
    if (mine.rank == kFirst) go.await(2);
    await_loss(mesh);
    say("lost");
    if (mine.rank == kSecond) go.await(2);
    go.await(1);
    say(testing::refusal([&] { groups.create_group(1, {0, kSecond, 2}, {}); }));
    go.await(2);
  });
  for (std::uint32_t r = 0; r < 4; ++r) EXPECT_EQ(ranks.next(r), "ready");
  kill_both(ranks);
  go.set(1);
  for (const std::uint32_t r : {0u, 2u}) {
    EXPECT_EQ(ranks.next(r), "1 create_group: group 1: rank 1 has left");
  }
  go.set(2);
}

}  // namespace
}  // namespace slackline
