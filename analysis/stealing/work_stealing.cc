#include "analysis/stealing/work_stealing.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "analysis/stealing/steal_run.h"
#include "analysis/stealing/steal_schedule.h"
#include "base/error.h"
#include "machine/completions.h"
#include "machine/congestion.h"
#include "machine/paths.h"
#include "machine/run/adaptive_ways.h"
#include "machine/setting.h"
#include "machine/switches.h"

namespace slackline::analysis {
namespace {

void check_options(const StealOptions& options) {
  if (options.ranks == 0 || options.ranks > kMostStealRanks) {
    throw InputError(
        fmt::format("steal: {} ranks; expected 1 to {}", options.ranks, kMostStealRanks));
  }
  if (options.look == 0) throw InputError("steal: a look after 0 vertices; expected 1 or more");
  if (options.rest > sched::Time{sched::kForever.count() / 64}) {
    throw InputError("steal: a rest above 40 h; expected at most that");
  }
  if (options.chunk == 0) throw InputError("steal: chunks of 0 vertices; expected 1 or more");
}

void check_platform(const machine::Platform& platform) {
  if (platform.topology.kind() == machine::TopologyKind::kSimgridFile) {
    throw Unsupported("steal: a SimGrid platform file; expected a platform of our own");
  }
  machine::require_no_switches(platform, "steal");
  machine::require_fixed_ways(platform, "steal");
  machine::require_no_congestion(platform, "steal");
  if (machine::completions_cost(platform)) {
    throw Unsupported(
        "steal: completions that cost the processor; expected a platform without those figures");
  }
  if (platform.node.post_more_s() > 0) {
    throw Unsupported("steal: queue pairs that threads share; expected threads_per_qp=1");
  }
  if (platform.node.qp_lock.count() > 0) {
    throw Unsupported("steal: posts that take a lock; expected a platform without qp_lock");
  }
  if (platform.ack_bytes != 0) {
    throw Unsupported(
        "steal: acknowledgements that use the ports; expected a platform without ack");
  }
}

void check_delays(const StealOptions& options, const machine::DelayPlan& delays) {
  machine::DelayPlan others = delays;
  others.stragglers.clear();
  if (!others.empty()) {
    throw Unsupported("steal: a delay plan with more than slow ranks; expected stragglers alone");
  }
  machine::validate(delays, options.ranks);
  for (const machine::Straggler& straggler : delays.stragglers) {
    const double slow = straggler.slowdown * static_cast<double>(options.work.count());
    if (straggler.by == sched::Time{0} && slow == std::round(slow)) continue;
    throw Unsupported(fmt::format(
        "steal: straggler {}: a vertex takes no whole number of picoseconds there, or operations "
        "more by themselves; expected a slowdown alone that makes one of {} ps",
        straggler.rank.value, options.work.count()));
  }
}

// How many ranks of full speed do as much in a time as all of these.
double ranks_at_full_speed(std::uint32_t ranks, const machine::DelayPlan& delays) {
  double speed = ranks;
  for (const machine::Straggler& straggler : delays.stragglers) {
    speed -= 1 - 1 / straggler.slowdown;
  }
  return speed;
}

}  // namespace

StolenSearch search_stealing(const StealOptions& options, const machine::Platform& platform,
                             const machine::DelayPlan& delays, const machine::Engine& engine,
                             const std::string& title) {
  check_options(options);
  check_platform(platform);
  check_delays(options, delays);
  const std::uint64_t vertices = sched::UtsTree(options.tree).measure(kMostStealVertices).vertices;
  if (vertices > kMostStealVertices) {
    throw InputError(fmt::format("steal: a tree of more than {} vertices; expected a smaller depth",
                                 kMostStealVertices));
  }
  // Of one rank, and that much slower.
  const double most_s = sched::seconds(sched::kForever) / 1e3;
  if (sched::seconds(options.work) * static_cast<double>(vertices) > most_s) {
    throw InputError("steal: all work takes above 2.5 h; expected less a vertex");
  }
  const sched::Schedule pairs =
      pairs_of_ranks(options.ranks, bytes_of(StealMessage::kWork, vertices));
  const machine::Setting setting(pairs, platform, delays);
  const machine::Paths paths(setting);
  const std::string result = engine.drive(setting, paths, [&](machine::DrivenClock& clock) {
    return std::make_unique<StealRun>(options, vertices, setting, paths, clock);
  });
  const StealLog log = log_of(result, options.ranks);
  if (log.figures.vertices != vertices) {
    throw InternalError("a search that steals did not visit all vertices");
  }
  return {log.figures, vertices,
          sched::seconds(options.work) * static_cast<double>(vertices) /
              ranks_at_full_speed(options.ranks, delays),
          log, schedule_of(options, log, title)};
}

}  // namespace slackline::analysis
