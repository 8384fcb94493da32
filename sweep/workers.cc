#include "sweep/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/child.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/write_all.h"

namespace slackline::sweep {
namespace {

using sched::Descriptor;

// A worker is told as many points as it answers in that time, so that it need not wait for the
// next, and so that answers come in heaps, which are kept at once. As many may be lost if all of
// this ends.
constexpr double kAhead_s = 0.02;
constexpr std::size_t kLeastAhead = 2;
constexpr std::size_t kMostAhead = 512;
constexpr std::size_t kMostTogether = 8;  // beyond that, so that one process does not have all
constexpr int kPatience_ms = 200;

struct CutShort {};

struct Head {
  std::uint64_t index = 0;
  std::uint64_t bytes = 0;  // of the answer that follows
};

std::string packed(const PointOutcome& answer) {
  base::ByteWriter<std::string> writer;
  writer.add_list(std::span<const double>(answer.makespan_s));
  writer.add_text(answer.error);
  writer.add(answer.exit_code);
  writer.add(std::uint8_t{answer.slack.has_value()});
  if (answer.slack) writer.add(*answer.slack);
  writer.add(std::uint8_t{answer.contended});
  return writer.take();
}

PointOutcome unpacked(std::string_view bytes) {
  base::BasicByteReader<CutShort> reader(bytes);
  PointOutcome answer;
  answer.makespan_s.clear();
  const auto bits = reader.list<std::uint64_t>();
  answer.makespan_s.resize(bits.size());
  std::memcpy(answer.makespan_s.data(), bits.data(), bits.size() * sizeof(double));
  answer.error = reader.text();
  answer.exit_code = reader.get<std::int32_t>();
  if (reader.get<std::uint8_t>() != 0) answer.slack = reader.get<PointSlack>();
  answer.contended = reader.get<std::uint8_t>() != 0;
  return answer;
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Appends what there is, at least a byte; false at the end.
bool read_more(int fd, std::string& to) {
  char piece[1 << 16];
  ssize_t got;
  do {
    got = read(fd, piece, sizeof piece);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  to.append(piece, static_cast<std::size_t>(got));
  return true;
}

template <class Value>
std::string_view bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Takes a value from the front of what has come; nothing if it has not come whole.
template <class Value>
std::optional<Value> taken(std::string_view& bytes) {
  if (bytes.size() < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

// Never returns.
[[noreturn]] void work(std::span<const Point> points, int orders, int answers) {
  PointRunner runner;
  std::string come, said;
  double said_s = now_s();
  while (read_more(orders, come)) {
    std::string_view left = come;
    while (const auto index = taken<std::uint64_t>(left)) {
      const std::string answer = packed(runner.answer(points[*index]));
      const Head head{*index, answer.size()};
      said.append(bytes_of(head)).append(answer);
      // To say each at once would wake the other process for each.
      if (left.size() >= sizeof *index && now_s() - said_s < kAhead_s / 10) continue;
      if (base::write_all(answers, said) != 0) _exit(0);
      said.clear();
      said_s = now_s();
    }
    come.erase(0, come.size() - left.size());
  }
  _exit(0);
}

// Nobody but the machine's user, or its kernel for want of memory, ends a process by SIGKILL: that
// may come out another time. Whatever else ends one is a defect of ours.
PointOutcome outcome_of_end(int status) {
  if (!WIFSIGNALED(status)) {
    return {{}, fmt::format("the process that ran it ended with {}", WEXITSTATUS(status)), 70};
  }
  const int number = WTERMSIG(status);
  if (number != SIGKILL) {
    return {{}, fmt::format("signal {} ended the process that ran it", number), 70};
  }
  return {{}, "signal 9 ended the process that ran it; expected memory for it, or fewer --jobs", 3};
}

[[noreturn]] void no_process(int error) {
  throw EnvironmentError(
      fmt::format("no further process: {}; expected room for them (`ulimit -u`), or fewer --jobs",
                  std::strerror(error)));
}

class Worker {
 public:
  explicit Worker(std::span<const Point> points) : points_(points) {
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
    // One that is at a point would end only after it; and one that is at none would not see that
    // its orders have ended, while others hold that pipe's end too, as they were forked later.
    kill(child_, SIGKILL);
    base::wait_for(child_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int answers() const { return answers_.get(); }
  bool has_room(std::size_t more) const {
    const double each_s =
        (now_s() - begun_s_) / static_cast<double>(std::max<std::size_t>(1, heard_));
    const auto ahead = static_cast<std::size_t>(std::min(kAhead_s / each_s, double{kMostAhead}));
    return told_.size() + more < std::max(kLeastAhead, heard_ == 0 ? 0 : ahead);
  }
  bool is_idle() const { return told_.empty(); }

  // From the front of `left` as many as there is room for, and those behind them that have the same
  // schedule, which another process would have to make again.
  void tell(std::deque<std::uint64_t>& left) {
    std::size_t count = 0;
    while (count < left.size() && has_room(count)) ++count;
    const auto schedule = [&](std::size_t place) -> const std::string& {
      return points_[left[place]].schedule;
    };
    const std::size_t most = std::min(left.size(), count + kMostTogether);
    while (count > 0 && count < most && schedule(count) == schedule(count - 1)) ++count;
    tell(left, count);
  }
  void tell(std::deque<std::uint64_t>& left, std::size_t count) {
    std::string orders;
    for (; count > 0; --count) {
      told_.push_back(left.front());
      orders += bytes_of(left.front());
      left.pop_front();
    }
    // If it has ended, what it says next says so.
    base::write_all(orders_.get(), orders);
  }

  // Waits for something to come; false if the process has ended instead.
  bool listen() { return read_more(answers_.get(), come_); }
  // Gives what has come whole.
  void hear(const std::function<void(std::size_t index, const PointOutcome& answer)>& take) {
    std::string_view left = come_;
    for (std::string_view rest = left;;) {
      const auto head = taken<Head>(rest);
      if (!head || rest.size() < head->bytes) break;
      told_.pop_front();
      ++heard_;
      take(head->index, unpacked(rest.substr(0, head->bytes)));
      rest.remove_prefix(head->bytes);
      left = rest;
    }
    come_.erase(0, come_.size() - left.size());
  }

  // What it was told and is not known to have answered; and the error of whom it ended at.
  std::deque<std::uint64_t> left(PointOutcome& ended) {
    ended = outcome_of_end(base::wait_for(child_));
    child_ = -1;
    return std::move(told_);
  }

 private:
  std::span<const Point> points_;
  Descriptor orders_, answers_;
  pid_t child_ = -1;
  std::deque<std::uint64_t> told_;
  double begun_s_ = now_s();
  std::size_t heard_ = 0;
  std::string come_;
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
                const std::function<void(std::size_t index, const PointOutcome& answer)>& take,
                const std::function<void()>& wait) {
  const NoSigpipe quiet;
  std::deque<std::uint64_t> left(points.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  // Of several points that a process was told when it ended, nobody knows at which. Each of these
  // is told alone, and what ends a process then has ended it.
  std::deque<std::uint64_t> suspects;
  const auto tell = [&](Worker& worker) {
    if (suspects.empty()) return worker.tell(left);
    if (worker.is_idle()) worker.tell(suspects, 1);
  };
  std::vector<std::unique_ptr<Worker>> workers;
  for (;;) {
    while (!(left.empty() && suspects.empty()) && workers.size() < jobs) {
      workers.push_back(std::make_unique<Worker>(points));
      tell(*workers.back());
    }
    std::erase_if(workers, [](const auto& worker) { return worker->is_idle(); });
    if (workers.empty()) return;
    std::vector<pollfd> ends;
    for (const auto& worker : workers) ends.push_back({worker->answers(), POLLIN, 0});
    const int ready = poll(ends.data(), ends.size(), kPatience_ms);
    for (std::size_t w = 0; ready > 0 && w < ends.size(); ++w) {
      if (ends[w].revents == 0) continue;
      Worker& worker = *workers[w];
      if (worker.listen()) {
        worker.hear(take);
        tell(worker);
        continue;
      }
      PointOutcome ended;
      const std::deque<std::uint64_t> untold = worker.left(ended);
      if (untold.size() == 1) {
        take(untold.front(), ended);
      } else {
        suspects.insert(suspects.end(), untold.begin(), untold.end());
      }
    }
    wait();
  }
}

}  // namespace slackline::sweep
