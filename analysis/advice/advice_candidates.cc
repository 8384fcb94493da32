#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/advice/advise.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "sched/pass/stripe.h"
#include "sched/pattern/collective_algorithms.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/rack_map.h"

namespace slackline::analysis {
namespace {

constexpr std::uint64_t kLeastBlock = 4 << 10;
constexpr std::uint64_t kMostBlock = 16 << 20;
constexpr std::uint64_t kMostBlocks = 1024;

struct Placed {
  machine::Platform platform;
  std::vector<std::uint32_t> rack_of_rank;  // numbered without gaps, by first appearance
  std::uint32_t racks = 1;
};

struct Racks {
  std::vector<std::uint32_t> of_rank;
  std::string name;
  bool needs_map = false;
};

void require_pattern(const AdviceRequest& request, const std::string& name) {
  const std::vector<std::string_view> names = patterns_for(request.collective);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw InputError(sched::unknown_name("pattern", name, names));
}

// The spec of a pattern, with blocks of 1 MiB.
sched::Spec spec_of(const AdviceRequest& request, const std::string& pattern) {
  if (!request.collective.empty()) {
    return sched::parse_spec_of_any_size(fmt::format("{}:ranks={},bytes={},block=1MiB,by={}",
                                                     request.collective, request.ranks,
                                                     sched::format_bytes(request.bytes), pattern));
  }
  sched::Spec spec;
  spec.pattern = pattern;
  spec.multicast.ranks = request.ranks;
  spec.multicast.bytes = request.bytes;
  spec.multicast.block_bytes = 1 << 20;
  return spec;
}

// Each placement on the platform, but for those that put every rank where an earlier one does.
std::vector<Placed> place(const AdviceRequest& request) {
  std::vector<Placed> all;
  std::vector<std::vector<std::string>> seen;
  const machine::TopologyKind kind = request.platform.topology.kind();
  const bool alike = kind == machine::TopologyKind::kStar;
  for (const machine::Placement& placement : request.placements) {
    Placed placed;
    placed.platform = request.platform;
    placed.platform.placement = placement;
    if (kind == machine::TopologyKind::kSimgridFile) {
      all.push_back(std::move(placed));
      continue;
    }
    const machine::Wiring wiring(placed.platform, request.ranks);
    std::vector<std::string> hosts;
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (std::uint32_t r = 0; r < request.ranks; ++r) {
      hosts.push_back(wiring.host_name(sched::RankId(r)));
      const auto next = static_cast<std::uint32_t>(numbers.size());
      placed.rack_of_rank.push_back(
          numbers.emplace(wiring.rack(sched::RankId(r)), next).first->second);
    }
    placed.racks = static_cast<std::uint32_t>(numbers.size());
    if ((alike && !all.empty()) || std::find(seen.begin(), seen.end(), hosts) != seen.end()) {
      continue;
    }
    seen.push_back(std::move(hosts));
    all.push_back(std::move(placed));
  }
  return all;
}

// ⌈√ranks⌉ even runs of ranks, and the platform's racks if it has some.
std::vector<Racks> racks_to_try(const Placed& placed, std::uint32_t ranks) {
  std::vector<Racks> all;
  const std::uint32_t usual = sched::default_rack_count(ranks);
  all.push_back({sched::contiguous_racks(ranks, usual), fmt::format("{} runs", usual), false});
  if (placed.racks <= 1 || placed.racks >= ranks) return all;
  if (placed.rack_of_rank == all.front().of_rank) {
    all.front().name = fmt::format("the {} racks", placed.racks);
    return all;
  }
  const bool even = placed.rack_of_rank == sched::contiguous_racks(ranks, placed.racks);
  all.push_back({placed.rack_of_rank, fmt::format("the {} racks", placed.racks), !even});
  return all;
}

}  // namespace

std::vector<std::uint64_t> usual_blocks(std::uint64_t bytes) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t block = kLeastBlock; block < bytes && block <= kMostBlock; block *= 2) {
    if (block >= bytes / kMostBlocks) blocks.push_back(block);
  }
  if (blocks.empty() || bytes <= kMostBlock) blocks.push_back(std::max<std::uint64_t>(1, bytes));
  return blocks;
}

std::vector<std::uint32_t> usual_stripes(const machine::Platform& platform) {
  const machine::Rails& rails = platform.node.rails;
  if (!rails.are_several() || rails.rule == machine::RailRule::kRank) return {1};
  return {1, std::min(rails.count, sched::kMostStripes)};
}

std::vector<std::string_view> patterns_for(std::string_view collective) {
  std::vector<std::string_view> names;
  if (collective.empty()) {
    for (const sched::PatternEntry& entry : sched::patterns()) {
      if (entry.multicast) names.push_back(entry.name);
    }
    return names;
  }
  sched::CollectiveAlgorithms algorithms;
  if (collective == "allgather") {
    algorithms = sched::allgather_algorithms();
  } else if (collective == "reduce-scatter") {
    algorithms = sched::reduce_scatter_algorithms();
  } else if (collective == "allreduce") {
    algorithms = sched::allreduce_algorithms();
  } else {
    constexpr std::string_view kKnown[] = {"multicast", "allgather", "reduce-scatter", "allreduce"};
    throw InputError(sched::unknown_name("collective", collective, kKnown));
  }
  for (const sched::CollectiveAlgorithm& algorithm : algorithms) names.push_back(algorithm.name);
  if (collective == "reduce-scatter") return names;  // no multicast makes it
  for (const sched::PatternEntry& entry : sched::plan_patterns()) {
    if (entry.find_option("racks") == nullptr) names.push_back(entry.name);
  }
  return names;
}

CandidateTable candidates_of(const AdviceRequest& request) {
  for (const std::string& pattern : request.patterns) require_pattern(request, pattern);
  const std::vector<Placed> placed = place(request);
  std::vector<std::uint64_t> blocks;
  for (const std::uint64_t block : request.blocks) {
    blocks.push_back(std::min(block, std::max<std::uint64_t>(1, request.bytes)));
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const std::set<std::uint32_t> stripes(request.stripes.begin(), request.stripes.end());

  CandidateTable table;
  const auto add = [&](Candidate candidate) {
    candidate.ops = sched::most_ops(candidate.spec);
    auto& list = candidate.ops > request.most_ops ? table.skipped : table.candidates;
    list.push_back(std::move(candidate));
  };
  for (const std::string& pattern : request.patterns) {
    Candidate one;
    one.spec = spec_of(request, pattern);
    if (!request.collective.empty()) one.by = pattern;
    const sched::PatternEntry& entry = sched::pattern_named(one.spec.pattern);
    const auto add_striped = [&](Candidate candidate) {
      if (entry.find_option("stripes") == nullptr) return add(std::move(candidate));
      for (const std::uint32_t count : stripes) {
        candidate.spec.stripes = count;
        add(candidate);
      }
    };
    for (const Placed& at : placed) {
      one.platform = at.platform;
      if (!one.has_blocks()) {
        add_striped(one);
        continue;
      }
      const std::vector<Racks> racks = entry.find_option("racks") != nullptr
                                           ? racks_to_try(at, request.ranks)
                                           : std::vector<Racks>(1);
      for (const Racks& these : racks) {
        Candidate of_racks = one;
        of_racks.spec.multicast.rack_of_rank = these.of_rank;
        of_racks.racks = these.name;
        of_racks.needs_rack_map = these.needs_map;
        for (const std::uint64_t block : blocks) {
          of_racks.spec.multicast.block_bytes = block;
          add_striped(of_racks);
        }
      }
    }
  }
  return table;
}

}  // namespace slackline::analysis
