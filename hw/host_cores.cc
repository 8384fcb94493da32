#include "hw/host_cores.h"

#include <fmt/format.h>
#include <sched.h>
#include <string.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "base/number.h"

namespace slackline::hw {
namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CoreSet = std::unique_ptr<cpu_set_t, FreeSet>;

CoreSet empty_set(std::size_t cores) {
  CoreSet set(CPU_ALLOC(cores));
  if (!set) throw EnvironmentError("out of memory for a set of cores");
  CPU_ZERO_S(CPU_ALLOC_SIZE(cores), set.get());
  return set;
}

}  // namespace

std::vector<std::uint32_t> allowed_cores() {
  constexpr std::size_t kMost = 1u << 16;
  // The kernel refuses a set that is smaller than its own.
  for (std::size_t count = CPU_SETSIZE; count <= kMost; count *= 2) {
    const CoreSet set = empty_set(count);
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      throw EnvironmentError(
          fmt::format("the system does not tell which cores it allows: {}", strerror(errno)));
    }
    std::vector<std::uint32_t> cores;
    for (std::uint32_t core = 0; core < count; ++core) {
      if (CPU_ISSET_S(core, bytes, set.get())) cores.push_back(core);
    }
    return cores;
  }
  throw EnvironmentError(fmt::format("the system has more than {} cores", kMost));
}

void run_on(std::span<const std::uint32_t> cores) {
  if (cores.empty()) throw InternalError("a thread is to run on no core");
  const std::size_t count = std::size_t{cores.back()} + 1;
  const CoreSet set = empty_set(count);
  for (const std::uint32_t core : cores) CPU_SET_S(core, CPU_ALLOC_SIZE(count), set.get());
  if (sched_setaffinity(0, CPU_ALLOC_SIZE(count), set.get()) == 0) return;
  throw EnvironmentError(fmt::format("a rank cannot be bound to cores {}: {}; run without --bind",
                                     core_list(cores), strerror(errno)));
}

int current_core() { return sched_getcpu(); }

int node_of_core(std::uint32_t core, const std::string& sys) {
  constexpr std::string_view kNode = "node";
  std::error_code failed;
  const std::filesystem::directory_iterator folder(
      fmt::format("{}/devices/system/cpu/cpu{}", sys, core), failed);
  if (failed) return -1;
  for (const auto& entry : folder) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kNode)) continue;
    const auto node = base::whole_number<int>(std::string_view(name).substr(kNode.size()));
    if (node && *node >= 0) return *node;
  }
  return -1;
}

std::string core_list(std::span<const std::uint32_t> cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cores[i]);
    if (last > i) text += fmt::format("-{}", cores[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace slackline::hw
