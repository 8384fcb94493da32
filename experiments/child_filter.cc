#include "experiments/child_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sched/error.h"

extern char** environ;

namespace slackline::experiments {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

[[noreturn]] void fail(const std::string& program, std::string_view why, std::string_view cure) {
  throw EnvironmentError(fmt::format("{}: {}; {}", program, why, cure));
}

// Sends `input` and reads the answer at once, so that neither side waits for the other for ever.
std::string exchange(int ours, std::string_view input) {
  std::string output;
  std::array<char, 1 << 16> buffer;
  bool sending = true;
  while (true) {
    if (sending && input.empty()) {
      ::shutdown(ours, SHUT_WR);
      sending = false;
    }
    pollfd wait{ours, static_cast<short>(POLLIN | (sending ? POLLOUT : 0)), 0};
    if (::poll(&wait, 1, -1) < 0 && errno != EINTR) return output;
    if ((wait.revents & POLLOUT) != 0 && sending) {
      // MSG_NOSIGNAL: a program that ended early must not end us.
      const ssize_t sent = ::send(ours, input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        input.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EINTR && errno != EAGAIN) {
        input = {};
      }
    }
    if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      const ssize_t got = ::recv(ours, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return output;
      if (got > 0) output.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
}

}  // namespace

std::string filter_through(const std::vector<std::string>& command, std::string_view input,
                           std::string_view cure) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail(command.front(), std::strerror(errno), cure);
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(command.front(), std::strerror(error), cure);
  theirs.close();
  std::string output = exchange(ours.get(), input);
  ours.close();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(command.front(), "it did not end well", cure);
  }
  return output;
}

}  // namespace slackline::experiments
