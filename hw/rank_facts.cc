#include "hw/rank_facts.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "hw/host_cores.h"
#include "hw/mesh/host_identity.h"
#include "hw/mesh/wire.h"
#include "hw/numa_nodes.h"

namespace slackline::hw {

RankFacts facts_here(const Transport& transport) {
  RankFacts facts;
  facts.host = host_name(host_identity());
  facts.process = static_cast<std::uint64_t>(getpid());
  facts.cores = core_list(allowed_cores());
  facts.core = current_core();
  if (facts.core >= 0) facts.node = node_of_core(static_cast<std::uint32_t>(facts.core));
  utsname system = {};
  if (uname(&system) == 0) facts.kernel = system.release;
  facts.version = SLACKLINE_VERSION;
  facts.transport = transport.facts();
  return facts;
}

std::vector<RankFacts> gather_facts(Mesh& mesh, const Transport& transport) {
  const std::vector<Bytes> told = mesh.all_gather(encode(facts_here(transport)));
  std::vector<RankFacts> facts;
  for (std::size_t r = 0; r < told.size(); ++r) {
    try {
      facts.push_back(decode_rank_facts(told[r]));
    } catch (const WireError& error) {
      throw EnvironmentError(
          fmt::format("rank {} tells of itself what is none: {}", r, error.what()));
    }
    std::uint32_t& first = facts.back().first_of_host;
    while (first < r && !mesh.is_same_host(first, static_cast<std::uint32_t>(r))) ++first;
  }
  return facts;
}

std::optional<HostUse> fullest_host(std::span<const RankFacts> facts) {
  std::map<std::uint32_t, std::pair<HostUse, std::set<std::uint32_t>>> hosts;  // by first rank
  for (const RankFacts& of_rank : facts) {
    auto& [use, cores] = hosts[of_rank.first_of_host];
    ++use.ranks;
    const std::vector<std::uint32_t> own = parse_cpu_list(of_rank.cores);
    cores.insert(own.begin(), own.end());
  }
  std::optional<HostUse> fullest;
  for (auto& [first, host] : hosts) {
    HostUse& use = host.first;
    use.first_rank = first;
    use.cores = static_cast<std::uint32_t>(host.second.size());
    if (use.cores == 0) continue;
    const auto is_fuller = [&](const HostUse& other) {
      return std::uint64_t{use.ranks} * other.cores > std::uint64_t{other.ranks} * use.cores;
    };
    if (!fullest || is_fuller(*fullest)) fullest = use;
  }
  return fullest;
}

std::optional<std::uint64_t> line_rate(std::span<const RankFacts> facts) {
  std::optional<std::uint64_t> slowest;
  for (const RankFacts& of_rank : facts) {
    const std::uint64_t rate = of_rank.transport.link_bits_per_s;
    if (rate == 0) return std::nullopt;
    slowest = std::min(slowest.value_or(rate), rate);
  }
  return slowest;
}

}  // namespace slackline::hw
