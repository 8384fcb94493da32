#include "hw/launch/pmix.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/child.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "hw/descriptor.h"
#include "hw/launch/pmix_library.h"

namespace slackline::hw {
namespace {

using Clock = std::chrono::steady_clock;

// How the fork's answer begins; the rest is the word, or why there is none.
constexpr char kWord = '=';
constexpr char kNone = '-';
constexpr char kFailed = '!';
// A pipe takes this in one piece.
constexpr std::size_t kMostAnswer = 2048;

std::string of_status(const PmixLibrary& pmix, std::string_view function, int status) {
  const char* const text = pmix.error_text(status);
  return fmt::format("{} says {} ({})", function, text == nullptr ? "nothing" : text, status);
}

PmixInfo collect_all() {
  PmixInfo info;
  constexpr std::string_view kKey = "pmix.collect";
  std::copy(kKey.begin(), kKey.end(), info.key.begin());
  info.value.type = PmixValue::kBool;
  info.value.flag = true;
  return info;
}

// In the fork.
std::string exchange(const PmixLibrary& pmix, PmixProc own, std::uint32_t rank, std::string word) {
  const auto wrong = [&](std::string_view function, int status) {
    return kFailed + of_status(pmix, function, status);
  };
  if (rank == 0) {
    PmixValue value;
    value.type = PmixValue::kString;
    value.string = word.data();
    int status = pmix.put(PmixLibrary::kGlobal, kSharedWordKey, &value);
    if (status != PmixLibrary::kSuccess) return wrong("PMIx_Put", status);
    status = pmix.commit();
    if (status != PmixLibrary::kSuccess) return wrong("PMIx_Commit", status);
  }
  const PmixInfo collect = collect_all();
  int status = pmix.fence(nullptr, 0, &collect, 1);
  if (status != PmixLibrary::kSuccess) return wrong("PMIx_Fence", status);
  own.rank = 0;
  PmixValue* found = nullptr;
  status = pmix.get(&own, kSharedWordKey, nullptr, 0, &found);
  if (status != PmixLibrary::kSuccess || found == nullptr) return wrong("PMIx_Get", status);
  if (found->type != PmixValue::kString || found->string == nullptr) {
    return kFailed + std::string("PMIx_Get gives no text");
  }
  return kWord + std::string(found->string, strnlen(found->string, kMostSharedWord + 1));
}

std::string answer_of_fork(std::uint32_t rank, const std::string& word) {
  try {
    const PmixLibrary pmix = load_pmix_library();
    PmixProc own;
    const int status = pmix.init(&own, nullptr, 0);
    if (status != PmixLibrary::kSuccess) return kNone + of_status(pmix, "PMIx_Init", status);
    std::string answer = own.rank == rank
                             ? exchange(pmix, own, rank, word)
                             : fmt::format("{}PMIx knows this process as rank {}", kNone, own.rank);
    pmix.finalize(nullptr, 0);
    return answer;
  } catch (const EnvironmentError& error) {
    return kNone + std::string(error.what());
  }
}

[[noreturn]] void be_fork(int answer_to, std::uint32_t rank, const std::string& word) {
  // What the library has to say goes by its answers.
  const int nowhere = open("/dev/null", O_RDWR);
  for (int fd = 0; nowhere >= 0 && fd < 3; ++fd) dup2(nowhere, fd);
  const std::string answer = answer_of_fork(rank, word).substr(0, kMostAnswer);
  static_cast<void>(!write(answer_to, answer.data(), answer.size()));
  _exit(0);
}

// All that comes until the other end is closed; nothing if that takes too long.
std::string read_until(int fd, Clock::time_point until) {
  std::string text(kMostAnswer + 1, '\0');
  std::size_t count = 0;
  while (count < text.size() && Clock::now() < until) {
    pollfd entry{fd, POLLIN, 0};
    if (poll(&entry, 1, 50) <= 0) continue;
    const ssize_t got = read(fd, text.data() + count, text.size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      text.resize(count);
      return text;
    }
    count += static_cast<std::size_t>(got);
  }
  return "";
}

}  // namespace

SharedWord share_by_pmix(std::uint32_t rank, const std::string& word,
                         std::chrono::milliseconds patience) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw EnvironmentError(fmt::format("no pipe: {}; see `ulimit -n`", strerror(errno)));
  }
  const Descriptor answer_from(ends[0]);
  Descriptor answer_to(ends[1]);
  const pid_t pid = base::fork_child();
  if (pid < 0) {
    throw EnvironmentError(
        fmt::format("no process can be started: {}; see `ulimit -u`", strerror(errno)));
  }
  if (pid == 0) be_fork(answer_to.get(), rank, word);
  answer_to.reset();
  const auto until = Clock::now() + patience;
  std::string answer = read_until(answer_from.get(), until);
  const bool late = Clock::now() >= until;
  kill(pid, SIGKILL);
  base::wait_for(pid);
  SharedWord shared;
  if (!answer.empty() && answer.front() == kWord) {
    shared.word = answer.substr(1);
    explicit_bzero(answer.data(), answer.size());
    return shared;
  }
  if (!answer.empty() && answer.front() == kNone) {
    shared.why_none = sched::shown(answer.substr(1), kMostAnswer);
    return shared;
  }
  throw EnvironmentError(fmt::format(
      "the launcher's exchange of keys failed: {}; see whether each rank was started, or give "
      "--rank, --ranks and --root",
      !answer.empty() ? sched::shown(answer.substr(1), kMostAnswer)
      : late          ? fmt::format("the ranks did not all come to it within {} s",
                                    std::chrono::duration<double>(patience).count())
                      : std::string("PMIx's library ended its process")));
}

}  // namespace slackline::hw
