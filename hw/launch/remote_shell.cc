#include "hw/launch/remote_shell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/child.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "base/write_all.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kMostKept = 4096;

struct Pipe {
  Descriptor from, to;
};

Pipe new_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw EnvironmentError(fmt::format("no pipe: {}; see `ulimit -n`", strerror(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void act_by_themselves() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGTERM}) ::signal(number, SIG_DFL);
}

// All that is there.
std::string read_all(Descriptor& from) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (from) {
    const ssize_t got = read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      from.reset();
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

RemoteShell::RemoteShell(std::vector<std::string> arguments, std::string_view cure) {
  Pipe in = new_pipe();
  Pipe out = new_pipe();
  Pipe err = new_pipe();
  Pipe why = new_pipe();
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  pid_.value = fork();
  if (pid_.value < 0) {
    throw EnvironmentError(
        fmt::format("{} cannot be started: {}; see `ulimit -u`", arguments[0], strerror(errno)));
  }
  if (pid_.value == 0) {
    setsid();
    // Where its standard input alone tells it, it may try to reach a host for minutes.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    act_by_themselves();
    dup2(in.from.get(), STDIN_FILENO);
    dup2(out.to.get(), STDOUT_FILENO);
    dup2(err.to.get(), STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    const int reason = errno;
    static_cast<void>(!write(why.to.get(), &reason, sizeof reason));
    _exit(127);
  }
  why.to.reset();
  int reason = 0;
  if (read(why.from.get(), &reason, sizeof reason) == sizeof reason) {
    base::wait_for(pid_.value);
    pid_.value = -1;
    throw EnvironmentError(
        fmt::format("{} cannot be started: {}; {}", arguments[0], strerror(reason), cure));
  }
  in_ = std::move(in.to);
  out_ = std::move(out.from);
  err_ = std::move(err.from);
  fcntl(out_.get(), F_SETFL, O_NONBLOCK);
  fcntl(err_.get(), F_SETFL, O_NONBLOCK);
}

RemoteShell::~RemoteShell() {
  if (pid_.value < 0 || status_) return;
  kill(pid_.value, SIGKILL);
  base::wait_for(pid_.value);
}

bool RemoteShell::say(std::string_view text) {
  return text.empty() || (in_ && base::write_all(in_.get(), text) == 0);
}

std::string RemoteShell::hear() {
  said_ += read_all(err_);
  if (said_.size() > kMostKept) said_.erase(0, said_.size() - kMostKept);
  return read_all(out_);
}

std::optional<int> RemoteShell::ended() {
  int status = 0;
  if (!status_ && waitpid(pid_.value, &status, WNOHANG) == pid_.value) status_ = status;
  return status_;
}

std::string RemoteShell::last_words() const {
  std::string_view text = said_;
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return "it said nothing";
  text = text.substr(0, last + 1);
  const std::size_t before = text.find_last_of("\r\n");
  if (before != std::string_view::npos) text.remove_prefix(before + 1);
  constexpr std::size_t kShown = 500;
  return sched::shown(text, kShown);
}

}  // namespace slackline::hw
