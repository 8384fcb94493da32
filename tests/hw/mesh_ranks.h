// Ranks of a mesh as processes of their own, which tell the test what they see, line by line.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "hw/descriptor.h"
#include "hw/local_port.h"
#include "hw/mesh.h"
#include "hw/shm_cleanup.h"

namespace slackline::testing {

class MeshRanks {
 public:
  /// What the process of a rank does. `say` tells the test a line. What is thrown is told as
  /// "! EXIT_CODE MESSAGE".
  using Say = std::function<void(const std::string&)>;
  using Body = std::function<void(const hw::MeshOptions&, const Say&)>;

  MeshRanks() = default;
  MeshRanks(const MeshRanks&) = delete;
  MeshRanks& operator=(const MeshRanks&) = delete;
  ~MeshRanks() { end(); }

  /// Options for a rank, with this object's port as root.
  hw::MeshOptions options(std::uint32_t rank, std::uint32_t ranks) const {
    hw::MeshOptions options;
    options.rank = rank;
    options.ranks = ranks;
    options.root = port_.address();
    options.root_socket = port_.socket();
    options.secret = secret_;
    options.agreed = {"schedule: 1f3c"};
    // Nobody is lost because this machine has much else to do.
    options.failure_timeout = std::chrono::seconds(30);
    return options;
  }
  const hw::LocalPort& port() const { return port_; }
  const hw::Secret& secret() const { return secret_; }

  /// Answers the process's place.
  std::size_t start(const hw::MeshOptions& options, const Body& body) {
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) != 0) std::abort();
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) std::abort();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      for (Process& other : processes_) other.lines.reset();
      close(pipes[0]);
      be_rank(pipes[1], options, body);
      _exit(0);
    }
    close(pipes[1]);
    processes_.push_back({pid, hw::Descriptor(pipes[0]), {}});
    return processes_.size() - 1;
  }

  void start_all(std::uint32_t ranks, const Body& body) {
    for (std::uint32_t r = 0; r < ranks; ++r) start(options(r, ranks), body);
  }

  std::size_t size() const { return processes_.size(); }
  pid_t pid(std::size_t process) const { return processes_[process].pid; }
  void signal(std::size_t process, int number) { kill(processes_[process].pid, number); }
  /// Waits until the process has been stopped, or has stopped itself. False if it ends.
  bool await_stop(std::size_t process) const {
    siginfo_t how{};
    waitid(P_PID, static_cast<id_t>(pid(process)), &how, WSTOPPED | WEXITED | WNOWAIT);
    return how.si_code == CLD_STOPPED;
  }

  /// What the process says next. "(end)" when it is over, "(silence)" after a long time, in which
  /// the ranks could have had cores.
  std::string next(std::size_t process) {
    Process& from = processes_[process];
    std::chrono::steady_clock::time_point begin;
    std::optional<std::map<std::string, std::int64_t>> before;
    for (;;) {
      const std::size_t newline = from.heard.find('\n');
      if (newline != std::string::npos) {
        const std::string line = from.heard.substr(0, newline);
        from.heard.erase(0, newline + 1);
        return line;
      }
      pollfd entry{from.lines.get(), POLLIN, 0};
      if (poll(&entry, 1, 500) == 0) {
        const auto now = std::chrono::steady_clock::now();
        if (!before) {
          begin = now;
          before = waited_ns();
        } else if (now - begin - kept_from_cores_since(*before) > std::chrono::seconds(40)) {
          return "(silence)";
        }
        continue;
      }
      char buffer[4096];
      const ssize_t count = read(from.lines.get(), buffer, sizeof buffer);
      if (count <= 0) return "(end)";
      from.heard.append(buffer, static_cast<std::size_t>(count));
    }
  }

  /// Ends whoever is left. Fails the test for a process that has ended by itself with another
  /// status than 0, as one does in which a sanitizer found something, or by another signal than
  /// SIGKILL.
  void end() {
    for (std::size_t place = 0; place < processes_.size(); ++place) {
      Process& process = processes_[place];
      if (process.pid <= 0) continue;
      kill(process.pid, SIGKILL);  // which changes nothing of one that has ended
      int status = 0;
      waitpid(process.pid, &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        ADD_FAILURE() << "process " << place << " ended with " << WEXITSTATUS(status);
      }
      if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
        ADD_FAILURE() << "process " << place << " ended by " << strsignal(WTERMSIG(status));
      }
      // Who is ended leaves them, for another process of that number to be taken for their owner.
      hw::remove_shm_segments(process.pid, std::chrono::milliseconds(0));
      process.pid = 0;
    }
  }

 private:
  struct Process {
    pid_t pid = 0;
    hw::Descriptor lines;
    std::string heard;
  };

  // How long each thread of each rank has waited for a core to be free, in all its life. It need
  // not be a rank's first thread that the others wait for. Where Linux does not tell, no threads.
  std::map<std::string, std::int64_t> waited_ns() const {
    std::map<std::string, std::int64_t> waited;
    for (const Process& process : processes_) {
      if (process.pid <= 0) continue;
      std::error_code gone;
      const std::filesystem::path threads = fmt::format("/proc/{}/task", process.pid);
      for (std::filesystem::directory_iterator thread(threads, gone), end; !gone && thread != end;
           thread.increment(gone)) {
        std::ifstream file(thread->path() / "schedstat");
        std::int64_t ran_ns = 0;
        std::int64_t ns = 0;
        if (file >> ran_ns >> ns) waited[thread->path().filename().string()] = ns;
      }
    }
    return waited;
  }
  // How long the thread that had to wait most has waited since.
  std::chrono::nanoseconds kept_from_cores_since(
      const std::map<std::string, std::int64_t>& before) const {
    std::int64_t most_ns = 0;
    for (const auto& [thread, ns] : waited_ns()) {
      const auto then = before.find(thread);
      most_ns = std::max(most_ns, ns - (then == before.end() ? 0 : then->second));
    }
    return std::chrono::nanoseconds(most_ns);
  }

  static void be_rank(int fd, const hw::MeshOptions& options, const Body& body) {
    const Say say = [fd](const std::string& line) {
      const std::string whole = line + "\n";
      if (write(fd, whole.data(), whole.size()) < 0) _exit(1);
    };
    try {
      body(options, say);
    } catch (const Error& error) {
      say(fmt::format("! {} {}", error.exit_code(), error.what()));
    } catch (const std::exception& error) {
      say(fmt::format("! ? {}", error.what()));
    }
  }

  hw::LocalPort port_;
  hw::Secret secret_ = hw::Secret::random();
  std::vector<Process> processes_;
};

}  // namespace slackline::testing
