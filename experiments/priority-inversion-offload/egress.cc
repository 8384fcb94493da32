// RDMC, section 2: do operations that NICs carry out as soon as they are possible get in the way of
// urgent ones?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"
#include "experiments/offloaded.h"

namespace slackline::experiments {
namespace {

using offload::Egress;
using offload::Mode;

constexpr std::array kPatterns = {"sequential",        "chain",      "binomial-tree",
                                  "binomial-pipeline", "circulant",  "scatter-allgather",
                                  "binary-tree",       "double-tree"};
constexpr std::array kModes = {Mode::kSqWait, Mode::kMqEnable, Mode::kRdmcMq};
constexpr std::array kOrders = {Egress::kFifo, Egress::kRoundRobin, Egress::kLeastSlack};

struct Case {
  std::string pattern;
  std::uint32_t nodes = 0;
  Mode mode = Mode::kSqWait;
  double ideal = 0;               // block times
  std::array<double, 3> taken{};  // by kOrders
  double ratio(std::size_t order) const { return taken[order] / ideal; }
};

std::vector<Case> measure(std::uint32_t most, std::uint64_t blocks) {
  const machine::Platform bare = bare_machine();
  std::vector<Case> cases;
  for (const char* pattern : kPatterns) {
    for (std::uint32_t nodes = 4; nodes <= most; nodes *= 2) {
      const Multicast multicast{pattern, nodes, blocks * kMiB, kMiB, ""};
      const sched::Schedule schedule = schedule_of(multicast);
      for (const Mode mode : kModes) {
        Case c{pattern, nodes, mode, block_times(multicast), {}};
        const Offloaded nics(schedule, mode);
        for (std::size_t o = 0; o < kOrders.size(); ++o) {
          c.taken[o] = nics.delivered_s(bare, {kOrders[o], sched::Time{0}}) / block_time_s(bare);
        }
        cases.push_back(std::move(c));
      }
    }
  }
  return cases;
}

std::string shown_case(const Case& c) {
  return fmt::format("{}, {} nodes, {}", c.pattern, c.nodes, name(c.mode));
}

void add_tables(ExperimentReport& report, const std::vector<Case>& cases) {
  ReportTable table{"Time over the ideal, by the order in which a NIC serves its queues",
                    {"pattern", "nodes", "mode", "ideal, block times"}};
  for (const Egress order : kOrders) table.columns.emplace_back(name(order));
  for (const Case& c : cases) {
    std::vector<NumberOrText> row{c.pattern, static_cast<double>(c.nodes),
                                  std::string(name(c.mode)), c.ideal};
    for (std::size_t o = 0; o < kOrders.size(); ++o) row.emplace_back(c.ratio(o));
    table.add(std::move(row));
  }
  report.tables.push_back(std::move(table));
}

void add_figure(ExperimentReport& report, const std::vector<Case>& cases) {
  Figure figure{"priority-inversion-offload",
                "mq-enable under FIFO: time over the ideal",
                {"nodes, the sender included", 2},
                {"time over the ideal", 0}};
  for (const char* pattern : kPatterns) {
    Series series{title_of(pattern)};
    for (const Case& c : cases) {
      if (c.pattern == pattern && c.mode == Mode::kMqEnable) series.add(c.nodes, c.ratio(0));
    }
    figure.series.push_back(std::move(series));
  }
  report.figures.push_back(std::move(figure));
}

// The two patterns with inversions, under each order.
void add_cure(ExperimentReport& report, const std::vector<Case>& cases) {
  Figure figure{"priority-inversion-offload-cure",
                "mq-enable: the inversion, and least slack first, which cures it",
                {"nodes, the sender included", 2},
                {"time over the ideal", 0}};
  for (const char* pattern : {"binomial-tree", "scatter-allgather"}) {
    for (std::size_t o = 0; o < kOrders.size(); ++o) {
      Series series{fmt::format("{}, {}", title_of(pattern), name(kOrders[o]))};
      for (const Case& c : cases) {
        if (c.pattern == pattern && c.mode == Mode::kMqEnable) series.add(c.nodes, c.ratio(o));
      }
      figure.series.push_back(std::move(series));
    }
  }
  report.figures.push_back(std::move(figure));
}

void add_facts(ExperimentReport& report, const std::vector<Case>& cases) {
  double tree = 0;
  double pipeline = 0;
  double lost = 0;
  const Case* worst = &cases.front();
  for (const Case& c : cases) {
    if (c.pattern == "binomial-tree" && c.mode == Mode::kMqEnable)
      tree = std::max(tree, c.ratio(0));
    if (c.pattern == "binomial-pipeline" && c.mode != Mode::kRdmcMq) {
      for (std::size_t o = 0; o < kOrders.size(); ++o) pipeline = std::max(pipeline, c.ratio(o));
    }
    if (c.ratio(2) > worst->ratio(2)) worst = &c;
    lost = std::max(lost, c.taken[2] / c.taken[0] - 1);
  }
  Facts facts(report, "priority-inversion-offload");
  facts.judge("tree", tree);
  facts.judge("least-slack", worst->ratio(2));
  facts.judge("pipeline", pipeline);
  facts.judge("fifo", lost);
  report.notes.push_back(
      "rdmc-mq has one send to offer at a time, in the schedule's order: no order at the port "
      "matters to it. That is what its enables and waits buy.");
  report.notes.push_back(
      fmt::format("Least slack first is furthest from the ideal with {}.", shown_case(*worst)));
}

ExperimentReport priority_inversion_offload(const Options& options) {
  ExperimentReport report{"Queues that wait in NICs: priority inversions at the port",
                          "RDMC (DSN 2018), section 2, which leaves the question open"};
  const std::uint32_t most = options.quick ? 16 : 64;
  const std::uint64_t blocks = options.quick ? 32 : 128;
  const std::vector<Case> cases = measure(most, blocks);
  add_tables(report, cases);
  add_figure(report, cases);
  add_cure(report, cases);
  report.constants = {
      {"machine", "only blocks take time", "assumed: so that every wait is an inversion's"},
      {"message", fmt::format("{} blocks", blocks), "assumed"},
      {"waits, enables", "no time", "assumed"},
      {"due", "the latest step at which a message may start if nothing is to end later", "derived"},
  };
  add_facts(report, cases);
  return report;
}

}  // namespace

extern const Experiment kPriorityInversionOffload = {"priority-inversion-offload",
                                                     "the order in which a NIC serves its queues",
                                                     priority_inversion_offload};

}  // namespace slackline::experiments
