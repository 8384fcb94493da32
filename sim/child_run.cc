#include "sim/child_run.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "sched/error.h"

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

void run_in_child(const std::function<void()>& work) {
  const SharedMemory memory(sizeof(Report));
  Report& report = *static_cast<Report*>(memory.data());
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw EnvironmentError(
        fmt::format("no process for a simulation ({}); raise the limit on "
                    "processes (ulimit -u)",
                    std::strerror(errno)));
  }
  if (child == 0) {
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
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!report.finished) {
    throw InternalError(WIFSIGNALED(status)
                            ? fmt::format("the simulation was ended by signal {} ({})",
                                          WTERMSIG(status), strsignal(WTERMSIG(status)))
                            : "the simulation ended without an answer");
  }
  if (report.exit_code != 0) rethrow(report);
}

}  // namespace slackline::sim
