#include "hw/end_signals.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace slackline::hw {
namespace {

constexpr std::array kEndSignals{SIGHUP, SIGINT, SIGTERM};

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_IGN;
}

// In a handler: nothing may be called that allocates, or takes a lock.
void say_and_die(int signal) {
  std::string_view line = "slackline: ended by signal 15 (Terminated)\n";
  if (signal == SIGHUP) line = "slackline: ended by signal 1 (Hangup)\n";
  if (signal == SIGINT) line = "slackline: ended by signal 2 (Interrupt)\n";
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
  // It is blocked until the handler returns, and acts then.
  ::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

EndSignals::EndSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kEndSignals) {
    if (!is_ignored(signal)) sigaddset(&held, signal);
  }
  descriptor_.reset(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) {
    throw EnvironmentError(
        fmt::format("no descriptor for signals: {}; see `ulimit -n`", std::strerror(errno)));
  }
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

EndSignals::~EndSignals() { let_act(); }

std::optional<int> EndSignals::take() const {
  signalfd_siginfo info = {};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

void EndSignals::let_act() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::string ended_by(int signal) {
  return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
}

void die_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

void say_end_at_signals() {
  for (const int signal : kEndSignals) {
    if (is_ignored(signal)) continue;
    struct sigaction action = {};
    action.sa_handler = say_and_die;
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace slackline::hw
