#include "cli/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "cli/agreed_lines.h"
#include "cli/contents.h"
#include "cli/run_figures.h"
#include "hw/early_messages.h"
#include "hw/rank_facts.h"
#include "hw/session.h"

namespace slackline::cli {

std::vector<std::string> agreed_of(const std::vector<SweepSize>& sizes) {
  std::vector<std::string> lines;
  for (const SweepSize& size : sizes) {
    lines.push_back(fmt::format("schedule of {}: {}", sched::format_bytes(size.bytes),
                                to_string(size.loaded.schedule.digest())));
  }
  const std::vector<std::string> options = agreed_lines(sizes.front().options);
  lines.insert(lines.end(), options.begin(), options.end());
  return lines;
}

// One that needs the slower transport of two, if there is one.
const sched::Schedule& deciding_schedule(const std::vector<SweepSize>& sizes) {
  const auto found = std::find_if(sizes.begin(), sizes.end(), [](const SweepSize& size) {
    return hw::has_early_messages(size.loaded.schedule);
  });
  return found == sizes.end() ? sizes.front().loaded.schedule : found->loaded.schedule;
}

int run_sweep(const std::vector<SweepSize>& sizes, const JoinedRank& joined, SweepReport& report,
              Console& console) {
  const bool reports = joined.mesh->rank() == 0;
  const auto line = hw::line_rate(hw::gather_facts(*joined.mesh, *joined.transport));
  hw::Session session(*joined.mesh, *joined.transport);
  if (reports) report.begin(joined.transport->name(), console);
  bool ok = true;
  for (const SweepSize& size : sizes) {
    const std::string what = fmt::format("running {}", sched::human_bytes(size.bytes));
    hw::RunResult result = session.run(
        size.loaded.schedule, size.options,
        [&](std::uint32_t done, std::uint32_t all) { console.progress(what, done, all); });
    if (result.breach) {
      throw Error(fmt::format("{}: the bytes are wrong: {}", size.loaded.name, *result.breach), 1);
    }
    if (!reports) continue;
    const Contents contents(
        size.loaded, result.trace,
        [&](sched::RankId rank, double time_s) {
          return result.clock_errors[rank.value].at(time_s);
        },
        size.options.timestamps);
    ok = ok && contents.ok();
    report.add(size.bytes, size.loaded,
               figures_of(size.loaded.schedule, size.loaded.pattern, result.trace,
                          std::move(result.makespans_s), line),
               result.processor, contents, console);
  }
  const std::vector<hw::RankFacts> facts = hw::gather_facts(*joined.mesh, *joined.transport);
  if (reports) report.end(facts, console);
  return ok ? 0 : 1;
}

}  // namespace slackline::cli
