#include "sweep/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/child.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/write_all.h"

namespace slackline::sweep {
namespace {

using sched::Descriptor;

// So many points are told a worker at a time, so that it need not wait for the next.
constexpr std::size_t kAhead = 2;
constexpr int kPatience_ms = 200;

struct CutShort {};

struct Head {
  std::uint64_t index = 0;
  std::uint64_t bytes = 0;  // of the answer that follows
};

std::string packed(const Outcome& answer) {
  base::ByteWriter<std::string> writer;
  writer.add_list(std::span<const double>(answer.makespan_s));
  writer.add_text(answer.error);
  writer.add(answer.exit_code);
  return writer.take();
}

Outcome unpacked(std::string_view bytes) {
  base::ByteReader<CutShort> reader(bytes);
  Outcome answer;
  answer.makespan_s.clear();
  const auto bits = reader.list<std::uint64_t>();
  answer.makespan_s.resize(bits.size());
  std::memcpy(answer.makespan_s.data(), bits.data(), bits.size() * sizeof(double));
  answer.error = reader.text();
  answer.exit_code = reader.get<std::int32_t>();
  return answer;
}

bool read_exactly(int fd, void* to, std::size_t count) {
  auto* at = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = read(fd, at, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

// Never returns.
[[noreturn]] void work(std::span<const Point> points, int orders, int answers) {
  PointRunner runner;
  std::uint64_t index = 0;
  while (read_exactly(orders, &index, sizeof index)) {
    const std::string answer = packed(runner.answer(points[index]));
    const Head head{index, answer.size()};
    if (base::write_all(answers, {reinterpret_cast<const char*>(&head), sizeof head}) != 0 ||
        base::write_all(answers, answer) != 0) {
      break;
    }
  }
  _exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("signal {} ended the process that ran it", WTERMSIG(status));
  }
  return fmt::format("the process that ran it ended with {}", WEXITSTATUS(status));
}

[[noreturn]] void no_process(int error) {
  throw EnvironmentError(
      fmt::format("no further process: {}; expected room for them (`ulimit -u`), or fewer --jobs",
                  std::strerror(error)));
}

class Worker {
 public:
  explicit Worker(std::span<const Point> points) {
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC) != 0) no_process(errno);
    Descriptor orders(down[0]);
    orders_.reset(down[1]);
    if (pipe2(up, O_CLOEXEC) != 0) no_process(errno);
    answers_.reset(up[0]);
    Descriptor answers(up[1]);
    child_ = base::fork_child();
    if (child_ < 0) no_process(errno);
    if (child_ == 0) {
      orders_.reset();
      answers_.reset();
      work(points, orders.get(), answers.get());
    }
  }
  ~Worker() {
    if (child_ < 0) return;
    // One that is at a point would end only after it; and one that is at none would not see that its
    // orders have ended, while others hold that pipe's end too, as they were forked later.
    kill(child_, SIGKILL);
    base::wait_for(child_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int answers() const { return answers_.get(); }
  bool has_room() const { return told_.size() < kAhead; }
  bool is_idle() const { return told_.empty(); }

  void tell(std::uint64_t index) {
    told_.push_back(index);
    // If it has ended, what it says next says so.
    base::write_all(orders_.get(), {reinterpret_cast<const char*>(&index), sizeof index});
  }

  // The next answer; false if the process has ended instead.
  bool hear(std::uint64_t& index, Outcome& answer) {
    Head head;
    if (!read_exactly(answers_.get(), &head, sizeof head)) return false;
    std::string bytes(head.bytes, '\0');
    if (!read_exactly(answers_.get(), bytes.data(), bytes.size())) return false;
    index = head.index;
    answer = unpacked(bytes);
    told_.pop_front();
    return true;
  }

  // What it was told and has not answered, the one that it was at first; and how it ended.
  std::deque<std::uint64_t> left(std::string& how) {
    how = how_it_ended(base::wait_for(child_));
    child_ = -1;
    return std::move(told_);
  }

 private:
  Descriptor orders_, answers_;
  pid_t child_ = -1;
  std::deque<std::uint64_t> told_;
};

// A worker that has ended does not end us.
class NoSigpipe {
 public:
  NoSigpipe() : before_(signal(SIGPIPE, SIG_IGN)) {}
  ~NoSigpipe() { signal(SIGPIPE, before_); }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace

void answer_all(std::span<const Point> points, std::uint32_t jobs,
                const std::function<void(std::size_t index, const Outcome& answer)>& take,
                const std::function<void()>& wait) {
  const NoSigpipe quiet;
  std::deque<std::uint64_t> left(points.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<std::unique_ptr<Worker>> workers;
  for (;;) {
    while (!left.empty() && workers.size() < jobs) {
      workers.push_back(std::make_unique<Worker>(points));
      workers.back()->tell(left.front());
      left.pop_front();
    }
    std::erase_if(workers, [](const auto& worker) { return worker->is_idle(); });
    if (workers.empty()) return;
    std::vector<pollfd> ends;
    for (const auto& worker : workers) ends.push_back({worker->answers(), POLLIN, 0});
    const int ready = poll(ends.data(), ends.size(), kPatience_ms);
    for (std::size_t w = 0; ready > 0 && w < ends.size(); ++w) {
      if (ends[w].revents == 0) continue;
      Worker& worker = *workers[w];
      std::uint64_t index = 0;
      Outcome answer;
      if (worker.hear(index, answer)) {
        take(index, answer);
      } else {
        std::string how;
        std::deque<std::uint64_t> untold = worker.left(how);
        take(untold.front(), {{}, how, 70});
        untold.pop_front();
        left.insert(left.begin(), untold.begin(), untold.end());
        continue;
      }
      while (!left.empty() && worker.has_room()) {
        worker.tell(left.front());
        left.pop_front();
      }
    }
    wait();
  }
}

}  // namespace slackline::sweep
