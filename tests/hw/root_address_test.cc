// Where rank 0 listens, by what its host's name means to itself.
#include "hw/mesh/root_address.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace slackline::hw {
namespace {

using ::testing::ElementsAre;

// The body's answer in a process in which /etc/hosts says `hosts`; nothing where that needs rights
// that this one lacks.
std::optional<int> with_hosts(const std::string& hosts, const std::function<int()>& body) {
  constexpr int kNoRights = 77;
  char path[] = "/tmp/slackline-hosts-XXXXXX";
  close(mkstemp(path));
  std::ofstream(path) << hosts;
  const pid_t pid = fork();
  if (pid == 0) {
    const bool may = unshare(CLONE_NEWNS) == 0 &&
                     mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                     mount(path, "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
    _exit(may ? body() : kNoRights);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  unlink(path);
  if (!WIFEXITED(status)) return -1;
  if (WEXITSTATUS(status) == kNoRights) return std::nullopt;
  return WEXITSTATUS(status);
}

TEST(RootAddress, DigitsAreTakenByTheirWord) {
  EXPECT_THAT(listening_addresses("127.0.0.1"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(listening_addresses("127.0.1.1"), ElementsAre("127.0.1.1"));
  EXPECT_THAT(listening_addresses("192.0.2.7"), ElementsAre("192.0.2.7"));
  EXPECT_THAT(listening_addresses("0.0.0.0"), ElementsAre("0.0.0.0"));
  EXPECT_THAT(listening_addresses("::1"), ElementsAre("::1"));
  EXPECT_EQ(own_address("127.0.0.1"), "127.0.0.1");
}

TEST(RootAddress, ANameThatMeansNothingIsRefused) {
  EXPECT_THROW(listening_addresses("no.such.host.invalid"), EnvironmentError);
}

TEST(RootAddress, NamesOfLoopbackStayThere) {
  const auto answer = with_hosts("127.0.0.1 localhost\n127.0.0.1 localhost.localdomain\n", [] {
    const auto is_loopback = [](const std::string& address) {
      return address == "127.0.0.1" || address == "::1";
    };
    for (const char* name : {"localhost", "LocalHost", "localhost.localdomain"}) {
      for (const std::string& address : listening_addresses(name)) {
        if (!is_loopback(address)) return 1;
      }
    }
    return is_loopback(own_address("localhost")) ? 0 : 2;
  });
  if (!answer) GTEST_SKIP() << "a mount namespace needs root";
  EXPECT_EQ(*answer, 0);
}

TEST(RootAddress, AHostsOwnNameMayMeanLoopbackToItself) {
  const auto answer = with_hosts("127.0.0.1 localhost\n127.0.1.1 slack0\n192.0.2.9 slack1\n", [] {
    if (listening_addresses("slack0") != std::vector<std::string>{"0.0.0.0"}) return 1;
    if (listening_addresses("slack1") != std::vector<std::string>{"192.0.2.9"}) return 2;
    // Of a host without any other address nobody else reaches anything.
    const std::string own = own_address("slack0");
    if (own == "0.0.0.0") return 3;
    return 0;
  });
  if (!answer) GTEST_SKIP() << "a mount namespace needs root";
  EXPECT_EQ(*answer, 0);
}

}  // namespace
}  // namespace slackline::hw
