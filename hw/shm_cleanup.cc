#include "hw/shm_cleanup.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "hw/shm_name.h"

namespace slackline::hw {
namespace {

namespace fs = std::filesystem;

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Those of this user of which the name is wanted.
template <class Wanted>
std::size_t remove_segments(const Wanted& is_wanted) {
  std::size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/dev/shm", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!is_wanted(name)) continue;
    struct stat status = {};
    if (lstat(entry->path().c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    removed += unlink(entry->path().c_str()) == 0;
  }
  return removed;
}

std::size_t remove_segments_of(pid_t pid) {
  const std::string begin = fmt::format("{}:{}:", pid, geteuid());
  const std::optional<ShmOwner> own = own_shm_owner();
  return remove_segments([&](std::string_view name) {
    if (name.starts_with(begin)) return is_number(name.substr(begin.size()));
    const std::optional<ShmOwner> owner = shm_owner(name);
    return owner && own && owner->pid == pid && owner->pid_namespace == own->pid_namespace;
  });
}

}  // namespace

bool has_ended(pid_t pid) {
  if (pid <= 0) return false;
  if (kill(pid, 0) != 0) return errno == ESRCH;
  const std::string fields = stat_fields(pid);
  if (fields.empty()) return kill(pid, 0) != 0 && errno == ESRCH;
  const char state = fields.front();
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
  return remove_segments_of(pid);
}

std::size_t remove_shm_segments_of_dead() {
  const std::optional<ShmOwner> own = own_shm_owner();
  if (!own) return 0;
  return remove_segments([&](std::string_view name) {
    const std::optional<ShmOwner> owner = shm_owner(name);
    if (!owner || owner->pid_namespace != own->pid_namespace) return false;
    if (has_ended(owner->pid)) return true;
    // Another process may have its number now.
    const std::optional<std::uint64_t> ticks = start_ticks(owner->pid);
    return ticks && *ticks != owner->start_ticks;
  });
}

std::size_t remove_own_shm_segments() { return remove_segments_of(getpid()); }

std::size_t remove_shm_segments_of_lost(const Mesh& mesh, std::chrono::milliseconds patience) {
  const std::vector<std::uint32_t> here = mesh.ranks_on_this_host();
  std::size_t removed = 0;
  for (const Loss& loss : mesh.lost()) {
    if (loss.rank == mesh.rank() || !std::binary_search(here.begin(), here.end(), loss.rank)) {
      continue;
    }
    removed += remove_shm_segments(mesh.process(loss.rank), patience);
  }
  // Some may have been killed after that, which the mesh calls no loss. Most have only left.
  for (const std::uint32_t rank : here) {
    if (rank == mesh.rank() || !mesh.is_gone(rank)) continue;
    removed += remove_shm_segments(mesh.process(rank), std::chrono::milliseconds(0));
  }
  return removed;
}

}  // namespace slackline::hw
