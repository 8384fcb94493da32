// Which launcher offers an exchange of keys, and what rank 0 tells by it.
#include "hw/launch/key_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <random>

#include "base/error.h"
#include "hw/launch/meeting.h"
#include "tests/hw/pmi1_server.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

ExchangeKind kind(const Variables& variables) {
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  const auto place = place_from(environment, 1);
  return place ? key_exchange_of(environment, *place).kind : ExchangeKind::kNone;
}

Variables with(Variables variables, const Variables& others) {
  for (const auto& [name, value] : others) variables[name] = value;
  return variables;
}

class Offered : public ::testing::Test {
 protected:
  Offered() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    one_.reset(ends[0]);
    other_.reset(ends[1]);
    fd_ = {{"PMI_FD", std::to_string(one_.get())}};
  }
  Descriptor one_, other_;
  Variables fd_;
  const Variables pmi_ = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}};
  const Variables open_mpi_ = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  const Variables pmix_ = {
      {"PMIX_NAMESPACE", "n"}, {"PMIX_RANK", "1"}, {"PMIX_SERVER_URI4", "n;tcp4://127.0.0.1:1"}};
  const Variables slurm_ = {{"SLURM_STEP_ID", "0"},
                            {"SLURM_PROCID", "1"},
                            {"SLURM_STEP_NUM_TASKS", "2"},
                            {"SLURM_JOB_ID", "7"},
                            {"SLURM_STEP_NODELIST", "a,b"}};
  const Variables flux_ = {{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "2"}, {"FLUX_JOB_ID", "f1"}};
};

TEST_F(Offered, ByTheLauncherThatGaveTheRank) {
  EXPECT_EQ(kind({}), ExchangeKind::kNone);
  EXPECT_EQ(kind(pmi_), ExchangeKind::kNone);
  EXPECT_EQ(kind(with(pmi_, fd_)), ExchangeKind::kPmi1);
  EXPECT_EQ(kind(with(with(pmi_, fd_), flux_)), ExchangeKind::kPmi1);
  EXPECT_EQ(kind(with(with(pmi_, fd_), slurm_)), ExchangeKind::kPmi1);
  EXPECT_EQ(kind(slurm_), ExchangeKind::kNone);
  EXPECT_EQ(kind(with(slurm_, pmix_)), ExchangeKind::kPmix);
  EXPECT_EQ(kind(open_mpi_), ExchangeKind::kNone);
  EXPECT_EQ(kind(with(open_mpi_, pmix_)), ExchangeKind::kPmix);
  // mpirun in a step of srun, or of mpiexec, whose connection stands open still.
  EXPECT_EQ(kind(with(with(with(pmi_, fd_), slurm_), with(open_mpi_, pmix_))), ExchangeKind::kPmix);
  EXPECT_EQ(kind(with(with(pmi_, fd_), open_mpi_)), ExchangeKind::kNone);
  EXPECT_EQ(kind(with(with(pmi_, fd_), pmix_)), ExchangeKind::kPmi1);
}

TEST_F(Offered, NotWhatIsAnothersOrNotThere) {
  for (const char* fd : {"", "x", "-1", "0", "2", "4294967295", "99999999999", "1048575"}) {
    EXPECT_EQ(kind(with(pmi_, {{"PMI_FD", fd}})), ExchangeKind::kNone) << fd;
  }
  EXPECT_EQ(kind(with(with(pmi_, fd_), {{"PMI_FD", "/dev/null"}})), ExchangeKind::kNone);
  EXPECT_EQ(kind(with(open_mpi_, with(pmix_, {{"PMIX_RANK", "0"}}))), ExchangeKind::kNone);
  Variables no_server = with(open_mpi_, pmix_);
  no_server.erase("PMIX_SERVER_URI4");
  EXPECT_EQ(kind(no_server), ExchangeKind::kNone);
  one_.reset();
  EXPECT_EQ(kind(with(pmi_, fd_)), ExchangeKind::kNone);
}

TEST(MeetingPoint, IsReadAsItWasWritten) {
  for (const char* root : {"127.0.0.1:7", "[fe80::1]:65535", "node-1.example.org:4711"}) {
    for (const std::string& secret : {Secret::drawn_text(), std::string()}) {
      const MeetingPoint point = meeting_point_of(word_of({root, secret}));
      EXPECT_EQ(point.root, root);
      EXPECT_EQ(point.secret_text, secret);
    }
  }
}

std::string refusal(const std::string& word) {
  return testing::error_of<EnvironmentError>([&] { meeting_point_of(word); });
}

TEST(MeetingPoint, WhatIsNone) {
  const std::string secret = Secret::drawn_text();
  for (const std::string& word :
       {std::string(), std::string("slackline1/"), std::string("slackline1/127.0.0.1:7"),
        std::string("slackline1/127.0.0.1:7/"), "slackline1/127.0.0.1:7/" + secret + "0",
        "slackline1/127.0.0.1:7/" + secret.substr(1), "slackline1/127.0.0.1:7/Z" + secret.substr(1),
        "slackline1/127.0.0.1/" + secret, "slackline1/127.0.0.1:0/" + secret,
        "slackline1/127.0.0.1:99999/" + secret, "slackline1/:7/" + secret,
        "slackline1/a b:7/" + secret, "slackline1/\x1b[31m:7/" + secret,
        "slackline1/" + std::string(600, 'a') + ":7/" + secret, "slackline2/a:7/" + secret}) {
    EXPECT_THAT(refusal(word), HasSubstr("is not what a rank of this version puts there")) << word;
    EXPECT_EQ(refusal(word).find(secret.substr(1, 8)), std::string::npos);
  }
}

TEST(MeetingPoint, GarbageIsRefused) {
  std::mt19937_64 random(3);
  const std::string good = word_of({"10.1.2.3:4567", Secret::drawn_text()});
  for (int round = 0; round < 20'000; ++round) {
    std::string word = good;
    for (std::uint64_t count = 1 + random() % 3; count > 0; --count) {
      word[random() % word.size()] = static_cast<char>(random());
    }
    if (random() % 3 == 0) word.resize(random() % word.size());
    if (refusal(word) == "") {
      EXPECT_EQ(word_of(meeting_point_of(word)), word);
    }
  }
}

// The ranks' options once each has met the others by a launcher.
std::vector<MeshOptions> met(std::vector<MeshOptions> options) {
  testing::Pmi1Server server(static_cast<int>(options.size()));
  std::vector<std::thread> ranks;
  std::vector<Meeting> meetings(options.size());
  for (std::size_t rank = 0; rank < options.size(); ++rank) {
    ranks.emplace_back([&, rank] {
      options[rank].rank = static_cast<std::uint32_t>(rank);
      const LauncherKeys exchange{ExchangeKind::kPmi1,
                                  server.take(static_cast<int>(rank)).release()};
      try {
        meetings[rank] = meet_by_launcher(exchange, true, options[rank]);
      } catch (const Error& error) {
        options[rank].version = error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return options;
}

TEST(Meeting, AllGetOneRootAndOneSecret) {
  const auto options = met(std::vector<MeshOptions>(3));
  for (const MeshOptions& one : options) {
    EXPECT_EQ(one.root, options[0].root);
    EXPECT_TRUE(one.root.starts_with("127.0.0.1:"));
    ASSERT_TRUE(one.secret);
    EXPECT_EQ(*one.secret, *options[0].secret);
  }
  EXPECT_NE(*met(std::vector<MeshOptions>(1))[0].secret, *options[0].secret);
}

TEST(Meeting, Rank0IsWhereItsHostIsSaidToBe) {
  std::vector<MeshOptions> options(2);
  options[0].host = "127.0.0.9";
  EXPECT_TRUE(met(options)[1].root.starts_with("127.0.0.9:"));
  MeshOptions elsewhere;
  elsewhere.host = "192.0.2.1";
  EXPECT_THROW(meet_by_launcher({}, false, elsewhere), EnvironmentError);
}

TEST(Meeting, ASecretOfAFileIsKept) {
  std::vector<MeshOptions> options(2);
  const Secret own = Secret::random();
  options[0].secret = options[1].secret = own;
  EXPECT_EQ(*met(options)[1].secret, own);
  options[1].secret.reset();
  EXPECT_THAT(met(options)[1].version,
              HasSubstr("--secret: rank 0 was given one and rank 1 was not"));
  options[0].secret.reset();
  options[1].secret = own;
  EXPECT_THAT(met(options)[1].version, HasSubstr("rank 0 was not given one and rank 1 was;"));
}

}  // namespace
}  // namespace slackline::hw
