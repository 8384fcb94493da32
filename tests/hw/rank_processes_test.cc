// Ranks as processes of this host: how they end, and that none is left, nor what it left in shared
// memory.
#include "hw/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hw/descriptor.h"
#include "hw/shm_cleanup.h"
#include "hw/shm_name.h"

namespace slackline::hw {
namespace {

using namespace std::chrono_literals;

// A process that waits to be killed; then it is a zombie until fetched.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pause();
    _exit(0);
  }
  ~Sleeper() { fetch(); }
  pid_t pid() const { return pid_; }
  void fetch() {
    if (fetched_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    fetched_ = true;
  }

 private:
  pid_t pid_;
  bool fetched_ = false;
};

class Segment {
 public:
  explicit Segment(const std::string& name) : path_("/dev/shm/" + name) { std::ofstream{path_}; }
  // Of another user; false if this one may not.
  bool give_away() const { return chown(path_.c_str(), geteuid() + 1, getegid()) == 0; }
  ~Segment() { unlink(path_.c_str()); }
  bool exists() const { return access(path_.c_str(), F_OK) == 0; }

 private:
  std::string path_;
};

bool is_gone(pid_t pid) { return kill(pid, 0) != 0; }

// Where ranks write their process numbers.
class Numbers {
 public:
  Numbers() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) std::abort();
    read_.reset(ends[0]);
    write_.reset(ends[1]);
  }
  void tell() const {
    const pid_t own = getpid();
    if (write(write_.get(), &own, sizeof own) != sizeof own) _exit(99);
  }
  int heard() const { return read_.get(); }
  pid_t next() const {
    pid_t pid = 0;
    pollfd entry{read_.get(), POLLIN, 0};
    if (poll(&entry, 1, 60'000) <= 0) return 0;
    EXPECT_EQ(read(read_.get(), &pid, sizeof pid), ssize_t{sizeof pid});
    return pid;
  }

 private:
  Descriptor read_;
  Descriptor write_;
};

TEST(RankProcesses, EachEndsWithWhatItCameTo) {
  RankProcesses processes(3, 4, [](std::uint32_t rank) {
    return RankEnd{static_cast<int>(rank % 5), "rank " + std::to_string(rank)};
  });
  const std::vector<RankEnd> ends = processes.wait(60s);
  ASSERT_EQ(ends.size(), 4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ends[i].code, static_cast<int>((3 + i) % 5));
    EXPECT_EQ(ends[i].message, "rank " + std::to_string(3 + i));
  }
}

TEST(RankProcesses, ALongMessageIsNeverInTheWay) {
  RankProcesses processes(0, 2, [](std::uint32_t) {
    return RankEnd{2, std::string(1 << 20, 'x')};
  });
  for (const RankEnd& end : processes.wait(60s)) {
    EXPECT_EQ(end.code, 2);
    EXPECT_GT(end.message.size(), 1000);
  }
}

TEST(RankProcesses, ASignalIsNamed) {
  RankProcesses processes(0, 2, [](std::uint32_t rank) {
    if (rank == 1) kill(getpid(), SIGKILL);
    return RankEnd{};
  });
  const std::vector<RankEnd> ends = processes.wait(60s);
  EXPECT_EQ(ends[0].code, 0);
  EXPECT_EQ(ends[1].code, 1);
  EXPECT_EQ(ends[1].message, "rank 1 was ended by signal 9 (Killed)");
}

TEST(RankProcesses, WhoIsLeftOverWhenOneFailedIsMadeToEnd) {
  const Numbers numbers;
  const Numbers also;
  RankProcesses processes(0, 3, [&](std::uint32_t rank) {
    if (rank == 0) {
      also.next();
      also.next();
      return RankEnd{3, "no"};
    }
    numbers.tell();
    also.tell();
    if (rank == 1) kill(getpid(), SIGSTOP);
    std::this_thread::sleep_for(1h);
    return RankEnd{};
  });
  const std::vector<RankEnd> ends = processes.wait(300ms);
  EXPECT_EQ(ends[0].code, 3);
  EXPECT_EQ(ends[1].message, "rank 1 did not end by itself");
  EXPECT_EQ(ends[2].message, "rank 2 did not end by itself");
  EXPECT_TRUE(is_gone(numbers.next()));
  EXPECT_TRUE(is_gone(numbers.next()));
  const RankEnd most = most_telling(ends);
  EXPECT_EQ(most.code, 3);
  EXPECT_EQ(most.message, "no");
}

// What ended well hurries nobody.
TEST(RankProcesses, WhoIsLeftOverWhenOthersEndedWellHasItsTime) {
  RankProcesses processes(0, 2, [](std::uint32_t rank) {
    if (rank == 1) std::this_thread::sleep_for(500ms);
    return RankEnd{0, "rank " + std::to_string(rank)};
  });
  const std::vector<RankEnd> ends = processes.wait(1ms);
  for (const RankEnd& end : ends) EXPECT_EQ(end.code, 0) << end.message;
  EXPECT_EQ(ends[1].message, "rank 1");
}

TEST(RankProcesses, NoneOutlivesTheObject) {
  const Numbers numbers;
  pid_t rank = 0;
  {
    RankProcesses processes(0, 1, [&](std::uint32_t) {
      numbers.tell();
      std::this_thread::sleep_for(1h);
      return RankEnd{};
    });
    rank = numbers.next();
    EXPECT_FALSE(is_gone(rank));
  }
  EXPECT_TRUE(is_gone(rank));
}

TEST(RankProcesses, NoneOutlivesTheParent) {
  const Numbers numbers;
  const pid_t parent = fork();
  if (parent == 0) {
    RankProcesses processes(0, 1, [&](std::uint32_t) {
      numbers.tell();
      std::this_thread::sleep_for(1h);
      return RankEnd{};
    });
    processes.wait(1h);
    _exit(0);
  }
  const pid_t rank = numbers.next();
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (int i = 0; i < 3000 && !has_ended(rank); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(has_ended(rank));
}

TEST(RankProcesses, TheMostTellingEnd) {
  const RankEnd good;
  const RankEnd lost{1, "rank 1 is lost"};
  const RankEnd user{2, "no such thing"};
  const RankEnd machine{3, "no device"};
  const RankEnd defect{70, "internal error"};
  EXPECT_EQ(most_telling({good, good}).code, 0);
  EXPECT_EQ(most_telling({good, {1, ""}}).code, 1);
  EXPECT_EQ(most_telling({good, {1, ""}, lost}).message, lost.message);
  EXPECT_EQ(most_telling({lost, machine, user}).message, machine.message);
  EXPECT_EQ(most_telling({user, defect, machine}).message, defect.message);
  const RankEnd killed{1, "rank 1 was ended by signal 9", true};
  EXPECT_EQ(most_telling({lost, killed, lost}).message, killed.message);
  EXPECT_EQ(most_telling({killed, machine}).message, machine.message);
}

TEST(RankProcesses, WhatKilledOnesLeftInSharedMemoryIsRemoved) {
  const Numbers numbers;
  RankProcesses processes(0, 1, [&](std::uint32_t) {
    numbers.tell();
    const std::string name =
        "/dev/shm/" + std::to_string(getpid()) + ":" + std::to_string(geteuid()) + ":1";
    if (open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600) < 0) return RankEnd{99, ""};
    kill(getpid(), SIGKILL);
    return RankEnd{};
  });
  EXPECT_EQ(processes.wait(60s)[0].code, 1);
  const std::string name =
      "/dev/shm/" + std::to_string(numbers.next()) + ":" + std::to_string(geteuid()) + ":1";
  EXPECT_NE(access(name.c_str(), F_OK), 0);
}

TEST(RankProcesses, AllAreEndedWhenTheDescriptorSpeaks) {
  const Numbers numbers;
  RankProcesses processes(0, 2, [&](std::uint32_t) {
    numbers.tell();
    std::this_thread::sleep_for(1h);
    return RankEnd{};
  });
  const std::array<pid_t, 2> ranks{numbers.next(), numbers.next()};
  const Numbers end;
  end.tell();
  processes.wait(1h, end.heard());
  EXPECT_TRUE(is_gone(ranks[0]));
  EXPECT_TRUE(is_gone(ranks[1]));
}

TEST(ShmCleanup, OnlyWhatTheDeadLeft) {
  Sleeper dead;
  const Sleeper alive;
  const std::string uid = std::to_string(geteuid());
  const std::string pid = std::to_string(dead.pid());
  const Segment first(pid + ":" + uid + ":1");
  const Segment second(pid + ":" + uid + ":22");
  const Segment other_user(pid + ":" + std::to_string(geteuid() + 1) + ":1");
  const Segment other_name(pid + ":" + uid + ":1x");
  const Segment longer(pid + "0:" + uid + ":1");
  const Segment its(std::to_string(alive.pid()) + ":" + uid + ":1");
  EXPECT_EQ(remove_shm_segments(dead.pid(), 20ms), 0);  // not yet dead
  EXPECT_TRUE(first.exists());
  kill(dead.pid(), SIGKILL);
  EXPECT_EQ(remove_shm_segments(dead.pid(), 30s), 2);  // a zombie
  EXPECT_FALSE(first.exists());
  EXPECT_FALSE(second.exists());
  EXPECT_TRUE(other_user.exists());
  EXPECT_TRUE(other_name.exists());
  EXPECT_TRUE(longer.exists());
  EXPECT_TRUE(its.exists());
  dead.fetch();
  EXPECT_EQ(remove_shm_segments(dead.pid(), 0ms), 0);
  EXPECT_EQ(remove_shm_segments(0, 0ms), 0);
  EXPECT_EQ(remove_shm_segments(-1, 0ms), 0);
}

TEST(ShmName, IsReadAsItWasWritten) {
  const std::optional<ShmOwner> own = own_shm_owner();
  ASSERT_TRUE(own);
  EXPECT_EQ(own->pid, getpid());
  EXPECT_EQ(shm_owner(shm_name(*own, "17")), own);
  EXPECT_EQ(shm_name({12, 34, 56}, "7"), "12:slackline:34:56:7");
  EXPECT_EQ(shm_owner("12:slackline:34:56:7_8"), (ShmOwner{12, 34, 56}));
  for (const char* name : {"", "12", "12:0:7", "12:slackline:34:56", "12:slackline:34:56:",
                           "12:slackline:34:56:7x", "-12:slackline:34:56:7", "0:slackline:34:56:7",
                           "12:slackline:-34:56:7", "12:slackline::56:7", "x12:slackline:34:56:7",
                           "12:other:34:56:7", "99999999999:slackline:34:56:7"}) {
    EXPECT_FALSE(shm_owner(name)) << name;
  }
}

// What a run left that was killed as a whole, and no more: other programs, other hosts' containers
// and other users have segments here too.
TEST(ShmCleanup, WhatAnyDeadSlacklineLeft) {
  Sleeper dead;
  const Sleeper alive;
  const ShmOwner own = own_shm_owner().value();
  const std::uint64_t space = own.pid_namespace;
  const std::uint64_t dead_start = start_ticks(dead.pid()).value();
  const std::uint64_t alive_start = start_ticks(alive.pid()).value();
  dead.fetch();
  const Segment left(shm_name({dead.pid(), dead_start, space}, "0"));
  const Segment more(shm_name({dead.pid(), dead_start, space}, "12_3"));
  const Segment earlier(shm_name({alive.pid(), alive_start - 1, space}, "0"));
  const Segment its(shm_name({alive.pid(), alive_start, space}, "0"));
  const Segment mine(shm_name(own, "999999"));
  const Segment elsewhere(shm_name({dead.pid(), dead_start, space + 1}, "0"));
  const Segment other_program(fmt::format("{}:{}:999999", dead.pid(), geteuid()));
  const Segment other_user(shm_name({dead.pid(), dead_start, space}, "777"));
  const bool given_away = other_user.give_away();
  remove_shm_segments_of_dead();
  EXPECT_FALSE(left.exists());
  EXPECT_FALSE(more.exists());
  EXPECT_FALSE(earlier.exists());
  EXPECT_TRUE(its.exists());
  EXPECT_TRUE(mine.exists());
  EXPECT_TRUE(elsewhere.exists());
  EXPECT_TRUE(other_program.exists());
  EXPECT_EQ(other_user.exists(), given_away);
  EXPECT_EQ(remove_shm_segments(alive.pid(), 0ms), 0);
  EXPECT_TRUE(its.exists());
  EXPECT_GE(remove_own_shm_segments(), 1);
  EXPECT_FALSE(mine.exists());
}

TEST(ShmCleanup, AStoppedProcessIsNotDead) {
  const Sleeper stopped;
  kill(stopped.pid(), SIGSTOP);
  EXPECT_FALSE(has_ended(stopped.pid()));
  EXPECT_FALSE(has_ended(1));
  EXPECT_FALSE(has_ended(getpid()));
}

}  // namespace
}  // namespace slackline::hw
