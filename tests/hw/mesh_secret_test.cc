// Where a run's secret comes from, and which files are refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "hw/mesh/secret.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class MeshSecret : public ::testing::Test {
 protected:
  MeshSecret() {
    for (const char* variable : {"XDG_CONFIG_HOME", "HOME"}) {
      const char* const value = std::getenv(variable);
      before_.emplace_back(variable, value == nullptr ? "" : value);
    }
  }
  ~MeshSecret() override {
    for (const auto& [variable, value] : before_) setenv(variable.c_str(), value.c_str(), 1);
  }

  std::string file(const std::string& text, mode_t mode = 0600) {
    const std::string path = folder_ / fmt::format("file-{}", files_++);
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  std::string why_not(const std::string& path) {
    return testing::error_of([&] { Secret::of_file(path); });
  }

  const testing::TempFolder temp_;
  const fs::path& folder_ = temp_.path();

 private:
  int files_ = 0;
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(MeshSecret, TwoThatAreDrawnDiffer) { EXPECT_NE(Secret::random(), Secret::random()); }

TEST_F(MeshSecret, TheSameBytesAreTheSameSecret) {
  const std::string text(16, 'x');
  const Secret secret = Secret::of_file(file(text));
  EXPECT_EQ(secret, Secret::of_file(file(text)));
  EXPECT_NE(secret, Secret::of_file(file(text + "\n")));
  EXPECT_NE(secret, Secret::of_file(file(std::string(4096, 'x'))));
}

TEST_F(MeshSecret, AFileThatOthersKnowIsRefused) {
  const std::string text(32, 'x');
  for (const mode_t mode : {0640, 0604, 0660, 0620, 0602, 0777}) {
    EXPECT_THAT(
        why_not(file(text, mode)),
        HasSubstr(fmt::format("has mode {:03o}, so that others may read or write it", mode)));
  }
  EXPECT_NO_THROW(Secret::of_file(file(text, 0400)));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  const std::string path = file(text);
  ASSERT_EQ(chown(path.c_str(), 65'534, 65'534), 0);
  EXPECT_THAT(why_not(path), HasSubstr("belongs to user 65534; expected a file of user 0"));
}

TEST_F(MeshSecret, WhatIsNoSecretIsRefused) {
  EXPECT_THAT(why_not(file(std::string(15, 'x'))), HasSubstr("has 15 bytes; expected 16 to 4096"));
  EXPECT_THAT(why_not(file(std::string(4097, 'x'))),
              HasSubstr("has 4096 bytes and more; expected 16 to 4096"));
  EXPECT_THAT(why_not(folder_ / "nothing"),
              HasSubstr("No such file or directory; expected a file"));
  EXPECT_THAT(why_not(folder_), HasSubstr("is no regular file"));
  EXPECT_THAT(why_not("/dev/zero"), HasSubstr("is no regular file"));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(why_not(pipe), HasSubstr("is no regular file"));
}

TEST_F(MeshSecret, TheUsersOwnIsMadeOnce) {
  setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
  const std::string path = folder_ / "config/slackline/secret";
  EXPECT_EQ(path_of_users_secret(), path);
  const Secret secret = Secret::of_user();
  EXPECT_EQ(Secret::of_user(), secret);
  EXPECT_EQ(Secret::of_file(path), secret);
  struct stat about = {};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  // Nothing else was left beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "config/slackline"), {}), 1);
}

TEST_F(MeshSecret, TheUsersOwnIsInTheHomeDirectory) {
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", folder_.c_str(), 1);
  EXPECT_EQ(path_of_users_secret(), folder_ / ".config/slackline/secret");
  setenv("XDG_CONFIG_HOME", "relative", 1);  // which the convention says to ignore
  EXPECT_EQ(path_of_users_secret(), folder_ / ".config/slackline/secret");
  unsetenv("HOME");
  EXPECT_THROW(path_of_users_secret(), EnvironmentError);
}

TEST_F(MeshSecret, WhereNothingCanBeMadeTheCureIsNamed) {
  setenv("XDG_CONFIG_HOME", file("no folder").c_str(), 1);
  EXPECT_THAT(testing::error_of<EnvironmentError>([&] { Secret::of_user(); }),
              HasSubstr("give all ranks the same --secret FILE"));
}

// Ranks of one host come at once.
TEST_F(MeshSecret, AllWhoMakeItAtOnceHaveTheSame) {
  setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  constexpr int kProcesses = 8;
  std::vector<pid_t> processes;
  for (int i = 0; i < kProcesses; ++i) {
    processes.push_back(fork());
    if (processes.back() != 0) continue;
    try {
      const Secret secret = Secret::of_user();
      _exit(write(pipes[1], secret.bytes().data(), Secret::kBytes) == Secret::kBytes ? 0 : 1);
    } catch (...) {
      _exit(2);
    }
  }
  for (const pid_t process : processes) {
    int status = -1;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Secret secret = Secret::of_user();
  for (int i = 0; i < kProcesses; ++i) {
    std::array<std::byte, Secret::kBytes> told{};
    ASSERT_EQ(read(pipes[0], told.data(), told.size()), ssize_t{Secret::kBytes});
    EXPECT_TRUE(std::equal(told.begin(), told.end(), secret.bytes().begin()));
  }
  close(pipes[0]);
  close(pipes[1]);
}

}  // namespace
}  // namespace slackline::hw
