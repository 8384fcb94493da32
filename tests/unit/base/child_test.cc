// Children, and all the bytes that they write.
#include "base/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "base/descriptor.h"
#include "base/write_all.h"

namespace slackline::base {
namespace {

using sched::Descriptor;

TEST(Child, WritesMoreThanAPipeHolds) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const std::string text(std::size_t{1} << 20, 'x');
  const pid_t child = fork_child();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(write_all(to.get(), text) == 0 ? 7 : 1);
  to.reset();
  std::string heard;
  char piece[1 << 16];
  for (ssize_t got = 0; (got = ::read(from.get(), piece, sizeof piece)) > 0;) {
    heard.append(piece, static_cast<std::size_t>(got));
  }
  const int status = wait_for(child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(heard == text);
}

TEST(Child, IsWaitedForHoweverItEnds) {
  const pid_t child = fork_child();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) ::pause();
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  const int status = wait_for(child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(wait_for(child), 0);  // it is there no more
}

TEST(Child, EndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const pid_t between = fork_child();
  ASSERT_GE(between, 0);
  if (between == 0) {
    if (fork_child() == 0) {
      write_all(to.get(), "c");
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  to.reset();
  char word = 0;
  ASSERT_EQ(::read(from.get(), &word, 1), 1);
  ASSERT_EQ(::kill(between, SIGKILL), 0);
  wait_for(between);
  EXPECT_EQ(::read(from.get(), &word, 1), 0);  // were the child to stay, the pipe would not end
}

TEST(WriteAll, SaysWhyItCannot) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_EQ(write_all(full.get(), "x"), ENOSPC);
  EXPECT_EQ(write_all(full.get(), ""), 0);
  EXPECT_EQ(write_all(-1, "x"), EBADF);
}

}  // namespace
}  // namespace slackline::base
