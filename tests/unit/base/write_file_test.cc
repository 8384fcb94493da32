// Files and folders that are written whole or not at all, whatever comes in between.
#include "base/write_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "base/end_with_parent.h"
#include "base/error.h"
#include "base/held_signals.h"
#include "base/read_file.h"
#include "base/write_folder.h"
#include "tests/support/error_of.h"
#include "tests/support/in_child.h"
#include "tests/support/temp_folder.h"

namespace slackline::sched {
namespace {

using slackline::testing::ending_of_child;
using slackline::testing::error_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::size_t kLarge = std::size_t{4} << 20;

class WrittenFiles : public ::testing::TestWithParam<Aside> {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  void write(const std::string& name, std::string_view bytes) const {
    write_file(path(name), bytes, aside());
  }
  virtual Aside aside() const { return GetParam(); }
  // Sorted.
  std::vector<std::string> names(const std::string& below = "") const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path(below))) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  const slackline::testing::TempFolder folder_;
};

using Names = std::vector<std::string>;

TEST_P(WrittenFiles, AreNewOrReplaceOthers) {
  const std::string bytes("a\0b\r\n\xff", 6);
  for (const std::string& each : {bytes, std::string(), std::string(kLarge + 3, 'x')}) {
    write("x", each);
    EXPECT_EQ(read_file(path("x")), each);
    EXPECT_EQ(names(), Names{"x"});
  }
}

TEST_P(WrittenFiles, KeepThePermissionsOfWhatTheyReplace) {
  write("x", "old");
  ::chmod(path("x").c_str(), 0640);
  write("x", "new");
  EXPECT_EQ(read_file(path("x")), "new");
  EXPECT_EQ(fs::status(path("x")).permissions(), fs::perms(0640));
}

TEST_P(WrittenFiles, HaveThePermissionsOfTheUmask) {
  const mode_t before = ::umask(0027);
  write("x", "x");
  ::umask(before);
  EXPECT_EQ(fs::status(path("x")).permissions(), fs::perms(0640));
}

TEST_P(WrittenFiles, AreNotReplacedIfNobodyIsToWriteThem) {
  write("x", "old");
  ::chmod(path("x").c_str(), 0444);
  const std::string refusal = path("x") +
                              ": cannot write: it is write-protected (mode 444); expected a place "
                              "that can be written to";
  EXPECT_EQ(error_of([&] { write("x", "new"); }), refusal);
  EXPECT_EQ(error_of([&] { require_writable(path("x")); }), refusal);
  EXPECT_EQ(read_file(path("x")), "old");
  EXPECT_EQ(names(), Names{"x"});
}

TEST_P(WrittenFiles, StandWhereLinksLead) {
  fs::create_directories(path("far"));
  fs::create_symlink("second", path("first"));
  fs::create_symlink("far/x", path("second"));
  fs::create_symlink(path("far/y"), path("absolute"));
  require_writable(path("first"));
  for (const char* bytes : {"new", "newer"}) {
    write("first", bytes);
    write("absolute", bytes);
    EXPECT_TRUE(fs::is_symlink(path("first")) && fs::is_symlink(path("second")));
    EXPECT_EQ(read_file(path("far/x")), bytes);
    EXPECT_EQ(read_file(path("far/y")), bytes);
  }
  fs::create_symlink("loop", path("loop"));
  fs::create_symlink("none/x", path("nowhere"));
  for (const char* name : {"loop", "nowhere"}) {
    EXPECT_NE(error_of([&] { require_writable(path(name)); }), "");
    EXPECT_EQ(error_of([&] { write(name, "x"); }), error_of([&] { require_writable(path(name)); }));
  }
  EXPECT_EQ(names("far"), (Names{"x", "y"}));
}

TEST_P(WrittenFiles, TakePieceByPiece) {
  const Pieces pieces = [](const Sink& out) {
    for (int i = 0; i < 3; ++i) out(std::string(kLarge / 4, static_cast<char>('a' + i)));
  };
  write_file(path("x"), pieces, aside());
  std::string all;
  pieces([&](std::string_view piece) { all += piece; });
  EXPECT_EQ(read_file(path("x")), all);
  const Pieces broken = [](const Sink& out) {
    out("half");
    throw InputError("no more");
  };
  for (const char* name : {"x", "y"}) {
    EXPECT_EQ(error_of([&] { write_file(path(name), broken, aside()); }), "no more");
  }
  EXPECT_EQ(read_file(path("x")), all);
  EXPECT_EQ(names(), Names{"x"});
}

// Only so much may be written to a file: a disk that is full shows in the same way.
void allow_file_of(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_IGN);
}

TEST_P(WrittenFiles, LeaveNothingWhereTheyDoNotFit) {
  write("x", "old");
  EXPECT_EQ(ending_of_child([&] {
              allow_file_of(kLarge / 2);
              const std::string bytes(kLarge, 'x');
              for (const char* name : {"x", "y"}) {
                if (error_of([&] { write(name, bytes); }) !=
                    path(name) +
                        ": cannot write: File too large; expected a place that can be written to") {
                  ::_exit(1);
                }
              }
            }),
            0);
  EXPECT_EQ(names(), Names{"x"});
  EXPECT_EQ(read_file(path("x")), "old");
}

INSTANTIATE_TEST_SUITE_P(, WrittenFiles, ::testing::Values(Aside::kUnnamed, Aside::kNamed),
                         [](const auto& each) {
                           return each.param == Aside::kUnnamed ? "Unnamed" : "Named";
                         });

class Interrupted : public WrittenFiles {
 protected:
  Aside aside() const override { return Aside::kNamed; }
  // Ends a process that does `body` without end, once `begun`, by a signal.
  void end_amid(const std::function<void()>& body, int signal, const std::function<bool()>& begun) {
    const pid_t parent = ::getpid();
    const pid_t writer = ::fork();
    if (writer == 0) {
      end_with_parent(parent);
      for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(each, SIG_DFL);
      for (;;) body();
    }
    while (!begun()) {
    }
    ::kill(writer, signal);
    int status = 0;
    ::waitpid(writer, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
  }
};

TEST_F(Interrupted, SignalsLeaveWholeFilesAlone) {
  const std::string bytes(kLarge, 'x');
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    end_amid([&] { write("x", bytes); }, signal, [&] { return !names().empty(); });
    for (const std::string& name : names()) {
      EXPECT_EQ(name, "x");
      EXPECT_EQ(fs::file_size(path(name)), bytes.size());
    }
  }
}

TEST_F(Interrupted, NotEvenAKillLeavesHalfAFile) {
  write_file(path("probe"), "x");
  fs::remove(path("probe"));
  const std::string bytes(kLarge, 'x');
  int next = 0;
  end_amid([&] { write_file(path(std::to_string(next++)), bytes); }, SIGKILL,
           [&] { return names().size() > 3; });
  for (const std::string& name : names()) {
    EXPECT_THAT(name, Not(HasSubstr("slackline")));
    EXPECT_EQ(fs::file_size(path(name)), bytes.size());
  }
}

TEST_F(Interrupted, ASignalThatIsIgnoredStopsNothing) {
  EXPECT_EQ(ending_of_child([] {
              std::signal(SIGHUP, SIG_IGN);
              const HeldSignals held;
              ::raise(SIGHUP);
              ::_exit(held.end_waits() ? 1 : 0);
            }),
            0);
}

TEST_F(Interrupted, AHeldSignalEndsTheProcessAfterwards) {
  const int status = ending_of_child([] {
    std::signal(SIGTERM, SIG_DFL);
    const HeldSignals held;
    if (held.end_waits()) ::_exit(1);
    ::raise(SIGTERM);
    if (!held.end_waits()) ::_exit(2);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

using WrittenFolders = Interrupted;

TEST_F(WrittenFolders, AreMadeWithThoseAboveThem) {
  require_writable_folder(path("a/b/c/"));
  EXPECT_EQ(names(), Names{});
  FolderWriter writer(path("a/b/c/"));
  writer.write("x", "1");
  writer.write("y", "2");
  EXPECT_FALSE(fs::exists(path("a/b/c")));
  writer.finish();
  EXPECT_EQ(names("a/b"), Names{"c"});
  EXPECT_EQ(names("a/b/c"), (Names{"x", "y"}));
  EXPECT_EQ(read_file(path("a/b/c/y")), "2");
}

TEST_F(WrittenFolders, KeepWhatElseIsInThem) {
  fs::create_directories(path("a"));
  write("a/x", "old");
  write("a/z", "other");
  ::chmod(path("a/x").c_str(), 0600);
  FolderWriter writer(path("a"));
  writer.write("x", "new");
  writer.write("y", "new");
  EXPECT_EQ(read_file(path("a/x")), "old");
  writer.finish();
  EXPECT_EQ(names("a"), (Names{"x", "y", "z"}));
  EXPECT_EQ(read_file(path("a/x")), "new");
  EXPECT_EQ(fs::status(path("a/x")).permissions(), fs::perms(0600));
}

TEST_F(WrittenFolders, LeaveNothingUnfinished) {
  fs::create_directories(path("old"));
  write("old/x", "old");
  for (const char* folder : {"old", "new/deep"}) {
    {
      FolderWriter writer(path(folder));
      writer.write("x", "new");
    }
    EXPECT_EQ(names(), Names{"old"});
    EXPECT_EQ(ending_of_child([&] {
                allow_file_of(kLarge / 2);
                FolderWriter writer(path(folder));
                writer.write("x", "new");
                const std::string error =
                    error_of([&] { writer.write("y", std::string(kLarge, 'y')); });
                ::_exit(error.starts_with(path(folder) + ": cannot write: File too large") ? 0 : 1);
              }),
              0);
    const int status = ending_of_child([&] {
      std::signal(SIGTERM, SIG_DFL);
      FolderWriter writer(path(folder));
      writer.write("x", "new");
      ::raise(SIGTERM);
      error_of([&] { writer.write("y", "new"); });
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(names(), Names{"old"});
    EXPECT_EQ(names("old"), Names{"x"});
    EXPECT_EQ(read_file(path("old/x")), "old");
  }
}

TEST_F(WrittenFolders, AreRefusedWhereNoneCanBe) {
  write("file", "x");
  for (const char* folder : {"file", "file/below"}) {
    const std::string error = error_of([&] { require_writable_folder(path(folder)); });
    EXPECT_THAT(error, HasSubstr("Not a directory"));
    EXPECT_EQ(error_of([&] { FolderWriter writer(path(folder)); }), error);
  }
  fs::create_directories(path("a/x"));
  write("a/y", "x");
  ::chmod(path("a/y").c_str(), 0400);
  FolderWriter writer(path("a"));
  EXPECT_THAT(error_of([&] { writer.write("x", ""); }), HasSubstr("Is a directory"));
  FolderWriter other(path("a"));
  EXPECT_THAT(error_of([&] { other.write("y", ""); }), HasSubstr("write-protected (mode 400)"));
  EXPECT_EQ(names("a"), (Names{"x", "y"}));
}

}  // namespace
}  // namespace slackline::sched
