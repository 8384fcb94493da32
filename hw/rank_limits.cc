#include "hw/rank_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/number.h"
#include "base/split.h"
#include "base/system_file.h"
#include "base/units.h"
#include "hw/host_cores.h"
#include "hw/mesh/neighbours.h"

namespace slackline::hw {
namespace {

namespace fs = std::filesystem;

// What a rank takes beside its buffers, as measured with libfabric 1.17 (x86-64): memory of its
// own, and addresses, most of them for the libraries of providers.
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kOwnBytes = 10 * kMiB;
constexpr std::uint64_t kEndpointBytesRxm = 100 * kMiB;
constexpr std::uint64_t kAddressBytes = 150 * kMiB;
constexpr std::uint64_t kAddressBytesRxm = 205 * kMiB;
// Of the mesh, for each other rank.
constexpr std::uint64_t kPeerBytes = 20 << 10;
// Descriptors of libraries, timers and of what is open for a moment.
constexpr std::uint64_t kOtherDescriptors = 12;
// The rank, its mesh and its watcher.
constexpr std::uint64_t kThreads = 3;

// Heartbeats that a core sends and hears in a second beside its other work, and how many a rank
// sends over each connection within the failure timeout. 128 ranks on 2 cores at 2 s (41,000 for
// each) were at the edge: some runs held, some lost ranks that were only slow.
constexpr double kHeartbeatsPerCore = 30'000;
constexpr double kHeartbeatsPerTimeout = 10;

bool is_rxm(const RankNeeds& needs) { return needs.transport == "tcp;ofi_rxm"; }

std::uint64_t own_bytes(const RankNeeds& needs) {
  return kOwnBytes + (is_rxm(needs) ? needs.rails * kEndpointBytesRxm : 0);
}

std::optional<std::uint64_t> limit_of(rlim_t value) {
  if (value == RLIM_INFINITY) return std::nullopt;
  return value;
}

std::uint64_t open_descriptors() {
  std::error_code error;
  const fs::directory_iterator all("/proc/self/fd", error);
  return error ? 0 : static_cast<std::uint64_t>(std::distance(fs::begin(all), fs::end(all)));
}

// Processes and threads of this user.
std::uint64_t tasks_of_user() {
  std::uint64_t tasks = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    struct stat status = {};
    if (!std::isdigit(static_cast<unsigned char>(name.front())) ||
        stat(entry->path().c_str(), &status) != 0 || status.st_uid != geteuid()) {
      continue;
    }
    std::error_code gone;
    const fs::directory_iterator threads(entry->path() / "task", gone);
    if (!gone)
      tasks += static_cast<std::uint64_t>(std::distance(fs::begin(threads), fs::end(threads)));
  }
  return tasks;
}

std::uint64_t left_of(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? limit - used : 0;
}

void take_least(std::optional<std::uint64_t>& least, std::optional<std::uint64_t> other) {
  if (other) least = std::min(least.value_or(*other), *other);
}

// Of a control group there is the limit, or "max", and what is used.
std::optional<std::uint64_t> left_in_group(const std::string& limit, const std::string& used) {
  const auto most = base::first_number<std::uint64_t>("/sys/fs/cgroup/" + limit);
  const auto now = base::first_number<std::uint64_t>("/sys/fs/cgroup/" + used);
  if (!most || !now) return std::nullopt;
  return left_of(*most, *now);
}

// What this process may run on: its own cores, and of these no more than its control group is given
// the time of ("200000 100000": 2 cores; "max": all).
std::uint32_t usable_cores() {
  std::uint64_t cores = std::max<std::size_t>(allowed_cores().size(), 1);
  const std::string line = base::first_line("/sys/fs/cgroup/cpu.max");
  std::string_view limit = line;
  const auto quota = base::whole_number<std::uint64_t>(base::take_item(limit, ' '));
  const auto period = base::whole_number<std::uint64_t>(limit);
  if (quota && period && *period > 0)
    cores = std::min(cores, std::max<std::uint64_t>(1, *quota / *period));
  return static_cast<std::uint32_t>(cores);
}

std::string ranks_here(const RankNeeds& needs) {
  if (!needs.all_here) return fmt::format("a rank of {}", needs.ranks);
  return needs.ranks == 1 ? "1 rank" : fmt::format("{} ranks on one host", needs.ranks);
}

// Ends of the connections of a mesh. Ranks poll beside, which delays each other's heartbeats as so
// many more would: of many that are not all connected, 200 on 2 cores at 2 s held beside other
// work, and 300 did not.
double connection_ends(std::uint32_t ranks) {
  constexpr double kOfPolling = 42;
  const double all = ranks;
  const double ends = ranks <= kFullMeshRanks ? all : neighbours_of_rank(ranks) + 1.;
  return all * (ends + kOfPolling);
}

void require_cores(const RankNeeds& needs, const HostLimits& limits) {
  if (!needs.all_here) return;
  const double ends = connection_ends(needs.ranks);
  const double asked = ends * kHeartbeatsPerTimeout / needs.failure_timeout_s;
  const double there = kHeartbeatsPerCore * limits.cores;
  if (asked <= there) return;
  const double bearable = there * needs.failure_timeout_s / kHeartbeatsPerTimeout;
  std::uint32_t most = needs.ranks;
  while (most > 1 && connection_ends(most) > bearable) --most;
  throw EnvironmentError(fmt::format(
      "{}: to hear that all others live takes {:.3g} messages a second, and {} about {:.3g}; "
      "expected at most {} ranks here, --failure-timeout {:.0f}s, or ranks on more hosts "
      "(--rank, --root)",
      ranks_here(needs), asked,
      limits.cores == 1 ? "its 1 core handles" : fmt::format("its {} cores handle", limits.cores),
      there, most, std::ceil(ends * kHeartbeatsPerTimeout / there)));
}

}  // namespace

HostLimits host_limits() {
  HostLimits limits;
  limits.open_descriptors = open_descriptors();
  limits.cores = usable_cores();
  rlimit found = {};
  if (getrlimit(RLIMIT_NOFILE, &found) == 0) limits.descriptors = limit_of(found.rlim_max);
  // The superuser has none of processes.
  if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &found) == 0 && limit_of(found.rlim_cur)) {
    limits.processes = left_of(found.rlim_cur, tasks_of_user());
  }
  take_least(limits.processes, left_in_group("pids.max", "pids.current"));
  limits.address_bytes = sched::free_addresses();
  limits.memory_bytes = sched::free_memory();
  return limits;
}

std::uint64_t descriptors_needed(const RankNeeds& needs, const HostLimits& limits) {
  // A connection of the mesh to each, as rank 0 has it, and others for the data but with shm: two
  // of the provider net, which `tcp` may mean, one for small messages. The one who starts all has a
  // pipe from each.
  const std::uint64_t data = needs.transport == "shm" ? 0 : is_rxm(needs) ? 1 : 2;
  const std::uint64_t each = 1 + needs.rails * data;
  return limits.open_descriptors + each * needs.ranks + kOtherDescriptors;
}

void require_limits(const RankNeeds& needs, const HostLimits& limits) {
  require_cores(needs, limits);
  const std::uint64_t here = needs.all_here ? needs.ranks : 1;
  if (limits.descriptors && descriptors_needed(needs, limits) > *limits.descriptors) {
    throw EnvironmentError(
        fmt::format("{} over {} need {} open files in a process, and {} are allowed; see `ulimit "
                    "-n`, or take fewer ranks",
                    ranks_here(needs), needs.transport, descriptors_needed(needs, limits),
                    *limits.descriptors));
  }
  if (limits.processes && kThreads * here > *limits.processes) {
    throw EnvironmentError(
        fmt::format("{} need {} processes and threads, and {} may still be started; see `ulimit "
                    "-u`, or take fewer ranks",
                    ranks_here(needs), kThreads * here, *limits.processes));
  }
  const std::uint64_t addresses =
      (is_rxm(needs) ? kAddressBytesRxm : kAddressBytes) + needs.most_bytes;
  if (limits.address_bytes && addresses > *limits.address_bytes) {
    throw EnvironmentError(fmt::format(
        "{} over {}: a process needs {} of addresses, and {} are left to it; see `ulimit -v`",
        ranks_here(needs), needs.transport, sched::human_bytes(addresses),
        sched::human_bytes(*limits.address_bytes)));
  }
  const std::uint64_t memory = here * (own_bytes(needs) + needs.ranks * kPeerBytes) +
                               (needs.all_here ? needs.all_bytes : needs.most_bytes);
  if (limits.memory_bytes && memory > *limits.memory_bytes) {
    throw EnvironmentError(fmt::format(
        "{} over {} need {} of memory, and {} are free; take fewer ranks or a smaller message, or "
        "spread them over hosts (--rank, --root)",
        ranks_here(needs), needs.transport, sched::human_bytes(memory),
        sched::human_bytes(*limits.memory_bytes)));
  }
}

void prepare_for_ranks(const RankNeeds& needs) {
  const HostLimits limits = host_limits();
  require_limits(needs, limits);
  rlimit files = {};
  const std::uint64_t needed = descriptors_needed(needs, limits);
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= needed) return;
  files.rlim_cur = needed;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace slackline::hw
