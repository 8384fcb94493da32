#include "base/memory_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/system_file.h"
#include "base/units.h"

namespace slackline::sched {
namespace {

// What no machine lacks, so that small work never asks.
constexpr std::uint64_t kLittle = std::uint64_t{64} << 20;

using Bytes = std::optional<std::uint64_t>;

Bytes least(Bytes a, Bytes b) {
  if (!a) return b;
  return b ? std::min(*a, *b) : a;
}

// The number behind a word at the beginning of a line.
Bytes number_behind(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(word)) continue;
    const std::size_t digit = line.find_first_of("0123456789", word.size());
    if (digit == std::string::npos) return std::nullopt;
    std::uint64_t number = 0;
    for (std::size_t i = digit; i < line.size() && line[i] >= '0' && line[i] <= '9'; ++i) {
      number = number * 10 + static_cast<std::uint64_t>(line[i] - '0');
    }
    return number;
  }
  return std::nullopt;
}

Bytes free_of_machine(const std::string& root) {
  const Bytes kib = number_behind(root + "proc/meminfo", "MemAvailable:");
  return kib ? Bytes(*kib * 1024) : std::nullopt;
}

Bytes free_of_group(const std::string& folder, const char* limit, const char* usage,
                    const char* cache) {
  const Bytes most = base::first_number<std::uint64_t>(folder + limit);  // nothing for "max"
  const Bytes used = base::first_number<std::uint64_t>(folder + usage);
  if (!most || !used) return std::nullopt;
  const std::uint64_t reclaimed =
      std::min(*used, number_behind(folder + "memory.stat", cache).value_or(0));
  const std::uint64_t held = *used - reclaimed;
  return *most > held ? *most - held : 0;
}

// Of a process's group and of all above it, in either version of control groups. A process that
// sees its own group as the highest finds that one's files at the top.
Bytes free_of_groups(const std::string& root) {
  std::ifstream groups(root + "proc/self/cgroup");
  std::string line;
  Bytes free;
  while (std::getline(groups, line)) {
    // "0::/path" in version 2, "7:memory:/path" in version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool unified = kinds == ",,";
    if (!unified && kinds.find(",memory,") == std::string::npos) continue;
    const std::string top = root + (unified ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    std::string path = line.substr(second + 1);
    for (;;) {
      while (!path.empty() && path.back() == '/') path.pop_back();
      const std::string folder = fmt::format("{}{}/", top, path);
      free = least(free,
                   unified ? free_of_group(folder, "memory.max", "memory.current", "inactive_file ")
                           : free_of_group(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                           "total_inactive_file "));
      if (path.empty()) break;
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
  }
  return free;
}

}  // namespace

std::optional<std::uint64_t> free_memory(const std::string& root) {
  return least(free_of_machine(root), free_of_groups(root));
}

std::optional<std::uint64_t> free_addresses(const std::string& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const Bytes pages = base::first_number<std::uint64_t>(root + "proc/self/statm");
  const std::uint64_t used =
      pages.value_or(0) * static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

void MemoryLimit::require(std::uint64_t bytes, std::string_view what, std::string_view cure,
                          std::uint64_t taken) const {
  if (!bytes_ && bytes <= kLittle) return;
  const Bytes most =
      bytes_ ? *bytes_ - std::min(*bytes_, taken) : least(free_memory(), free_addresses());
  if (!most || bytes <= *most) return;
  const std::string there = bytes_ ? fmt::format("--memory allows {}", human_bytes(*bytes_))
                                   : fmt::format("{} are free", human_bytes(*most));
  throw EnvironmentError(fmt::format("{} takes about {} of memory, and {}; expected {}", what,
                                     human_bytes(bytes_ ? bytes + taken : bytes), there, cure));
}

}  // namespace slackline::sched
