// Children that end with their parent.
#include "base/end_with_parent.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

namespace slackline::sched {
namespace {

// What a process that does `body` and all that it has forked write to the descriptor given to them,
// up to the end of the last of them. `until_word`: that process is killed once there is a word.
std::string said_by(const std::function<void(int)>& body, bool until_word) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    body(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char piece[16];
  for (ssize_t got = 0; (got = ::read(ends[0], piece, sizeof piece)) > 0;) {
    said.append(piece, static_cast<std::size_t>(got));
    if (until_word) ::kill(process, SIGKILL);
  }
  ::close(ends[0]);
  ::waitpid(process, nullptr, 0);
  return said;
}

void say(int to, char what) { EXPECT_EQ(::write(to, &what, 1), 1); }

TEST(EndWithParent, AChildEndsWhenItsParentIsKilled) {
  // Were the child to stay, the pipe would not end.
  EXPECT_EQ(said_by(
                [](int to) {
                  const pid_t parent = ::getpid();
                  if (::fork() == 0) {
                    end_with_parent(parent);
                    say(to, 'c');
                  }
                  for (;;) ::pause();
                },
                true),
            "c");
}

TEST(EndWithParent, SoItDoesIfItsParentHasEndedBefore) {
  EXPECT_EQ(said_by(
                [](int to) {
                  const pid_t parent = ::getpid();
                  if (::fork() != 0) ::_exit(0);
                  while (::getppid() == parent) ::usleep(1'000);
                  end_with_parent(parent);
                  say(to, 'x');
                },
                false),
            "");
}

TEST(EndWithParent, AChildOfALivingParentGoesOn) {
  EXPECT_EQ(said_by(
                [](int to) {
                  const pid_t parent = ::getpid();
                  const pid_t child = ::fork();
                  if (child == 0) {
                    end_with_parent(parent);
                    say(to, 'c');
                    ::_exit(0);
                  }
                  ::waitpid(child, nullptr, 0);
                  say(to, 'p');
                },
                false),
            "cp");
}

}  // namespace
}  // namespace slackline::sched
