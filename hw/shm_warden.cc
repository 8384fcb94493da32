#include "hw/shm_warden.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/child.h"
#include "base/error.h"
#include "hw/shm_cleanup.h"

namespace slackline::hw {
namespace {

// A process closes its files a little before it has ended.
constexpr std::chrono::seconds kPatience{5};

// All that the run has open but for `kept`, which becomes the lowest: whoever reads what the run
// says must not wait for the warden.
int close_all_but(int kept) {
  const int nowhere = open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    for (int fd = 0; fd < 3; ++fd) {
      if (fd != kept) dup2(nowhere, fd);
    }
  }
  if (kept != 3 && kept > 2) kept = dup2(kept, 3);
  const int first = std::max(kept + 1, 3);
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return kept;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  for (rlim_t fd = static_cast<rlim_t>(first); fd < files.rlim_cur; ++fd) {
    close(static_cast<int>(fd));
  }
  return kept;
}

[[noreturn]] void keep_watch(int life) {
  setsid();
  prctl(PR_SET_NAME, "shm-warden");
  prctl(PR_SET_PDEATHSIG, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  life = close_all_but(life);
  std::vector<pid_t> announced;
  for (pid_t pid = 0;;) {
    const ssize_t count = read(life, &pid, sizeof pid);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof pid) break;
    if (pid > 0) announced.push_back(pid);
    if (pid < 0) std::erase(announced, -pid);
  }
  for (const pid_t pid : announced) remove_shm_segments(pid, kPatience);
  _exit(0);
}

}  // namespace

ShmWarden::ShmWarden() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw EnvironmentError(
        fmt::format("no socket to start ranks with: {}; see `ulimit -n`", std::strerror(errno)));
  }
  const Descriptor heard(ends[0]);
  life_.reset(ends[1]);
  pid_ = fork();
  if (pid_ < 0) {
    throw EnvironmentError(
        fmt::format("no process can be started: {}; see `ulimit -u`", std::strerror(errno)));
  }
  if (pid_ == 0) {
    life_.reset();
    keep_watch(heard.get());
  }
}

ShmWarden::~ShmWarden() {
  // This process lives, and takes care of itself.
  tell(-getpid());
  life_.reset();
  kill(pid_, SIGCONT);  // somebody may have stopped it, and it would be waited for in vain
  base::wait_for(pid_);
}

void ShmWarden::announce() const { tell(getpid()); }

// So few bytes go in one piece. Without a warden there is nobody to tell.
void ShmWarden::tell(pid_t pid) const {
  static_cast<void>(send(life_.get(), &pid, sizeof pid, MSG_NOSIGNAL));
}

}  // namespace slackline::hw
