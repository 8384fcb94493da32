// Another program as a filter: it gets all, gives all, and does not outlive who asked it.
#include "base/child_filter.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/error_of.h"

namespace slackline::base {
namespace {

TEST(FilterThrough, PassesMoreThanAnyBufferHolds) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + '\n';
  EXPECT_EQ(filter_through({"cat"}, text, "no cat"), text);
  EXPECT_EQ(filter_through({"cat"}, "", "no cat"), "");
}

std::string error_of(const std::vector<std::string>& command, const std::string& input = "") {
  return testing::error_of<EnvironmentError>([&] { filter_through(command, input, "install it"); });
}

TEST(FilterThrough, NamesTheCure) {
  EXPECT_EQ(error_of({"no-such-program-of-anybody"}),
            "no-such-program-of-anybody: No such file or directory; install it");
  EXPECT_EQ(error_of({"false"}), "false: it did not end well; install it");
  EXPECT_EQ(error_of({"sh", "-c", "kill -9 $$"}), "sh: it did not end well; install it");
}

TEST(RunProgram, GivesAllThatAProgramSays) {
  const ProgramEnd end = run_program({"sh", "-c", "cat; seq 200000 >&2; exit 7"}, "to it", "no sh");
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_EQ(end.output, "to it");
  EXPECT_EQ(end.errors.substr(end.errors.size() - 14), "199999\n200000\n");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, "", "no sh").exit_code, 128 + 9);
}

TEST(FilterThrough, AProgramMayEndWithoutReading) {
  EXPECT_EQ(filter_through({"true"}, std::string(10'000'000, 'x'), "no true"), "");
}

TEST(FilterThrough, TheProgramEndsWithItsCaller) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t caller = ::fork();
  if (caller == 0) {
    ::close(ends[0]);
    // The program has the pipe's end as well: it says that it runs, and then stays.
    filter_through({"sh", "-c", "echo r >&" + std::to_string(ends[1]) + "; exec sleep 10000"}, "",
                   "no sh");
    ::_exit(0);
  }
  ::close(ends[1]);
  char said = 0;
  EXPECT_EQ(::read(ends[0], &said, 1), 1);
  ::kill(caller, SIGKILL);
  while (::read(ends[0], &said, 1) > 0) {
  }
  ::close(ends[0]);
  ::waitpid(caller, nullptr, 0);
}

}  // namespace
}  // namespace slackline::base
