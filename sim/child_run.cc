#include "sim/child_run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <vector>

#include "base/child.h"
#include "base/error.h"
#include "base/forget.h"
#include "base/write_all.h"

namespace slackline::sim {
namespace {

// How the child ended; its last words.
struct Report {
  int exit_code;  // of the Error it threw; 0 if it threw none
  bool finished;
  char message[1024];
};

void rethrow(const Report& report) {
  const std::string message = report.message;
  switch (report.exit_code) {
    case 2:
      throw InputError(message);
    case 3:
      throw EnvironmentError(message);
    default:
      throw InternalError(message);
  }
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes)
    : data_(mmap(nullptr, std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
      bytes_(std::max<std::size_t>(bytes, 1)) {
  if (data_ == MAP_FAILED) {
    throw EnvironmentError(
        fmt::format("no memory for a simulation ({} bytes: {}); a smaller "
                    "schedule may fit",
                    bytes, std::strerror(errno)));
  }
}

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

void SharedMemory::forget_front(std::size_t bytes) const {
  const std::size_t page = base::page_bytes();
  madvise(data_, std::min(bytes, bytes_) / page * page, MADV_REMOVE);
}

ScratchFile::ScratchFile() : descriptor_(memfd_create("slackline", MFD_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw EnvironmentError(
        fmt::format("no file in memory for a simulation ({}); raise the limit on "
                    "open files (ulimit -n)",
                    std::strerror(errno)));
  }
}

ScratchFile::~ScratchFile() { close(descriptor_); }

std::string ScratchFile::path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

void ScratchFile::write(std::string_view text) const {
  if (const int error = base::write_all(descriptor_, text)) {
    throw EnvironmentError(
        fmt::format("no memory for a simulation ({} bytes: {}); a smaller platform may fit",
                    text.size(), std::strerror(error)));
  }
}

std::string ScratchFile::contents() const {
  std::string text;
  for (;;) {
    char piece[1 << 16];
    const ssize_t size = pread(descriptor_, piece, sizeof piece, static_cast<off_t>(text.size()));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(piece, static_cast<std::size_t>(size));
  }
}

namespace {

// Forks a child that does `work` and leaves word of how it went in `report`.
pid_t begin_child(Report& report, const std::function<void()>& work) {
  std::fflush(nullptr);
  const pid_t child = base::fork_child();
  if (child < 0) {
    throw EnvironmentError(
        fmt::format("no process for a simulation ({}); raise the limit on "
                    "processes (ulimit -u)",
                    std::strerror(errno)));
  }
  if (child != 0) return child;
  const auto say = [&](int exit_code, const char* message) {
    report.exit_code = exit_code;
    std::strncpy(report.message, message, sizeof report.message - 1);
  };
  try {
    work();
  } catch (const Error& error) {
    say(error.exit_code(), error.what());
  } catch (const std::exception& error) {
    say(70, error.what());
  }
  report.finished = true;
  _exit(0);
}

void require_well(const Report& report, int status) {
  if (!report.finished) {
    throw InternalError(WIFSIGNALED(status)
                            ? fmt::format("the simulation was ended by signal {} ({})",
                                          WTERMSIG(status), strsignal(WTERMSIG(status)))
                            : "the simulation ended without an answer");
  }
  if (report.exit_code != 0) rethrow(report);
}

// Ends the child if `waiting` throws.
int wait_for(pid_t child, const std::function<void()>& waiting) {
  constexpr useconds_t kShortest_us = 100;
  constexpr useconds_t kLongest_us = 20'000;
  int status = 0;
  for (useconds_t pause_us = kShortest_us;; pause_us = std::min(2 * pause_us, kLongest_us)) {
    const pid_t ended = waitpid(child, &status, waiting ? WNOHANG : 0);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return status;
    if (ended != 0) continue;
    usleep(pause_us);
    try {
      waiting();
    } catch (...) {
      kill(child, SIGKILL);
      base::wait_for(child);
      throw;
    }
  }
}

}  // namespace

void run_in_child(const std::function<void()>& work, const std::function<void()>& waiting) {
  const SharedMemory memory(sizeof(Report));
  Report& report = *static_cast<Report*>(memory.data());
  malloc_trim(0);  // what is free here would take memory there
  const pid_t child = begin_child(report, work);
  require_well(report, wait_for(child, waiting));
}

void run_in_children(std::uint32_t count, std::uint32_t at_once,
                     const std::function<void(std::uint32_t)>& work,
                     const std::function<void()>& ended) {
  struct Child {
    pid_t process;
    std::uint32_t number;
    std::size_t report;
  };
  at_once = std::max(1u, std::min(at_once, count));
  const SharedMemory memory(at_once * sizeof(Report));
  const std::span<Report> reports(static_cast<Report*>(memory.data()), at_once);
  std::vector<Child> children;
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < at_once; ++i) free.push_back(i);
  std::uint32_t first_wrong = count;
  std::exception_ptr error;
  const auto note = [&](std::uint32_t number) {
    if (number >= first_wrong) return;
    first_wrong = number;
    error = std::current_exception();
  };
  for (std::uint32_t next = 0; next < count || !children.empty();) {
    while (next < count && !error && !free.empty()) {
      Report& report = reports[free.back()];
      std::memset(&report, 0, sizeof report);
      try {
        children.push_back({begin_child(report, [&, next] { work(next); }), next, free.back()});
        free.pop_back();
      } catch (...) {
        note(next);
      }
      ++next;
    }
    if (error && children.empty()) break;
    int status = 0;
    const pid_t process = waitpid(-1, &status, 0);
    if (process < 0 && errno == EINTR) continue;
    const auto child = std::find_if(children.begin(), children.end(),
                                    [&](const Child& c) { return c.process == process; });
    if (child == children.end()) continue;
    try {
      require_well(reports[child->report], status);
    } catch (...) {
      note(child->number);
    }
    free.push_back(child->report);
    children.erase(child);
    if (ended) ended();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace slackline::sim
