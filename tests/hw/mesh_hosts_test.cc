// Ranks on several hosts, which are network namespaces here, and clocks that differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <set>

#include "tests/hw/clock_ahead.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/netns.h"

namespace slackline {
namespace {

using hw::Mesh;
using hw::MeshOptions;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::MeshRanks;
using testing::NetworkHosts;
using ::testing::StartsWith;
using Say = MeshRanks::Say;
using namespace std::chrono_literals;

// Rank r on host r. Ports of a new namespace are all free.
void start_on_hosts(MeshRanks& ranks, const NetworkHosts& hosts, std::uint32_t count,
                    const std::function<void(MeshOptions&)>& change, const MeshRanks::Body& body) {
  for (std::uint32_t r = 0; r < count; ++r) {
    MeshOptions options = ranks.options(r, count);
    options.root = NetworkHosts::address(0) + ":5000";
    options.root_socket = -1;
    change(options);
    ranks.start(options, [&hosts, &body](const MeshOptions& own, const Say& say) {
      hosts.enter(static_cast<int>(own.rank));
      body(own, say);
    });
  }
}

TEST(MeshHosts, RanksOfSeveralHostsJoin) {
  const NetworkHosts hosts(4);
  if (!hosts.why_not().empty()) GTEST_SKIP() << hosts.why_not();
  MeshRanks ranks;
  start_on_hosts(
      ranks, hosts, 4, [](MeshOptions&) {},
      [](const MeshOptions& own, const Say& say) {
        Mesh mesh(own);
        const auto all = mesh.all_gather(std::as_bytes(std::span(&own.rank, 1)));
        for (std::uint32_t r = 0; r < 4; ++r) {
          if (all[r].size() != 4 || all[r][0] != static_cast<std::byte>(r)) say("wrong");
        }
        // They share this machine's memory all the same.
        say(fmt::format("{} here", mesh.ranks_on_this_host().size()));
        mesh.barrier();
      });
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(ranks.next(r), "4 here");
    EXPECT_EQ(ranks.next(r), "(end)");
  }
}

TEST(MeshHosts, ALinkThatIsDownIsNoticedByBothSides) {
  NetworkHosts hosts(3);
  if (!hosts.why_not().empty()) GTEST_SKIP() << hosts.why_not();
  MeshRanks ranks;
  start_on_hosts(
      ranks, hosts, 3, [](MeshOptions& options) { options.failure_timeout = 5s; },
      [](const MeshOptions& own, const Say& say) {
        Mesh mesh(own);
        say("joined");
        try {
          for (;;) mesh.barrier();
        } catch (const hw::PeerLost& error) {
          say(error.what());
        }
        // Time for more to be lost, which must not be.
        usleep(1'500'000);
        std::set<std::uint32_t> lost;
        for (const hw::Loss& loss : mesh.lost()) lost.insert(loss.rank);
        say(fmt::format("{}", fmt::join(lost, " ")));
      });
  for (std::size_t r = 0; r < 3; ++r) ASSERT_EQ(ranks.next(r), "joined");
  usleep(100'000);
  hosts.pull_link(2);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(ranks.next(r), "rank 2 is lost: silent for 3.5 s");
    EXPECT_EQ(ranks.next(r), "2");
  }
  // Seen from there it is the others that are gone.
  EXPECT_THAT(ranks.next(2), HasSubstr(" is lost: silent for 3.5 s"));
  EXPECT_EQ(ranks.next(2), "0 1");
}

// A message that takes much longer than the timeout, of a rank that leaves at once.
TEST(MeshHosts, SlowIsNotLost) {
  NetworkHosts hosts(2);
  hosts.slow_down(1, "40mbit");
  if (!hosts.why_not().empty()) GTEST_SKIP() << hosts.why_not();
  MeshRanks ranks;
  start_on_hosts(
      ranks, hosts, 2, [](MeshOptions& options) { options.failure_timeout = 1'500ms; },
      [](const MeshOptions& own, const Say& say) {
        constexpr std::size_t kBytes = 20'000'000;  // 4 s
        Mesh mesh(own);
        const auto start = std::chrono::steady_clock::now();
        if (mesh.rank() == 1) {
          mesh.send(0, 1, hw::Bytes(kBytes, std::byte{7}));
          return;
        }
        const bool came = mesh.receive(1, 1) == hw::Bytes(kBytes, std::byte{7});
        const auto took = std::chrono::steady_clock::now() - start;
        if (took < 2 * own.failure_timeout) say("too fast to prove anything");
        say(fmt::format("{}, {} lost", came ? "as it was" : "wrong", mesh.lost().size()));
      });
  EXPECT_EQ(ranks.next(0), "as it was, 0 lost");
  EXPECT_EQ(ranks.next(1), "(end)");
}

TEST(MeshHosts, WhoCannotReachWhomIsTold) {
  NetworkHosts hosts(4);
  if (!hosts.why_not().empty()) GTEST_SKIP() << hosts.why_not();
  hosts.run(2, {"route", "add", "unreachable", NetworkHosts::address(1)});
  ASSERT_EQ(hosts.why_not(), "");
  MeshRanks ranks;
  start_on_hosts(
      ranks, hosts, 4, [](MeshOptions&) {},
      [](const MeshOptions& own, const Say&) { Mesh mesh(own); });
  const std::string line = ranks.next(0);
  EXPECT_THAT(line, AllOf(StartsWith("! 3 rank 2 cannot reach rank 1 at 10.77.0.2:"),
                          HasSubstr("No route to host; look at routes and firewalls")));
  for (std::size_t r = 1; r < 4; ++r) EXPECT_EQ(ranks.next(r), line);
}

// As behind a firewall that drops what it does not like.
TEST(MeshHosts, WhoDoesNotAnswerWhomIsTold) {
  NetworkHosts hosts(3);
  if (!hosts.why_not().empty()) GTEST_SKIP() << hosts.why_not();
  hosts.run(2, {"neighbour", "add", NetworkHosts::address(1), "lladdr", "02:00:00:00:00:99", "dev",
                "eth0", "nud", "permanent"});
  ASSERT_EQ(hosts.why_not(), "");
  MeshRanks ranks;
  start_on_hosts(
      ranks, hosts, 3, [](MeshOptions& options) { options.join_timeout = 2s; },
      [](const MeshOptions& own, const Say&) { Mesh mesh(own); });
  const std::string line = ranks.next(0);
  EXPECT_THAT(
      line, AllOf(StartsWith("! 3 rank 2 cannot reach rank 1 at 10.77.0.2:"),
                  HasSubstr(": no answer within "), HasSubstr(" s; look at routes and firewalls")));
  for (std::size_t r = 1; r < 3; ++r) EXPECT_EQ(ranks.next(r), line);
}

TEST(MeshHosts, ANameThatNobodyKnows) {
  NetworkHosts hosts(1);
  if (!hosts.why_not().empty()) GTEST_SKIP() << hosts.why_not();
  MeshRanks ranks;
  MeshOptions options = ranks.options(1, 2);
  options.root = "no-such-host.invalid:5000";
  ranks.start(options, [&hosts](const MeshOptions& own, const Say&) {
    hosts.enter(0);
    Mesh mesh(own);
  });
  EXPECT_THAT(ranks.next(0), StartsWith("! 3 no host \"no-such-host.invalid\" is known here ("));
}

// A rank whose clock is 100 s ahead; nobody but the clock says so.
TEST(MeshHosts, ClocksThatDifferAreMeasured) {
  MeshRanks ranks;
  const auto measure = [](const MeshOptions& own, const Say& say) {
    Mesh mesh(own);
    mesh.follow_clock();
    const hw::ClockOffset clock = mesh.clock();
    mesh.followed_clock();
    mesh.barrier();
    say(fmt::format("{:.12} {:.12}", clock.offset_s, clock.error_s));
  };
  ranks.start(ranks.options(0, 2), measure);
  ranks.start(ranks.options(1, 2), testing::with_clock_ahead(measure));
  const std::string line = ranks.next(1);
  if (line == testing::kNoClocks) GTEST_SKIP() << line;
  double offset_s = 0;
  double error_s = 0;
  ASSERT_EQ(std::sscanf(line.c_str(), "%lf %lf", &offset_s, &error_s), 2) << line;
  EXPECT_GT(error_s, 0);
  EXPECT_LT(error_s, 0.5);
  EXPECT_LE(std::abs(offset_s + 100), error_s + 1e-12);
  EXPECT_EQ(ranks.next(0), "0 0");
}

}  // namespace
}  // namespace slackline
