// RDMC, section 4.6: small messages by one-sided writes into bounded buffers, against RDMC.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "analysis/engines/analytic.h"
#include "base/units.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"
#include "sched/compile.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kSlots = 16;  // buffers of a receiver's ring
constexpr std::array<std::uint64_t, 6> kSizes = {1, 100, 1000, 10'000, 100'000, 1'000'000};

// Microseconds per message.
struct Times {
  double ring = 0;
  double rdmc = 0;        // one message after another
  double batched = 0;     // all as one message
  double ring_alone = 0;  // a single message
  double rdmc_alone = 0;
  double gain() const { return rdmc / ring; }
};

double us_of(const std::string& spec, const machine::Platform& platform) {
  const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
  return 1e6 * delivered_s(schedule, analysis::run_analytic({schedule, platform}));
}

Times measure(std::uint32_t nodes, std::uint64_t bytes, std::uint32_t messages,
              const machine::Platform& platform) {
  const auto rdmc = [&](std::uint64_t size, std::uint32_t count) {
    return us_of(fmt::format("binomial-pipeline:ranks={},bytes={},block={},messages={}", nodes,
                             size, kMiB, count),
                 platform);
  };
  const auto ring = [&](std::uint32_t count) {
    return us_of(fmt::format("ring-buffer:ranks={},bytes={},messages={},slots={}", nodes, bytes,
                             count, kSlots),
                 platform);
  };
  return {ring(messages) / messages, rdmc(bytes, messages) / messages,
          rdmc(bytes * messages, 1) / messages, ring(1), rdmc(bytes, 1)};
}

using Grid = std::map<std::pair<std::uint64_t, std::uint32_t>, Times>;

// The fewest nodes from which on the ring is ahead no more.
std::optional<std::uint32_t> crossover(const Grid& grid, std::uint64_t bytes,
                                       double Times::*rival) {
  std::optional<std::uint32_t> found;
  for (const auto& [at, times] : grid) {
    if (at.first != bytes) continue;
    if (times.*rival > times.ring) found.reset();
    if (times.*rival <= times.ring && !found) found = at.second;
  }
  return found;
}

NumberOrText shown_nodes(std::optional<std::uint32_t> nodes, std::uint32_t most) {
  if (nodes) return static_cast<double>(*nodes);
  return fmt::format("above {}", most);
}

ExperimentReport rdmc_small(const Options& options) {
  ExperimentReport report{"Small messages: one-sided writes into bounded buffers, against RDMC",
                          "RDMC (DSN 2018), section 4.6"};
  const machine::Platform platform = machine::load_platform("fractus");
  const std::uint32_t messages = options.quick ? 64 : 512;
  const std::vector<std::uint32_t> nodes =
      options.quick ? std::vector<std::uint32_t>{2, 3, 4, 8, 16, 64}
                    : std::vector<std::uint32_t>{2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64};
  Grid grid;
  ReportTable table{fmt::format("Series of {} messages, us a message", messages),
                    {"message", "nodes", "ring", "RDMC", "RDMC / ring", "RDMC, batched",
                     "batched / ring", "one alone: RDMC / ring"}};
  ReportTable crossovers{"The ring is behind from so many nodes on",
                         {"message", "RDMC ahead", "RDMC, batched, ahead"}};
  Figure figure{"rdmc-small",
                "RDMC's time over that of one-sided writes into rings",
                {"nodes, the sender included", 2},
                {"RDMC / ring", 2}};
  double most = 0;          // up to 16 nodes and 10 KB
  double least_tiny = 1e9;  // up to 8 nodes and 1 KB
  for (const std::uint64_t size : kSizes) {
    Series series{fmt::format("{} B", size)};
    for (const std::uint32_t n : nodes) {
      const Times& t = grid[{size, n}] = measure(n, size, messages, platform);
      if (size <= 10'000 && n <= 16) most = std::max(most, t.gain());
      if (size <= 1000 && n <= 8) least_tiny = std::min(least_tiny, t.gain());
      table.add({sched::format_bytes(size), static_cast<double>(n), t.ring, t.rdmc, t.gain(),
                 t.batched, t.batched / t.ring, t.rdmc_alone / t.ring_alone});
      series.add(n, t.gain());
    }
    figure.series.push_back(std::move(series));
    crossovers.add({sched::format_bytes(size),
                    shown_nodes(crossover(grid, size, &Times::rdmc), nodes.back()),
                    shown_nodes(crossover(grid, size, &Times::batched), nodes.back())});
  }
  report.tables = {std::move(table), std::move(crossovers)};
  report.figures.push_back(std::move(figure));
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"messages in a series", fmt::format("{}", messages), "assumed"},
      {"buffers of a ring", fmt::format("{}", kSlots),
       "from RDMC's published code: the window of its small messages"},
      {"ring", "receivers copy each message out, and report half a ring at a time", "assumed"},
      {"RDMC", "one message after another; memory allocated beforehand",
       "stated (section 5.1; 4.6 for the memory)"},
      {"RDMC, batched", "the series as one message", "stated: \"series that can be batched\""},
  };
  Facts facts(report, "rdmc-small");
  facts.judge("five", most);
  facts.judge("small-enough", least_tiny);
  facts.judge("corner", grid.at({10'000, 16}).gain());
  facts.judge("larger-groups", grid.at({10'000, 64}).gain());
  facts.judge("larger-messages", grid.at({1'000'000, 16}).gain());
  double worst_batched = 0;
  for (const auto& [at, t] : grid) {
    if (at.second >= 3) worst_batched = std::max(worst_batched, t.batched / t.ring);
  }
  facts.judge("batched", worst_batched);
  report.notes.push_back(
      "To two nodes both send each byte once: there batching gains nothing for large messages.");
  return report;
}

}  // namespace

extern const Experiment kRdmcSmall = {"rdmc-small", "small messages into ring buffers, or by RDMC",
                                      rdmc_small};

}  // namespace slackline::experiments
