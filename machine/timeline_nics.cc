#include "machine/timeline_nics.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "machine/platform.h"
#include "machine/rails.h"

namespace slackline::machine {
namespace {

constexpr std::string_view kRails = ",rails=";

}  // namespace

sched::TimelineNics timeline_nics(const sched::Schedule& schedule, const Node& node) {
  sched::TimelineNics nics;
  if (!node.rails.are_several() && !node.scale_up.any()) return nics;
  const std::vector<std::uint32_t> numbers = numbers_for_rails(schedule, node.rails);
  for (std::uint32_t i = 0; i < schedule.channels().size(); ++i) {
    const sched::Channel& channel = schedule.channels()[i];
    const auto rail = [&](sched::RankId rank, sched::RankId peer) {
      if (node.scales_up(rank, peer)) return sched::TimelineNics::kScaleUp;
      return node.nic(rank, peer, numbers[i]).value % node.rails.count;
    };
    nics.at_source.push_back(rail(channel.src, channel.dst));
    nics.at_target.push_back(rail(channel.dst, channel.src));
  }
  return nics;
}

std::string rails_of_run(const Node& node) {
  if (!node.rails.are_several()) return "";
  return fmt::format("{}{},rail={},ranks_per_node={}", kRails, node.rails.count,
                     name(node.rails.rule), node.ranks);
}

Node node_of_trace(const sched::Trace& trace) {
  const auto has = [&](std::string_view figure) {
    return trace.platform.find(figure) != std::string::npos;
  };
  if (has(kRails) || has(",scale_up_rate=")) return parse_platform_spec(trace.platform).node;
  const std::size_t rails = trace.engine.find(kRails);
  if (!trace.platform.empty() || rails == std::string::npos) return {};
  return parse_platform_spec("star:" + trace.engine.substr(rails + 1)).node;
}

}  // namespace slackline::machine
