// RDMC, figure 3: the binomial tree and the binomial pipeline drawn step by step.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "sched/compile.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kRanks = 8;   // stated: the figure's eight nodes
constexpr std::uint32_t kBlocks = 3;  // stated: "broken into three blocks"

sched::Plan plan_of(std::string_view pattern, std::uint32_t blocks) {
  return sched::plan_of(
      sched::parse_spec(fmt::format("{}:ranks={},bytes={},block=1", pattern, kRanks, blocks)));
}

ReportTable drawing(const std::string& title, const sched::Plan& plan, bool blocks) {
  ReportTable table{title, {"step", blocks ? "source→target: block" : "source→target"}};
  for (std::uint32_t step = 0; step < plan.steps; ++step) {
    std::string arrows;
    for (const sched::Transfer& t : plan.transfers) {
      if (t.step != step) continue;
      arrows += fmt::format("{}{}→{}", arrows.empty() ? "" : ", ", t.src.value, t.dst.value);
      if (blocks) arrows += fmt::format(":{}", t.block);
    }
    table.add({static_cast<double>(step + 1), arrows});
  }
  return table;
}

// Of each rank but the root, the step of its last receipt.
std::vector<std::uint32_t> last_receipts(const sched::Plan& plan) {
  std::vector<std::uint32_t> last(plan.ranks, 0);
  for (const sched::Transfer& t : plan.transfers) last[t.dst.value] = t.step;
  return last;
}

bool root_sends_all_then_last(const sched::Plan& plan) {
  for (const sched::Transfer& t : plan.transfers) {
    if (t.src == plan.root && t.block != std::min(t.step, plan.blocks - 1)) return false;
  }
  return true;
}

ExperimentReport rdmc_fig3(const Options&) {
  ExperimentReport report{"Binomial tree and binomial pipeline, step by step",
                          "RDMC (DSN 2018), figure 3 and section 4.3"};
  const sched::Plan tree = plan_of("binomial-tree", 1);
  const sched::Plan pipeline = plan_of("binomial-pipeline", kBlocks);
  report.tables = {
      drawing("Binomial tree, the whole message at once", tree, false),
      drawing("Binomial pipeline, three blocks", pipeline, true),
  };
  report.constants = {{"nodes", "8", "stated: figure 3"}, {"blocks", "3", "stated: figure 3"}};

  Facts facts(report, "rdmc-fig3");
  facts.judge("pipeline-steps", pipeline.steps);
  facts.judge("tree-steps", tree.steps);
  using Edge = std::pair<std::uint32_t, std::uint32_t>;
  const std::set<std::pair<std::uint32_t, Edge>> drawn = {
      {0, {0, 1}}, {1, {0, 2}}, {1, {1, 3}}, {2, {0, 4}}, {2, {1, 5}}, {2, {2, 6}}, {2, {3, 7}}};
  std::set<std::pair<std::uint32_t, Edge>> made;
  for (const sched::Transfer& t : tree.transfers) made.insert({t.step, {t.src.value, t.dst.value}});
  facts.judge_words("tree", made == drawn, made == drawn ? "the same" : "another tree");
  const bool root = root_sends_all_then_last(pipeline);
  facts.judge_words("root", root, root ? "so" : "not so");
  const auto last = last_receipts(pipeline);
  const auto in_last_step = std::count(last.begin() + 1, last.end(), pipeline.steps - 1);
  facts.judge("last-step", static_cast<double>(in_last_step));
  return report;
}

}  // namespace

extern const Experiment kRdmcFig3 = {"rdmc-fig3", "the binomial tree and pipeline, step by step",
                                     rdmc_fig3};

}  // namespace slackline::experiments
