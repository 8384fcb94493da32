// Ranks as processes of this host: each is a fork of the one that starts them, and has all that it
// had.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace slackline::hw {

/// What a rank came to: its exit code, and in one line what went wrong if anything did.
struct RankEnd {
  int code = 0;
  std::string message;
  bool by_signal = false;  // of somebody else's
};

class RankProcesses {
 public:
  /// Starts ranks first, …, first + count − 1. Each calls body(rank) and ends with its code, past
  /// all destructors of this process's objects. Call it before there are threads. A rank ends when
  /// the process does that started it. Throws EnvironmentError if the system starts no more.
  RankProcesses(std::uint32_t first, std::uint32_t count,
                const std::function<RankEnd(std::uint32_t rank)>& body);
  /// The same of these ranks.
  RankProcesses(const std::vector<std::uint32_t>& ranks,
                const std::function<RankEnd(std::uint32_t rank)>& body);
  /// Ends those that are left.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  /// Waits for all, and says in their order how they ended; one ended by a signal has code 1. Once
  /// one has ended badly, the others have `grace` to do so too, then they are ended: also those
  /// that somebody has stopped. So are all once the descriptor `end` is readable, if one is given.
  /// What ended ones left in shared memory is removed.
  std::vector<RankEnd> wait(std::chrono::milliseconds grace, int end = -1);

 private:
  struct Process {
    std::uint32_t rank = 0;
    pid_t pid = -1;
    int pipe = -1;  // where it writes what it came to; −1 when that is read
    std::string text;
    bool running = true;
    RankEnd end;
  };
  void start(std::uint32_t rank, const std::function<RankEnd(std::uint32_t)>& body);
  void read_pipes(std::chrono::milliseconds timeout, int end);
  bool reap();
  void end_all();

  std::vector<Process> processes_;
};

/// Of several ends the one that tells most: our own defects before what the user or the machine did
/// wrong, those before a rank that a signal ended, that before what the others saw of it, and the
/// lowest rank's of equals. All are good: the
/// first.
RankEnd most_telling(const std::vector<RankEnd>& ends);

}  // namespace slackline::hw
