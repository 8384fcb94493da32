// Every rank of a schedule as a process of its own, on one host. The parent carries the greetings,
// waits for all, and ends whoever is left when the time is over.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/end_with_parent.h"
#include "hw/executor.h"
#include "hw/fabric/transport.h"
#include "sched/kept_memory.h"
#include "sched/schedule.h"

namespace slackline::testing {

/// Makes a rank's transport, in the rank's own process.
using TransportFactory = std::function<std::unique_ptr<hw::Transport>()>;

/// Which of its buffers a rank tells of, in their order.
enum class Told : std::uint8_t { kKept, kAll };

struct RankReport {
  std::string error;  // empty if the rank proved its bytes
  std::vector<sched::OpTimes> times;
  std::vector<std::uint64_t> results;
  std::vector<std::byte> memory;  // when all ranks were through; kKept: hw::RankRecord::memory
  // On the steady clock, which is one for all processes of a host: time zero of `times` lies
  // between these.
  double begun_after_s = 0;
  double begun_before_s = 0;
  std::string transport;
  bool left_segment = false;  // in /dev/shm, before it was taken away
};

namespace local_ranks {

using Bytes = std::vector<std::byte>;

// What begins a message that stands in for any other, and never begins one of those.
inline constexpr std::string_view kFailed = "\x01 failed: ";

inline bool write_all(int fd, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = send(fd, from, bytes, MSG_NOSIGNAL);
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

inline bool read_all(int fd, void* data, std::size_t bytes) {
  char* to = static_cast<char*>(data);
  while (bytes != 0) {
    const ssize_t count = read(fd, to, bytes);
    if (count <= 0) return false;
    to += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

inline bool send_bytes(int fd, const void* data, std::uint64_t bytes) {
  return write_all(fd, &bytes, sizeof bytes) && write_all(fd, data, bytes);
}

inline bool receive_bytes(int fd, Bytes& bytes) {
  std::uint64_t size = 0;
  if (!read_all(fd, &size, sizeof size)) return false;
  bytes.resize(size);
  return read_all(fd, bytes.data(), size);
}

inline bool readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) > 0;
}

// Removes a process's segments, and answers whether it left any: a number that was another's before
// may have older ones. libfabric's shm names them pid:uid:number, and leaves them to a process that
// is killed.
inline bool remove_segments(pid_t pid, std::filesystem::file_time_type since) {
  // The file system's clock runs a little behind.
  const auto earliest = since - std::chrono::seconds(1);
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().starts_with(std::to_string(pid) + ":")) {
      left.push_back(entry.path());
    }
  }
  bool has_left = false;
  for (const auto& path : left) {
    has_left = has_left || std::filesystem::last_write_time(path) >= earliest;
    std::filesystem::remove(path);
  }
  return has_left;
}

inline double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::vector<std::byte> bytes_of(const sched::Schedule& schedule, std::uint32_t rank,
                                       hw::Executor& executor, Told told) {
  const sched::KeptMemory kept(schedule);
  std::vector<std::byte> bytes;
  for (std::uint32_t b = 0; b < schedule.buffers().size(); ++b) {
    const sched::Buffer& buffer = schedule.buffers()[b];
    if (buffer.rank.value != rank) continue;
    if (told == Told::kKept && !kept.keeps(sched::BufferId(b))) continue;
    const auto of_it = executor.memory().at({sched::BufferId(b), 0, buffer.bytes});
    bytes.insert(bytes.end(), of_it.begin(), of_it.end());
  }
  return bytes;
}

// What a rank does. Its messages to the parent: greeting; then transport, when it began, times and
// results; and when all have told that, its breach and memory.
inline void be_rank(int fd, const sched::Schedule& schedule, std::uint32_t rank,
                    const TransportFactory& make_transport, Told told) {
  std::string error;
  std::string transport_name;
  std::vector<sched::OpTimes> times;
  try {
    const std::unique_ptr<hw::Transport> transport = make_transport();
    transport_name = transport->name();
    hw::Executor executor(schedule, sched::RankId(rank), *transport);
    const Bytes greeting = hw::pack(executor.greeting());
    std::vector<hw::Greeting> greetings(schedule.rank_count());
    if (!send_bytes(fd, greeting.data(), greeting.size())) return;
    for (hw::Greeting& other : greetings) {
      Bytes bytes;
      if (!receive_bytes(fd, bytes)) return;
      hw::ByteReader reader(bytes);
      other = hw::read_greeting(reader);
    }
    executor.connect(greetings);
    // Who is connected may send to who is not yet, and what is lost then is only sent again much
    // later.
    Bytes word;
    if (!send_bytes(fd, nullptr, 0) || !receive_bytes(fd, word)) return;
    double begun[2] = {steady_s(), 0};
    executor.begin();
    begun[1] = steady_s();
    // Cores may be fewer than ranks: who has nothing to do lets others go on.
    while (!executor.finished()) {
      if (!executor.progress()) sched_yield();
    }
    times.assign(executor.times().begin(), executor.times().end());
    send_bytes(fd, transport_name.data(), transport_name.size());
    send_bytes(fd, begun, sizeof begun);
    send_bytes(fd, times.data(), times.size() * sizeof(sched::OpTimes));
    send_bytes(fd, executor.results().data(), executor.results().size_bytes());
    // Peers may still need this rank's progress.
    const auto serve = [&] {
      while (!readable(fd, 0)) {
        if (!executor.progress()) sched_yield();
      }
    };
    serve();
    if (!receive_bytes(fd, word)) return;
    // Only now nobody writes here any more.
    if (const auto breach = executor.first_breach()) error = *breach;
    send_bytes(fd, error.data(), error.size());
    const Bytes memory = bytes_of(schedule, rank, executor, told);
    send_bytes(fd, memory.data(), memory.size());
    serve();
    return;
  } catch (const std::exception& thrown) {
    error = thrown.what();
  }
  const std::string failure = std::string(kFailed) + error;
  send_bytes(fd, failure.data(), failure.size());
}

}  // namespace local_ranks

/// Runs the schedule; the reports by rank. A rank that does not come to its end within the time has
/// an error that says so.
inline std::vector<RankReport> run_locally(const sched::Schedule& schedule,
                                           const TransportFactory& make_transport,
                                           std::chrono::milliseconds timeout,
                                           Told told = Told::kKept) {
  using namespace local_ranks;
  const auto since = std::filesystem::file_time_type::clock::now();
  const std::uint32_t ranks = schedule.rank_count();
  std::vector<RankReport> reports(ranks);
  std::vector<int> fds;
  std::vector<pid_t> pids;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) std::abort();
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
      sched::end_with_parent(parent);
      for (const int fd : fds) close(fd);
      close(pair[0]);
      be_rank(pair[1], schedule, r, make_transport, told);
      _exit(0);
    }
    close(pair[1]);
    fds.push_back(pair[0]);
    pids.push_back(pid);
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  bool late = false;
  const auto receive = [&](std::uint32_t r, Bytes& bytes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (!readable(fds[r], static_cast<int>(std::max<std::int64_t>(0, left.count())))) {
      late = true;
      if (reports[r].error.empty()) reports[r].error = "not through in time";
      return false;
    }
    if (!receive_bytes(fds[r], bytes)) {
      if (reports[r].error.empty()) reports[r].error = "ended before its time";
      return false;
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with(kFailed)) {
      reports[r].error = text.substr(kFailed.size());
      return false;
    }
    return true;
  };
  std::vector<Bytes> greetings(ranks);
  bool met = true;
  for (std::uint32_t r = 0; r < ranks; ++r) met = receive(r, greetings[r]) && met;
  for (std::uint32_t r = 0; met && r < ranks; ++r) {
    for (const Bytes& greeting : greetings) send_bytes(fds[r], greeting.data(), greeting.size());
  }
  Bytes word;
  for (std::uint32_t r = 0; met && r < ranks; ++r) met = receive(r, word);
  for (std::uint32_t r = 0; met && r < ranks; ++r) send_bytes(fds[r], nullptr, 0);
  // Those behind one that was late were not asked.
  for (RankReport& report : reports) {
    if (late && report.error.empty()) report.error = "not through in time";
  }
  bool all = met;
  for (std::uint32_t r = 0; met && r < ranks; ++r) {
    Bytes transport;
    Bytes begun;
    Bytes times;
    Bytes results;
    if (!receive(r, transport) || !receive(r, begun) || !receive(r, times) ||
        !receive(r, results)) {
      all = false;
      continue;
    }
    reports[r].transport.assign(reinterpret_cast<const char*>(transport.data()), transport.size());
    std::memcpy(&reports[r].begun_after_s, begun.data(), sizeof(double));
    std::memcpy(&reports[r].begun_before_s, begun.data() + sizeof(double), sizeof(double));
    reports[r].times.resize(times.size() / sizeof(sched::OpTimes));
    std::memcpy(static_cast<void*>(reports[r].times.data()), times.data(), times.size());
    reports[r].results.resize(results.size() / sizeof(std::uint64_t));
    std::memcpy(reports[r].results.data(), results.data(), results.size());
  }
  for (std::uint32_t r = 0; all && r < ranks; ++r) send_bytes(fds[r], nullptr, 0);
  for (std::uint32_t r = 0; all && r < ranks; ++r) {
    Bytes error;
    all = receive(r, error) && receive(r, reports[r].memory);
    reports[r].error.append(reinterpret_cast<const char*>(error.data()), error.size());
  }
  // Closing is the word to leave. Who is stuck cannot hear it.
  for (std::uint32_t r = 0; r < ranks; ++r) {
    close(fds[r]);
    if (!all) kill(pids[r], SIGKILL);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    int status = 0;
    waitpid(pids[r], &status, 0);
    reports[r].left_segment = remove_segments(pids[r], since);
  }
  return reports;
}

inline std::vector<RankReport> run_locally(const sched::Schedule& schedule,
                                           const hw::FabricOptions& options,
                                           std::chrono::milliseconds timeout) {
  return run_locally(
      schedule, [&] { return hw::make_fabric_transport(options); }, timeout);
}

}  // namespace slackline::testing
