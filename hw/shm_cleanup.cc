#include "hw/shm_cleanup.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace slackline::hw {
namespace {

namespace fs = std::filesystem;

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Those of a process, and of this user, that are wanted.
template <class Wanted>
std::size_t remove_segments(pid_t pid, const Wanted& is_wanted) {
  const std::string begin = fmt::format("{}:{}:", pid, geteuid());
  std::size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/dev/shm", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(begin) || !is_number(std::string_view(name).substr(begin.size()))) {
      continue;
    }
    struct stat status = {};
    if (lstat(entry->path().c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    if (is_wanted(status)) removed += unlink(entry->path().c_str()) == 0;
  }
  return removed;
}

// How long this process has been there; −1 if that cannot be told.
double own_age_s() {
  std::string line;
  std::getline(std::ifstream("/proc/self/stat"), line);
  double uptime_s = -1;
  std::ifstream("/proc/uptime") >> uptime_s;
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return -1;
  // The start is the 22nd field; the state, behind the name, is the 3rd.
  std::istringstream fields(line.substr(name_end + 2));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  double start_ticks = -1;
  fields >> start_ticks;
  if (!fields || uptime_s < 0) return -1;
  return uptime_s - start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

bool has_ended(pid_t pid) {
  if (pid <= 0) return false;
  if (kill(pid, 0) != 0) return errno == ESRCH;
  // "PID (NAME) STATE …"; the name may have any character.
  std::string line;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), line);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos || line.size() <= name_end + 2) {
    return kill(pid, 0) != 0 && errno == ESRCH;
  }
  const char state = line[name_end + 2];
  if (state != 'Z' && state != 'X') return false;
  // The first thread may be through before others.
  std::error_code error;
  const auto threads = fs::directory_iterator(fmt::format("/proc/{}/task", pid), error);
  return error || std::distance(fs::begin(threads), fs::end(threads)) <= 1;
}

std::size_t remove_shm_segments(pid_t pid, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!has_ended(pid)) {
    if (std::chrono::steady_clock::now() >= until) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return remove_segments(pid, [](const struct stat&) { return true; });
}

std::size_t remove_shm_segments_of_predecessors() {
  const double age_s = own_age_s();
  return remove_segments(getpid(), [age_s](const struct stat& status) {
    // Clocks tick 100 times a second, so that a segment of one's own may seem a little older.
    return age_s >= 0 && std::difftime(std::time(nullptr), status.st_mtime) > age_s + 2;
  });
}

std::size_t remove_own_shm_segments() {
  return remove_segments(getpid(), [](const struct stat&) { return true; });
}

std::size_t remove_shm_segments_of_lost(const Mesh& mesh, std::chrono::milliseconds patience) {
  const std::vector<std::uint32_t> here = mesh.ranks_on_this_host();
  std::size_t removed = 0;
  for (const Loss& loss : mesh.lost()) {
    if (loss.rank == mesh.rank() || !std::binary_search(here.begin(), here.end(), loss.rank)) {
      continue;
    }
    removed += remove_shm_segments(mesh.process(loss.rank), patience);
  }
  return removed;
}

}  // namespace slackline::hw
