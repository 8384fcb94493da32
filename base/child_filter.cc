#include "base/child_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/child.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/read_file.h"

namespace slackline::base {
namespace {

using sched::Descriptor;

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

// Becomes the program; where that fails it says why to `said`, which ends unsaid with an exec.
[[noreturn]] void be_program(int ends, int errors, int said, char** arguments) {
  if (::dup2(ends, 0) == 0 && ::dup2(ends, 1) == 1 && ::dup2(errors, 2) == 2) {
    ::execvp(arguments[0], arguments);
  }
  const int error = errno;
  const ssize_t ignored = ::write(said, &error, sizeof error);
  ::_exit(ignored == sizeof error ? 127 : 126);
}

// The error that kept the program from beginning, or 0.
int word_of(int answer) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(answer, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& command, std::string_view input,
                       std::string_view cure) {
  int ends[2];
  int word[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail(command.front(), std::strerror(errno), cure);
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  if (::pipe2(word, O_CLOEXEC) != 0) fail(command.front(), std::strerror(errno), cure);
  Descriptor answer(word[0]);
  Descriptor said(word[1]);
  // In memory, so that the program never waits for us to read them.
  const Descriptor errors(::memfd_create("standard error", MFD_CLOEXEC));
  if (!errors) fail(command.front(), std::strerror(errno), cure);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = base::fork_child();
  if (child < 0) fail(command.front(), std::strerror(errno), cure);
  if (child == 0) {
    be_program(theirs.get(), errors.get(), said.get(), arguments.data());
  }
  theirs.close();
  said.close();
  if (const int error = word_of(answer.get())) {
    base::wait_for(child);
    fail(command.front(), std::strerror(error), cure);
  }
  ProgramEnd end;
  end.output = exchange(ours.get(), input);
  ours.close();
  const int status = base::wait_for(child);
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.errors = sched::contents_of(errors.get());
  return end;
}

std::string filter_through(const std::vector<std::string>& command, std::string_view input,
                           std::string_view cure) {
  ProgramEnd end = run_program(command, input, cure);
  if (end.exit_code != 0) fail(command.front(), "it did not end well", cure);
  return std::move(end.output);
}

}  // namespace slackline::base
