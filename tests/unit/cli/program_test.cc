#include "cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "base/error.h"
#include "cli/commands.h"

namespace slackline::cli {
namespace {

// Standard output and error of one console.
class Pipes {
 public:
  Pipes() {
    EXPECT_EQ(::pipe(out_), 0);
    EXPECT_EQ(::pipe(err_), 0);
  }
  ~Pipes() {
    for (const int fd : {out_[0], out_[1], err_[0], err_[1]}) ::close(fd);
  }
  int out() const { return out_[1]; }
  int err() const { return err_[1]; }
  std::string written_out() { return read(out_); }
  std::string written_err() { return read(err_); }

 private:
  // What was written so far; nothing here is longer than a pipe holds.
  static std::string read(int (&ends)[2]) {
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string text(4096, '\0');
    const ssize_t n = ::read(ends[0], text.data(), text.size());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
  int out_[2];
  int err_[2];
};

struct Ended {
  int status;
  std::string out;
  std::string err;
};

Ended run(const std::function<int(Console&)>& body) {
  Pipes pipes;
  Console console(pipes.out(), pipes.err());
  const int status = run_guarded([&] { return body(console); }, console);
  return {status, pipes.written_out(), pipes.written_err()};
}

template <class Thrown>
Ended run_throwing(const Thrown& thrown) {
  return run([&](Console& console) -> int {
    console.print("half of an answer");
    throw thrown;
  });
}

TEST(RunGuarded, PrintsTheAnswerAndReturnsItsStatus) {
  const Ended ended = run([](Console& console) {
    console.phase("thinking");
    console.print("an ");
    console.print("answer\n");
    return 1;
  });
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "an answer\n");
  EXPECT_EQ(ended.err, "");
}

TEST(RunGuarded, GivesEveryErrorItsExitCodeAndOneLine) {
  for (const auto& [ended, status] :
       {std::pair{run_throwing(InputError("ranks: 0")), 2},
        std::pair{run_throwing(Unsupported("op 3")), 2},
        std::pair{run_throwing(EnvironmentError("no SimGrid")), 3},
        std::pair{run_throwing(InternalError("a broken invariant")), 70},
        std::pair{run_throwing(std::bad_alloc()), 3},
        std::pair{run_throwing(std::logic_error("somewhere")), 70}}) {
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err.find("slackline: "), 0u) << ended.err;
    EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
  }
}

TEST(RunGuarded, AsksForAReportOfItsOwnDefects) {
  for (const Ended& ended : {run_throwing(InternalError("a broken invariant")),
                             run_throwing(std::logic_error("a broken invariant"))}) {
    EXPECT_NE(ended.err.find("a broken invariant"), std::string::npos);
    EXPECT_NE(ended.err.find("please report it"), std::string::npos);
    EXPECT_NE(ended.err.find(SLACKLINE_VERSION), std::string::npos);
  }
}

TEST(RunGuarded, KeepsAnErrorOnOneLine) {
  const Ended ended = run_throwing(InputError("ranks: '2\n\x1b[31m'"));
  EXPECT_EQ(ended.err, "slackline: ranks: '2\\x0a\\x1b[31m'\n");
}

TEST(RunGuarded, NotesGoToStandardErrorWithTheAnswer) {
  const Ended ended = run([](Console& console) {
    console.note("by the way");
    return 0;
  });
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "slackline: note: by the way\n");
  const Ended failed = run([](Console& console) -> int {
    console.note("by the way");
    throw InputError("ranks: 0");
  });
  EXPECT_EQ(failed.err, "slackline: ranks: 0\n");
}

TEST(Commands, AreNamedOnceAndMakeThemselves) {
  std::vector<std::string_view> seen;
  for (const CommandEntry& entry : commands()) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), entry.name), 0) << entry.name;
    seen.push_back(entry.name);
    EXPECT_NE(entry.make(), nullptr) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
  }
}

}  // namespace
}  // namespace slackline::cli
