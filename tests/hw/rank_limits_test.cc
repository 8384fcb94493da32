// What the system must give before ranks are started on a host.
#include "hw/rank_limits.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/mesh.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using hw::HostLimits;
using hw::RankNeeds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string refusal(const RankNeeds& needs, const HostLimits& limits) {
  return testing::error_of<EnvironmentError>([&] { hw::require_limits(needs, limits); });
}

// A host of which nothing is too little.
HostLimits ample() { return {1'000'000, 8, 100'000, 1'000'000 * kMiB, 1'000'000 * kMiB, 64}; }

RankNeeds ranks_over(std::uint32_t ranks, const std::string& transport) {
  return {ranks, true, transport, 0, 0, 2};
}

TEST(RankLimits, AmpleOrUnknownIsEnough) {
  for (const char* transport : {"shm", "net", "tcp;ofi_rxm", "verbs"}) {
    EXPECT_EQ(refusal(ranks_over(200, transport), ample()), "");
    EXPECT_EQ(refusal(ranks_over(50, transport), HostLimits{}), "");
  }
}

TEST(RankLimits, Cores) {
  HostLimits limits = ample();
  limits.cores = 2;
  EXPECT_EQ(refusal(ranks_over(200, "net"), limits), "");
  EXPECT_THAT(refusal(ranks_over(300, "net"), limits),
              AllOf(HasSubstr("300 ranks on one host"), HasSubstr("9.3e+04 messages a second"),
                    HasSubstr("its 2 cores handle about 6e+04"),
                    HasSubstr("at most 200 ranks here"), HasSubstr("--failure-timeout 4s")));
  EXPECT_EQ(refusal({300, true, "net", 0, 0, 4}, limits), "");
  EXPECT_EQ(refusal({300, false, "net", 0, 0, 2}, limits), "");
  limits.cores = 1;
  EXPECT_THAT(refusal({64, true, "net", 0, 0, 1}, limits), HasSubstr("at most 37 ranks here"));
}

TEST(RankLimits, Descriptors) {
  HostLimits limits = ample();
  limits.descriptors = 64;
  EXPECT_EQ(refusal(ranks_over(8, "net"), limits), "");
  EXPECT_THAT(refusal(ranks_over(100, "net"), limits),
              AllOf(HasSubstr("100 ranks on one host over net need 320 open files"),
                    HasSubstr("64 are allowed"), HasSubstr("ulimit -n")));
  EXPECT_LT(hw::descriptors_needed(ranks_over(100, "shm"), limits),
            hw::descriptors_needed(ranks_over(100, "net"), limits));
}

// Each rail has connections of its own, and an endpoint.
TEST(RankLimits, OfRanksThatHaveSeveralTransports) {
  HostLimits limits = ample();
  limits.descriptors = 64;
  limits.memory_bytes = 300 * kMiB;
  EXPECT_EQ(refusal({8, false, "net", 0, 0, 2, 1}, limits), "");
  EXPECT_THAT(refusal({8, false, "net", 0, 0, 2, 3}, limits), HasSubstr("need 76 open files"));
  EXPECT_EQ(refusal({2, false, "tcp;ofi_rxm", 0, 0, 2, 2}, limits), "");
  EXPECT_THAT(refusal({2, false, "tcp;ofi_rxm", 0, 0, 2, 3}, limits), HasSubstr("of memory"));
}

TEST(RankLimits, Processes) {
  HostLimits limits = ample();
  limits.processes = 100;
  EXPECT_EQ(refusal(ranks_over(33, "shm"), limits), "");
  EXPECT_THAT(
      refusal(ranks_over(34, "shm"), limits),
      AllOf(HasSubstr("102 processes and threads"), HasSubstr("100 may"), HasSubstr("ulimit -u")));
  // Of ranks that somebody else starts, one is here.
  EXPECT_EQ(refusal({34, false, "shm", 0, 0, 2}, limits), "");
}

TEST(RankLimits, Addresses) {
  HostLimits limits = ample();
  limits.address_bytes = 160 * kMiB;
  EXPECT_EQ(refusal(ranks_over(2, "shm"), limits), "");
  EXPECT_THAT(refusal({2, true, "shm", 200 * kMiB, 100 * kMiB, 2}, limits),
              AllOf(HasSubstr("250 MiB of addresses"), HasSubstr("160 MiB are left"),
                    HasSubstr("ulimit -v")));
  EXPECT_THAT(refusal(ranks_over(2, "tcp;ofi_rxm"), limits), HasSubstr("ulimit -v"));
}

TEST(RankLimits, Memory) {
  HostLimits limits = ample();
  limits.memory_bytes = 1000 * kMiB;
  EXPECT_EQ(refusal(ranks_over(16, "net"), limits), "");
  EXPECT_EQ(refusal({16, true, "net", 500 * kMiB, 500 * kMiB, 2}, limits), "");
  EXPECT_THAT(refusal({16, true, "net", 2000 * kMiB, 125 * kMiB, 2}, limits),
              AllOf(HasSubstr("of memory"), HasSubstr("1000 MiB are free")));
  EXPECT_EQ(refusal({16, false, "net", 2000 * kMiB, 125 * kMiB, 2}, limits), "");
  EXPECT_NE(refusal(ranks_over(16, "tcp;ofi_rxm"), limits), "");
}

TEST(RankLimits, OfThisHostAreThere) {
  const HostLimits limits = hw::host_limits();
  EXPECT_GE(limits.open_descriptors, 3);
  EXPECT_GE(limits.cores, 1);
  EXPECT_TRUE(limits.memory_bytes);
}

// In a process of its own: limits that were lowered stay so.
int in_fork(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RankLimits, TheSoftLimitOfDescriptorsIsRaised) {
  EXPECT_EQ(in_fork([] {
              rlimit files{};
              getrlimit(RLIMIT_NOFILE, &files);
              files.rlim_cur = 20;
              if (setrlimit(RLIMIT_NOFILE, &files) != 0) return 1;
              hw::prepare_for_ranks(ranks_over(20, "net"));
              getrlimit(RLIMIT_NOFILE, &files);
              return files.rlim_cur >= 52 ? 0 : 2;
            }),
            0);
}

// Ranks that use the libraries have not asked before. Rank 0 has room for the first few of what a
// join opens: at last only the connection of the other is one too many, which it takes for a rank
// that did not come, but for the reason.
TEST(RankLimits, ARankWithoutDescriptorsSaysSoItself) {
  for (std::size_t room = 0; room <= 4; ++room) {
    testing::MeshRanks ranks;
    // It asks for rank 0 for as long as it takes.
    ranks.start(ranks.options(1, 2),
                [](const hw::MeshOptions& own, const auto&) { const hw::Mesh mesh(own); });
    hw::MeshOptions root = ranks.options(0, 2);
    root.join_timeout = std::chrono::seconds(3);
    const std::size_t rank_0 = ranks.start(root, [room](const hw::MeshOptions& own, const auto&) {
      const rlimit files{256, 256};
      if (setrlimit(RLIMIT_NOFILE, &files) != 0) std::abort();
      std::vector<int> taken;
      for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken.push_back(fd);
      for (std::size_t i = 0; i < room && i < taken.size(); ++i) close(taken[i]);
      const hw::Mesh mesh(own);
    });
    EXPECT_THAT(ranks.next(rank_0), AllOf(HasSubstr("! 3 "), HasSubstr("ulimit -n"))) << room;
  }
}

}  // namespace
}  // namespace slackline
