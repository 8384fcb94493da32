#include "machine/run/adaptive_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/error.h"

namespace slackline::machine {
namespace {

// Those between a way's NICs, which all of the equal ways pass.
std::span<const LinkId> between_nics(const Paths& paths, PathId way) {
  const auto links = paths.links(way);
  const std::size_t first = paths[way].from_switch ? 0 : 1;
  const std::size_t last = paths[way].to_switch ? 0 : 1;
  return links.size() < first + last ? std::span<const LinkId>()
                                     : links.subspan(first, links.size() - first - last);
}

}  // namespace

AdaptiveWays::AdaptiveWays(const Paths& paths, std::size_t ops) : paths_(paths) {
  if (!paths.is_adaptive()) return;
  load_.resize(paths.link_count());
  way_of_.resize(ops, PathId::none());
}

PathId AdaptiveWays::begin(sched::OpId op, PathId path) {
  PathId best = path;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (std::uint32_t w = 0; w < paths_[path].ways; ++w) {
    const PathId way(path.value + w);
    std::int32_t fullest = 0;
    for (const LinkId link : between_nics(paths_, way)) {
      fullest = std::max(fullest, load_[link.value]);
    }
    if (fullest >= least) continue;
    least = fullest;
    best = way;
  }
  way_of_[op.value] = best;
  count(best, 1);
  return best;
}

void AdaptiveWays::end(sched::OpId op) {
  count(way_of_[op.value], -1);
  way_of_[op.value] = PathId::none();
}

void require_fixed_ways(const Platform& platform, std::string_view who) {
  if (platform.topology.routing.kind != Routing::Kind::kAdaptive) return;
  throw Unsupported(fmt::format(
      "{}: routing=adaptive, with which each message's way shows when it starts; expected another "
      "routing",
      who));
}

void AdaptiveWays::count(PathId way, std::int32_t more) {
  for (const LinkId link : between_nics(paths_, way)) load_[link.value] += more;
}

}  // namespace slackline::machine
