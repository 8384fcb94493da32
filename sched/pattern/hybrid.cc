#include "sched/pattern/hybrid.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "sched/pattern/binomial_pipeline.h"
#include "sched/pattern/rack_map.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {
namespace {

// The members of every rack, its leader first.
std::vector<std::vector<RankId>> members_of_racks(const std::vector<std::uint32_t>& rack_of_rank,
                                                  RankId root) {
  std::vector<std::vector<RankId>> racks;
  for (std::uint32_t rank = 0; rank < rack_of_rank.size(); ++rank) {
    if (rack_of_rank[rank] >= racks.size()) racks.resize(rack_of_rank[rank] + 1);
    racks[rack_of_rank[rank]].push_back(RankId(rank));
  }
  std::vector<RankId>& home = racks[rack_of_rank[root.value]];
  std::iter_swap(home.begin(), std::find(home.begin(), home.end(), root));
  return racks;
}

Plan pipeline_of(MulticastOptions options, std::uint32_t ranks) {
  options.ranks = ranks;
  options.root = RankId(0);
  return binomial_pipeline(options);
}

// A pipeline that several racks of one size share, and how far its steps have been added.
struct RackPipeline {
  Plan plan;
  std::size_t begin = 0;
  std::size_t end = 0;
};

void append(Plan& plan, std::uint32_t first_step, const RackPipeline& pipeline,
            const std::vector<RankId>& members) {
  for (std::size_t i = pipeline.begin; i < pipeline.end; ++i) {
    const Transfer& transfer = pipeline.plan.transfers[i];
    plan.transfers.push_back({first_step + transfer.step, members[transfer.src.value],
                              members[transfer.dst.value], transfer.block});
  }
}

// Adds pipelines that run side by side, one for each list of members, after the plan's last step.
void append_phase(Plan& plan, const MulticastOptions& options,
                  const std::vector<std::vector<RankId>>& groups) {
  std::map<std::size_t, RackPipeline> pipelines;  // by size
  std::uint32_t steps = 0;
  for (const std::vector<RankId>& group : groups) {
    const auto [entry, is_new] = pipelines.try_emplace(group.size());
    if (!is_new) continue;
    entry->second.plan = pipeline_of(options, static_cast<std::uint32_t>(group.size()));
    steps = std::max(steps, entry->second.plan.steps);
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (auto& [size, pipeline] : pipelines) {
      const std::vector<Transfer>& transfers = pipeline.plan.transfers;
      pipeline.begin = pipeline.end;
      while (pipeline.end < transfers.size() && transfers[pipeline.end].step == step) {
        ++pipeline.end;
      }
    }
    const auto before = static_cast<std::ptrdiff_t>(plan.transfers.size());
    for (const std::vector<RankId>& group : groups) {
      append(plan, plan.steps, pipelines.at(group.size()), group);
    }
    if (!std::is_sorted(plan.transfers.begin() + before, plan.transfers.end())) {
      std::sort(plan.transfers.begin() + before, plan.transfers.end());
    }
  }
  plan.steps += steps;
}

}  // namespace

Plan hybrid(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  plan.root = options.root;
  std::vector<std::uint32_t> rack_of_rank = options.rack_of_rank;
  if (rack_of_rank.empty()) {
    rack_of_rank = contiguous_racks(plan.ranks, default_rack_count(plan.ranks));
  }
  check_racks(rack_of_rank, plan.ranks, "racks");
  const std::vector<std::vector<RankId>> racks = members_of_racks(rack_of_rank, plan.root);
  std::vector<RankId> leaders;
  for (const std::vector<RankId>& rack : racks) leaders.push_back(rack.front());
  std::swap(leaders.front(), leaders[rack_of_rank[plan.root.value]]);
  plan.transfers.reserve(std::size_t{plan.ranks - 1} * plan.blocks);
  append_phase(plan, options, {leaders});
  append_phase(plan, options, racks);
  return plan;
}

namespace {

std::string write_racks(const Option&, const Spec& spec) {
  const std::vector<std::uint32_t>& given = spec.multicast.rack_of_rank;
  if (!spec.rack_map.empty() || given.empty()) return "";
  const std::uint32_t ranks = spec.multicast.ranks;
  const std::uint32_t racks = *std::max_element(given.begin(), given.end()) + 1;
  const bool usual = racks == default_rack_count(ranks) || given != contiguous_racks(ranks, racks);
  return usual ? "" : std::to_string(racks);
}

std::string write_rack_map(const Option&, const Spec& spec) {
  const std::vector<std::uint32_t>& given = spec.multicast.rack_of_rank;
  if (!spec.rack_map.empty() || given.empty()) return spec.rack_map;
  const std::uint32_t racks = *std::max_element(given.begin(), given.end()) + 1;
  return given == contiguous_racks(spec.multicast.ranks, racks) ? "" : "?";
}

void read_racks(const Option& option, std::string_view text, Spec& spec) {
  MulticastOptions& multicast = spec.multicast;
  const std::uint64_t racks = parse_count(text, option.key, 1, multicast.ranks);
  multicast.rack_of_rank = contiguous_racks(multicast.ranks, static_cast<std::uint32_t>(racks));
}

void read_map(const Option&, std::string_view text, Spec& spec) {
  if (!spec.multicast.rack_of_rank.empty()) {
    throw InputError("racks: given beside rack-map; expected either");
  }
  spec.rack_map = text;
  spec.multicast.rack_of_rank = read_rack_map(spec.rack_map, spec.multicast.ranks);
}

constexpr auto kHybridOptions = option_list(
    kPlanOptions,
    Option{"racks", "1 to ranks", "hybrid: runs of neighbouring ranks", read_racks, write_racks}
        .or_else("the root of ranks"),
    Option{"rack-map", "a text file", "hybrid: the rack of each rank, one a line", read_map,
           write_rack_map},
    kLoweringOptions);

}  // namespace

constinit const PatternEntry kHybridPattern = {
    "hybrid", "binomial pipeline among rack leaders, then within each rack", kHybridOptions,
    hybrid};

}  // namespace slackline::sched
