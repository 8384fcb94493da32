// What ends a run from outside: signals that are held back, said, and passed on; the warden that
// clears up behind those who were killed; and a /dev/shm that is full.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <functional>
#include <string>

#include "base/end_with_parent.h"
#include "base/error.h"
#include "hw/descriptor.h"
#include "hw/end_signals.h"
#include "hw/shm_name.h"
#include "hw/shm_room.h"
#include "hw/shm_warden.h"
#include "hw/transports.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;

struct Ended {
  int status = 0;
  std::string said;  // on standard error
};

// A process in which signals act as they do of themselves, whatever this one was started with.
Ended fork_and_wait(const std::function<void()>& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) signal(number, SIG_DFL);
    body();
    _exit(0);
  }
  write_end.reset();
  Ended ended;
  std::array<char, 256> buffer{};
  for (ssize_t count; (count = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    ended.said.append(buffer.data(), static_cast<std::size_t>(count));
  }
  waitpid(pid, &ended.status, 0);
  return ended;
}

bool died_by(const Ended& ended, int number) {
  return WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == number;
}

TEST(EndSignals, AreHeldBackUntilTaken) {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    const Ended ended = fork_and_wait([number] {
      const EndSignals signals;
      if (signals.take()) _exit(1);
      kill(getpid(), number);
      if (signals.take() != number || signals.take()) _exit(2);
    });
    EXPECT_EQ(ended.status, 0) << number;
  }
}

TEST(EndSignals, ActInTheEndWhenNotTaken) {
  EXPECT_TRUE(died_by(fork_and_wait([] {
                        const EndSignals signals;
                        kill(getpid(), SIGTERM);
                        signals.let_act();
                      }),
                      SIGTERM));
}

TEST(EndSignals, WhatIsIgnoredStaysSo) {
  const Ended ended = fork_and_wait([] {
    signal(SIGHUP, SIG_IGN);
    {
      const EndSignals signals;
      kill(getpid(), SIGHUP);
      if (signals.take()) _exit(1);
    }
    say_end_at_signals();
    kill(getpid(), SIGHUP);
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.said, "");
}

TEST(EndSignals, OneEndsAProcessAsItDoesOfItself) {
  EXPECT_TRUE(died_by(fork_and_wait([] {
                        const EndSignals signals;
                        die_by(SIGINT);
                      }),
                      SIGINT));
}

TEST(EndSignals, AreSaidInOneLine) {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    const Ended ended = fork_and_wait([number] {
      say_end_at_signals();
      kill(getpid(), number);
    });
    EXPECT_TRUE(died_by(ended, number)) << number;
    EXPECT_EQ(ended.said, "slackline: " + ended_by(number) + "\n");
  }
}

// Libraries that come with libfabric would end a process by exit(), from within a handler.
TEST(EndSignals, TransportsLeaveThemAlone) {
  for (const int number : {SIGINT, SIGTERM}) {
    EXPECT_TRUE(died_by(fork_and_wait([number] {
                          for (const char* name : {"net", "shm"}) load_transport(name);
                          kill(getpid(), number);
                        }),
                        number));
    EXPECT_TRUE(died_by(fork_and_wait([number] {
                          const auto transport = make_transport("shm", {});
                          kill(getpid(), number);
                        }),
                        number));
  }
}

// Killed in one stroke, with nobody left but the warden, which the destructor's process outlives.
TEST(ShmWarden, RemovesWhatTheKilledLeft) {
  std::string name;
  {
    const ShmWarden warden;
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const Descriptor read_end(ends[0]);
    const Descriptor write_end(ends[1]);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
      sched::end_with_parent(parent);
      warden.announce();
      const std::string own = "/dev/shm/" + shm_name(own_shm_owner().value(), "1");
      if (open(own.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600) < 0) _exit(1);
      if (write(ends[1], own.c_str(), own.size()) < 0) _exit(1);
      pause();
    }
    std::array<char, 256> buffer{};
    name.assign(buffer.data(),
                static_cast<std::size_t>(read(ends[0], buffer.data(), buffer.size())));
    // While its owner lives: once that is dead, whoever uses shared memory on this host may remove
    // it.
    EXPECT_EQ(access(name.c_str(), F_OK), 0);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  EXPECT_NE(access(name.c_str(), F_OK), 0) << name;
}

// Who lives and goes on, as one rank's process does whose run is over, is not waited for.
TEST(ShmWarden, LeavesItsMakerAlone) {
  const std::string own = "/dev/shm/" + shm_name(own_shm_owner().value(), "424242");
  const Descriptor file(open(own.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  {
    const ShmWarden warden;
    warden.announce();
  }
  EXPECT_EQ(access(own.c_str(), F_OK), 0);
  unlink(own.c_str());
}

// As one who stops whatever belongs to a run may have done.
TEST(ShmWarden, OneThatWasStoppedHoldsNobodyUp) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);  // a warden that is waited for in vain ends this
    {
      const ShmWarden warden;
      std::ifstream file(fmt::format("/proc/self/task/{}/children", getpid()));
      pid_t child = 0;
      if (!(file >> child) || kill(child, SIGSTOP) != 0) _exit(2);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(ShmRoom, TooLittleIsToldInFigures) {
  const ShmRoom container{20 * kMiB, 64 * kMiB, 2};
  EXPECT_THAT(testing::error_of<EnvironmentError>([&] { require_shm_room(4, container); }),
              ::testing::AllOf(HasSubstr("4 ranks on a machine of 2 cores need 44 MiB in /dev/shm, "
                                         "20 MiB of its 64 MiB are free"),
                               HasSubstr("--shm-size"), HasSubstr("--transport tcp")));
  EXPECT_TRUE(is_shm_full(ShmRoom{kMiB, 64 * kMiB, 2}));
  EXPECT_FALSE(is_shm_full(container));
}

TEST(ShmRoom, EnoughIsEnough) {
  EXPECT_NO_THROW(require_shm_room(4, ShmRoom{64 * kMiB, 64 * kMiB, 2}));
  EXPECT_NO_THROW(require_shm_room(4, std::nullopt));
  EXPECT_NO_THROW(require_shm_room(4, ShmRoom{0, 0, 2}));  // without a limit
  EXPECT_EQ(shm_bytes_needed(1, 1), shm_bytes_needed(0, 1));
  EXPECT_LT(shm_bytes_needed(1, 1), shm_bytes_needed(2, 1));
  EXPECT_LT(shm_bytes_needed(1, 1), shm_bytes_needed(1, 2));
}

std::string refusal(const ShmRoom& room, std::uint32_t ranks) {
  return testing::error_of<EnvironmentError>([&] { require_shm_room(ranks, room); });
}

TEST(ShmRoom, WhereNoFileCanBeMadeTheCureIsTold) {
  ShmRoom room{64 * kMiB, 64 * kMiB, 2};
  room.refused = EROFS;
  EXPECT_THAT(refusal(room, 2), HasSubstr("no file can be made in /dev/shm: Read-only file system; "
                                          "expected a tmpfs there that this user may write"));
  EXPECT_THROW(require_shm_usable(room), EnvironmentError);
  // Of what is not there, nobody can tell how large it is.
  ShmRoom none;
  none.refused = ENOENT;
  EXPECT_THAT(refusal(none, 2), HasSubstr("--transport tcp"));
}

TEST(ShmRoom, TooFewFilesAreTold) {
  ShmRoom room{64 * kMiB, 64 * kMiB, 2, 2};
  EXPECT_EQ(refusal(room, 2), "");
  EXPECT_THAT(refusal(room, 3),
              HasSubstr("3 ranks need a file each in /dev/shm, and 2 more may be made"));
}

}  // namespace
}  // namespace slackline::hw
