#include "hw/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "base/child.h"
#include "base/error.h"
#include "base/write_all.h"
#include "hw/end_signals.h"
#include "hw/shm_cleanup.h"
#include "hw/shm_room.h"

namespace slackline::hw {
namespace {

using Clock = std::chrono::steady_clock;

// A pipe takes this much in one piece, so that nobody waits for a reader.
constexpr std::size_t kMostMessage = 4000;

bool is_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&entry, 1, 0) > 0;
}

int importance(const RankEnd& end) {
  switch (end.code) {
    case 0:
      return 0;
    case 1:
      if (end.by_signal) return 3;
      return end.message.empty() ? 1 : 2;
    case 70:
      return 5;
    default:
      return 4;
  }
}

}  // namespace

RankProcesses::RankProcesses(std::uint32_t first, std::uint32_t count,
                             const std::function<RankEnd(std::uint32_t rank)>& body) {
  processes_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) start(first + i, body);
}

RankProcesses::RankProcesses(const std::vector<std::uint32_t>& ranks,
                             const std::function<RankEnd(std::uint32_t rank)>& body) {
  processes_.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) start(rank, body);
}

RankProcesses::~RankProcesses() { end_all(); }

void RankProcesses::start(std::uint32_t rank, const std::function<RankEnd(std::uint32_t)>& body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    const int reason = errno;
    end_all();
    throw EnvironmentError(fmt::format("rank {} cannot be started, no pipe: {}; see `ulimit -n`",
                                       rank, strerror(reason)));
  }
  const pid_t pid = base::fork_child();
  if (pid < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    end_all();
    throw EnvironmentError(
        fmt::format("rank {} cannot be started: {}; see `ulimit -u`", rank, strerror(reason)));
  }
  if (pid == 0) {
    for (const Process& other : processes_) close(other.pipe);
    close(ends[0]);
    const RankEnd end = body(rank);
    base::write_all(ends[1], std::string_view(end.message).substr(0, kMostMessage));
    _exit(end.code);
  }
  close(ends[1]);
  processes_.push_back({rank, pid, ends[0], {}, true, {}});
}

void RankProcesses::read_pipes(std::chrono::milliseconds timeout, int end) {
  std::vector<pollfd> entries;
  std::vector<Process*> readers;
  for (Process& process : processes_) {
    if (process.pipe < 0) continue;
    entries.push_back({process.pipe, POLLIN, 0});
    readers.push_back(&process);
  }
  if (end >= 0) entries.push_back({end, POLLIN, 0});
  if (::poll(entries.data(), entries.size(), static_cast<int>(timeout.count())) <= 0) return;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (entries[i].revents == 0) continue;
    std::array<char, 1024> buffer{};
    const ssize_t count = read(entries[i].fd, buffer.data(), buffer.size());
    if (count > 0) {
      readers[i]->text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      close(readers[i]->pipe);
      readers[i]->pipe = -1;
    }
  }
}

// Sees who has ended; answers whether anybody has, and badly.
bool RankProcesses::reap() {
  bool badly = false;
  for (Process& process : processes_) {
    if (!process.running) continue;
    int status = 0;
    if (waitpid(process.pid, &status, WNOHANG) != process.pid) continue;
    process.running = false;
    if (WIFEXITED(status)) {
      process.end.code = WEXITSTATUS(status);
    } else {
      process.end.code = 1;
      process.end.by_signal = true;
      process.end.message = fmt::format("rank {} was {}", process.rank, ended_by(WTERMSIG(status)));
      if (const auto room = shm_room(); WTERMSIG(status) == SIGBUS && is_shm_full(room)) {
        process.end.message += fmt::format(": /dev/shm is full, {}", shm_room_and_cure(*room));
      }
      remove_shm_segments(process.pid, std::chrono::milliseconds(0));
    }
    badly = badly || process.end.code != 0;
  }
  return badly;
}

std::vector<RankEnd> RankProcesses::wait(std::chrono::milliseconds grace, int end) {
  std::optional<Clock::time_point> deadline;
  const auto any_running = [&] {
    return std::any_of(processes_.begin(), processes_.end(),
                       [](const Process& p) { return p.running; });
  };
  while (any_running()) {
    read_pipes(std::chrono::milliseconds(20), end);
    if (reap() && !deadline) deadline = Clock::now() + grace;
    if ((deadline && Clock::now() > *deadline) || is_readable(end)) end_all();
  }
  // All that they wrote is there, and the end of it.
  const auto any_open = [&] {
    return std::any_of(processes_.begin(), processes_.end(),
                       [](const Process& p) { return p.pipe >= 0; });
  };
  while (any_open()) read_pipes(std::chrono::milliseconds(20), -1);
  std::vector<RankEnd> ends;
  for (Process& process : processes_) {
    if (!process.text.empty() && process.end.message.empty()) process.end.message = process.text;
    ends.push_back(process.end);
  }
  return ends;
}

void RankProcesses::end_all() {
  for (Process& process : processes_) {
    if (process.running) kill(process.pid, SIGKILL);  // stopped ones hear it too
  }
  for (Process& process : processes_) {
    if (process.running) {
      base::wait_for(process.pid);
      process.running = false;
      remove_shm_segments(process.pid, std::chrono::milliseconds(0));
      process.end = {1, fmt::format("rank {} did not end by itself", process.rank), false};
    }
    if (process.pipe >= 0) close(process.pipe);
    process.pipe = -1;
  }
}

RankEnd most_telling(const std::vector<RankEnd>& ends) {
  RankEnd most;
  for (const RankEnd& end : ends) {
    if (importance(end) > importance(most)) most = end;
  }
  return most;
}

}  // namespace slackline::hw
