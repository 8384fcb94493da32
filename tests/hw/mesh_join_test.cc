// Joins that come to nothing end all ranks with the same line, and strangers change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "hw/mesh/join.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/mesh_socket.h"
#include "tests/support/patience.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::Mesh;
using hw::MeshOptions;
using testing::accepted;
using ::testing::AllOf;
using testing::connected_to;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::Insider;
using testing::MeshRanks;
using testing::put;
using ::testing::StartsWith;
using namespace std::chrono_literals;

void join(const MeshOptions& options, const MeshRanks::Say& say) {
  Mesh mesh(options);
  mesh.barrier();
  say("joined");
}

// Rank 0 tells how many ranks are there, each time that one has come.
void join_and_count(const MeshOptions& options, const MeshRanks::Say& say) {
  MeshOptions own = options;
  own.on_join = [&say](std::uint32_t joined) { say(fmt::format("{} are there", joined)); };
  join(own, say);
}

// What is said of ranks that did come, where they were slow.
constexpr const char* kLate =
    "rank 0 did not come|ranks [013]|rank [13] did not come|fell silent|did not connect to all";

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

TEST(MeshJoin, ADisagreementEndsAllRanks) {
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 4; ++r) {
    MeshOptions options = ranks.options(r, 4);
    options.agreed = {"schedule: 1f3c", r == 2 ? "block: 77" : "block: 64"};
    if (r == 3) usleep(300'000);  // others know by then
    ranks.start(options, join);
  }
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(
        ranks.next(r),
        "! 2 ranks disagree: rank 0 has block: 64, rank 2 has block: 77; expected the same at "
        "all ranks");
    EXPECT_EQ(ranks.next(r), "(end)");
  }
}

TEST(MeshJoin, AnotherVersionEndsAllRanks) {
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 3; ++r) {
    MeshOptions options = ranks.options(r, 3);
    if (r == 1) options.version = "99.1";
    ranks.start(options, join);
  }
  const std::string line = ranks.next(0);
  EXPECT_THAT(line, AllOf(StartsWith("! 3 rank 0 is slackline "), HasSubstr("rank 1 is 99.1 ")));
  EXPECT_EQ(ranks.next(1), line);
  EXPECT_EQ(ranks.next(2), line);
}

TEST(MeshJoin, AnotherNumberOfRanksEndsAllRanks) {
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 3; ++r) ranks.start(ranks.options(r, r == 2 ? 4 : 3), join);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(ranks.next(r),
              "! 2 rank 0 was started as one of 3 ranks, rank 2 as one of 4; expected the same "
              "number at all ranks");
  }
}

TEST(MeshJoin, ADifferentFailureTimeoutIsADisagreement) {
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 2; ++r) {
    MeshOptions options = ranks.options(r, 2);
    if (r == 1) options.failure_timeout = 500ms;
    ranks.start(options, join);
  }
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_THAT(ranks.next(r), HasSubstr("rank 0 has failure timeout: 30000 ms, rank 1 has failure "
                                         "timeout: 500 ms"));
  }
}

TEST(MeshJoin, ARankThatIsThereTwiceIsNamed) {
  MeshRanks ranks;
  for (const std::uint32_t r : {0u, 1u, 1u}) ranks.start(ranks.options(r, 3), join);
  const std::string line = ranks.next(0);
  EXPECT_THAT(line, AllOf(StartsWith("! 2 rank 1 is there twice: as process "),
                          HasSubstr(std::to_string(ranks.pid(1))),
                          HasSubstr(std::to_string(ranks.pid(2)))));
  EXPECT_EQ(ranks.next(1), line);
  EXPECT_EQ(ranks.next(2), line);
}

TEST(MeshJoin, AMissingRankIsNamedByAll) {
  const auto said = [](std::chrono::milliseconds patience) {
    MeshRanks ranks;
    for (const std::uint32_t r : {0u, 1u, 3u}) {
      MeshOptions options = ranks.options(r, 4);
      options.join_timeout = patience;
      ranks.start(options, join);
    }
    return std::vector<std::string>{ranks.next(0), ranks.next(1), ranks.next(2)};
  };
  testing::expect_with_patience(
      700ms, ContainsRegex(kLate), said, [](std::chrono::milliseconds patience) {
        return ::testing::Each(
            fmt::format("! 1 rank 2 did not come within {} s", seconds(patience)));
      });
}

TEST(MeshJoin, SeveralMissingRanksAreNamed) {
  MeshRanks ranks;
  MeshOptions options = ranks.options(0, 9);
  options.join_timeout = 300ms;
  ranks.start(options, join);
  EXPECT_EQ(ranks.next(0), "! 1 ranks 1, 2, 3, 4 and 4 more did not come within 0.3 s");
}

TEST(MeshJoin, AMissingRootIsNamed) {
  MeshRanks ranks;
  for (std::uint32_t r = 1; r < 3; ++r) {
    MeshOptions options = ranks.options(r, 3);
    options.join_timeout = 300ms;
    ranks.start(options, join);
  }
  EXPECT_EQ(ranks.next(0), "! 1 rank 0 did not come within 0.3 s");
  EXPECT_EQ(ranks.next(1), "! 1 rank 0 did not come within 0.3 s");
}

TEST(MeshJoin, ALateRootIsWaitedFor) {
  MeshRanks ranks;
  for (std::uint32_t r = 1; r < 4; ++r) ranks.start(ranks.options(r, 4), join);
  usleep(300'000);
  ranks.start(ranks.options(0, 4), join);
  for (std::size_t p = 0; p < 4; ++p) EXPECT_EQ(ranks.next(p), "joined");
}

TEST(MeshJoin, APortInUseIsNamed) {
  MeshRanks ranks;
  const hw::LocalPort others;
  MeshOptions options = ranks.options(0, 2);
  options.root = others.address();
  options.root_socket = -1;
  ranks.start(options, join);
  const std::string port = std::to_string(others.port());
  EXPECT_THAT(ranks.next(0), AllOf(StartsWith("! 3 rank 0 cannot listen at 127.0.0.1:" + port),
                                   HasSubstr("port " + port + " is in use; end what uses it"),
                                   HasSubstr("another port")));
}

TEST(MeshJoin, ForeignAddressIsNamed) {
  MeshRanks ranks;
  MeshOptions options = ranks.options(0, 2);
  options.root = "192.0.2.1:5000";
  options.root_socket = -1;
  ranks.start(options, join);
  EXPECT_THAT(ranks.next(0), StartsWith("! 3 rank 0 cannot listen at 192.0.2.1:5000: "));
  options = ranks.options(1, 2);
  options.host = "192.0.2.1";
  ranks.start(ranks.options(0, 2), join);
  ranks.start(options, join);
  EXPECT_THAT(ranks.next(2), StartsWith("! 3 rank 1 cannot listen at 192.0.2.1: "));
}

TEST(MeshJoin, BadOptionsAreRefused) {
  const MeshRanks ranks;
  for (const char* root : {"", "localhost", "localhost:", ":5000", "localhost:0", "localhost:65536",
                           "localhost:99999999999", "localhost:5k", "localhost:-1"}) {
    for (std::uint32_t r = 0; r < 2; ++r) {
      MeshOptions options = ranks.options(r, 2);
      options.root = root;
      EXPECT_THROW(Mesh{options}, InputError) << root;
    }
  }
  EXPECT_THROW(Mesh{ranks.options(2, 2)}, InputError);
  EXPECT_THROW(Mesh{ranks.options(0, 0)}, InputError);
  MeshOptions options = ranks.options(0, 1);
  options.failure_timeout = 99ms;
  EXPECT_THROW(Mesh{options}, InputError);
  options = ranks.options(0, 1);
  options.join_timeout = 0ms;
  EXPECT_THROW(Mesh{options}, InputError);
}

// It may go away, and rank 0 come: so it is waited for, and then named.
TEST(MeshJoin, AServerOfAnotherKindIsNotTheRoot) {
  const auto said = [](std::chrono::milliseconds patience) {
    MeshRanks ranks;
    EXPECT_EQ(listen(ranks.port().socket(), 16), 0);
    MeshOptions options = ranks.options(1, 2);
    options.join_timeout = patience;
    ranks.start(options, join);
    const hw::Descriptor client = accepted(ranks.port());
    put(client, std::string(200, 'x'));
    return std::vector<std::string>{ranks.next(0)};
  };
  // It may not have come to hear that its proof was not taken.
  const auto late = ::testing::EndsWith(" s");
  testing::expect_with_patience(700ms, late, said, [](std::chrono::milliseconds patience) {
    return ::testing::ElementsAre(
        AllOf(StartsWith(fmt::format("! 1 rank 0 did not come within {} s; what listens at "
                                     "127.0.0.1:",
                                     seconds(patience))),
              HasSubstr("all ranks need the same --secret FILE")));
  });
}

TEST(MeshJoin, ARankWithAnotherSecretIsNone) {
  for (const bool none : {false, true}) {
    const auto said = [none](std::chrono::milliseconds patience) {
      MeshRanks ranks;
      for (std::uint32_t r = 0; r < 3; ++r) {
        MeshOptions options = ranks.options(r, 3);
        options.join_timeout = patience;
        if (r == 2) options.secret = none ? std::nullopt : std::optional(hw::Secret::random());
        ranks.start(options, join);
      }
      return std::vector<std::string>{ranks.next(0), ranks.next(1), ranks.next(2)};
    };
    testing::expect_with_patience(
        1s, ContainsRegex(kLate), said, [](std::chrono::milliseconds patience) {
          const auto told = AllOf(
              StartsWith(fmt::format("! 1 rank 2 did not come within {} s; ", seconds(patience))),
              HasSubstr(" who came did not know the run's secret"));
          return ::testing::ElementsAre(told, told,
                                        HasSubstr("did not take this rank's proof of the secret"));
        });
  }
}

TEST(MeshJoin, WithoutASecretRanksMeetOnLoopbackAlone) {
  {
    MeshRanks ranks;
    for (std::uint32_t r = 0; r < 3; ++r) {
      MeshOptions options = ranks.options(r, 3);
      options.secret.reset();
      ranks.start(options, join);
    }
    for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(ranks.next(r), "joined");
  }
  MeshRanks ranks;
  const hw::LocalPort everywhere("0.0.0.0");
  for (const bool bound : {false, true}) {
    MeshOptions options = ranks.options(0, 2);
    options.secret.reset();
    options.root = everywhere.address();
    options.root_socket = bound ? everywhere.socket() : -1;
    const std::size_t rank_0 = ranks.start(options, join);
    EXPECT_THAT(ranks.next(rank_0),
                AllOf(StartsWith("! 3 rank 0 would listen at 0.0.0.0, where anybody "),
                      HasSubstr("--secret FILE")));
  }
  ranks.start(ranks.options(0, 2), join);
  MeshOptions options = ranks.options(1, 2);
  options.secret.reset();
  options.host = "0.0.0.0";
  const std::size_t rank_1 = ranks.start(options, join);
  EXPECT_THAT(ranks.next(rank_1), StartsWith("! 3 rank 1 would listen at 0.0.0.0, where anybody "));
}

// They come before, while and after ranks do.
TEST(MeshJoin, StrangersAreNoRanks) {
  MeshRanks ranks;
  std::mt19937 random(7);
  hw::Hello hello;
  hello.rank = 2;
  hello.ranks = 4;
  hello.version = "0";
  const Bytes whole = encode(hello);
  std::vector<hw::Descriptor> strangers;
  const auto molest = [&] {
    for (int i = 0; i < 24; ++i) {
      strangers.push_back(connected_to(ranks.port().port()));
      const hw::Descriptor& stranger = strangers.back();
      ASSERT_TRUE(stranger);
      const int kind = i % 6;
      if (kind == 0) put(stranger, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      if (kind == 1) {
        Bytes garbage(random() % 5000);
        for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
        put(stranger, garbage);
      }
      if (kind == 2) put(stranger, std::span(whole).first(random() % whole.size()));
      if (kind == 3) strangers.pop_back();  // only looked whether somebody listens
      if (kind == 4) {                      // a whole Hello that is none
        Bytes wrong = encode(hello);
        for (std::size_t b = hw::kPreambleBytes; b < wrong.size(); ++b) wrong[b] = std::byte{0xff};
        put(stranger, wrong);
      }
      if (kind == 5) {  // ends with a reset
        const linger at_once{1, 0};
        setsockopt(stranger.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        strangers.pop_back();
      }
    }
  };
  ranks.start(ranks.options(0, 4), join);
  molest();
  for (std::uint32_t r = 1; r < 3; ++r) ranks.start(ranks.options(r, 4), join);
  molest();
  ranks.start(ranks.options(3, 4), join);
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(ranks.next(r), "joined");
}

TEST(MeshJoin, ARankThatDiesWhileOthersAreMissingIsNamed) {
  MeshRanks ranks;
  for (const std::uint32_t r : {0u, 1u, 2u}) ranks.start(ranks.options(r, 4), join_and_count);
  EXPECT_EQ(ranks.next(0), "2 are there");
  EXPECT_EQ(ranks.next(0), "3 are there");
  ranks.signal(1, SIGKILL);
  const std::string line = "! 1 rank 1 was lost while the ranks joined: its connection ended";
  EXPECT_EQ(ranks.next(0), line);
  EXPECT_EQ(ranks.next(2), line);
}

TEST(MeshJoin, ARootThatDiesWhileOthersAreMissingIsNamed) {
  MeshRanks ranks;
  for (const std::uint32_t r : {0u, 1u, 2u}) ranks.start(ranks.options(r, 4), join_and_count);
  EXPECT_EQ(ranks.next(0), "2 are there");
  EXPECT_EQ(ranks.next(0), "3 are there");
  ranks.signal(0, SIGKILL);
  const std::string line = "! 1 rank 0 was lost while the ranks joined: its connection ended";
  EXPECT_EQ(ranks.next(1), line);
  EXPECT_EQ(ranks.next(2), line);
}

// A rank of ours makes it to the table; then others hear strangers where they listen, and it dies.
TEST(MeshJoin, StrangersAtOtherRanksAreNoRanks) {
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 3; ++r) {
    ranks.start(ranks.options(r, 4), join);
  }
  hw::Hello hello = hw::hello_of(ranks.options(3, 4));
  hello.member.address = "127.0.0.1";
  hello.member.port = 1;
  Insider root(connected_to(ranks.port().port()), ranks.secret());
  ASSERT_TRUE(root.known());
  root.put(encode(hello));
  const std::vector<hw::Member> members = testing::told_by_root(root).members;
  ASSERT_EQ(members.size(), 4);
  hello.run = 12345;  // not this run
  std::vector<hw::Descriptor> strangers;
  std::vector<std::unique_ptr<Insider>> others;
  for (std::size_t r = 1; r < 3; ++r) {
    const auto port = static_cast<std::uint16_t>(members[r].port);
    strangers.push_back(connected_to(port));
    put(strangers.back(), "GET / HTTP/1.1\r\n\r\n");
    strangers.push_back(connected_to(port));
    put(strangers.back(), encode(hello));
    strangers.push_back(connected_to(port));
    others.push_back(std::make_unique<Insider>(connected_to(port), ranks.secret()));
    ASSERT_TRUE(others.back()->known());
    others.back()->put(encode(hello));
  }
  usleep(200'000);
  root.leave();
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(ranks.next(r), "! 1 rank 3 was lost while the ranks joined: its connection ended");
  }
}

// It dies between rank 0's table and its proof to another rank: that is no fault of the network.
TEST(MeshJoin, ARankThatHangsUpOnAnotherIsLost) {
  MeshRanks ranks;
  for (const std::uint32_t r : {0u, 2u}) ranks.start(ranks.options(r, 3), join);
  const hw::LocalPort port;
  ASSERT_EQ(listen(port.socket(), 16), 0);
  hw::Hello hello = hw::hello_of(ranks.options(1, 3));
  hello.member.address = "127.0.0.1";
  hello.member.port = port.port();
  Insider root(connected_to(ranks.port().port()), ranks.secret());
  root.put(encode(hello));
  ASSERT_EQ(testing::told_by_root(root).members.size(), 3);
  accepted(port).reset();
  const std::string line = fmt::format(
      "! 1 rank 2 cannot reach rank 1 at 127.0.0.1:{}: Connection reset by peer", port.port());
  EXPECT_EQ(ranks.next(0), line);
  EXPECT_EQ(ranks.next(1), line);
}

}  // namespace
}  // namespace slackline
