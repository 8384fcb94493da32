#include "cli/criticality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/platform_report.h"
#include "cli/samples_report.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kOpsShown = 12;
constexpr std::size_t kRanksShown = 8;

// Those that were critical at all, most often first.
std::vector<std::uint32_t> by_count(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::uint32_t i) { return counts[i] == 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  return order;
}

std::string share(std::uint32_t count, std::size_t samples) {
  return human_share(static_cast<double>(count), static_cast<double>(samples));
}

std::string rest(std::size_t rows, std::size_t all, std::string_view noun) {
  if (rows == all) return "";
  return fmt::format("  … and {}; --all shows them\n",
                     human_count(all - rows, fmt::format("more {}", noun)));
}

std::vector<double> shares(const std::vector<std::uint32_t>& counts, std::size_t samples) {
  std::vector<double> result;
  result.reserve(counts.size());
  for (const std::uint32_t count : counts) {
    result.push_back(static_cast<double>(count) / static_cast<double>(samples));
  }
  return result;
}

}  // namespace

std::string criticality_report(const LoadedSchedule& loaded, const RunSetting& setting,
                               const analysis::Criticality& found,
                               const std::optional<std::string>& no_promise, bool all) {
  const std::size_t samples = found.makespan_s.size();
  const Spread spread = spread_of(found.makespan_s);
  const std::vector<std::uint32_t> ops = by_count(found.of_op);
  const std::vector<std::uint32_t> ranks = by_count(found.of_rank);
  const auto always = static_cast<std::uint64_t>(
      std::count(found.of_op.begin(), found.of_op.end(), static_cast<std::uint32_t>(samples)));
  Table head({Align::kLeft, Align::kLeft});
  add_platform_rows(head, setting.platform.name, setting.platform, loaded.schedule.rank_count());
  head.add({"engine", std::string(setting.engine->name)});
  head.add({"samples", fmt::format("{}, seeds {}…{}", samples, setting.delays.seed,
                                   setting.delays.seed + (samples - 1))});
  head.add({"makespan",
            fmt::format("mean {}, least {}, most {}", sched::human_seconds(spread.mean_s),
                        sched::human_seconds(spread.min_s), sched::human_seconds(spread.max_s))});
  head.add({"critical", fmt::format("{} of {} in some sample, {} in every one", ops.size(),
                                    human_count(found.of_op.size(), "op"), always)});
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text =
      loaded.name + '\n' + no_promise_line("critical paths are", no_promise) + head.text("  ");
  if (ops.empty()) return text;

  const std::size_t op_rows = all ? ops.size() : std::min(ops.size(), kOpsShown);
  Table op_table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  op_table.add({"op", "kind", "rank", "step", "critical"});
  for (std::size_t i = 0; i < op_rows; ++i) {
    const sched::Op& op = loaded.schedule.ops()[ops[i]];
    op_table.add({fmt::to_string(ops[i]), std::string(sched::name(op.kind)),
                  fmt::to_string(op.rank.value), fmt::to_string(op.step),
                  share(found.of_op[ops[i]], samples)});
  }
  text += "\n  ops by the share of samples in which they are on the critical path:\n" +
          op_table.text("  ") + rest(op_rows, ops.size(), "op");

  const std::size_t rank_rows = all ? ranks.size() : std::min(ranks.size(), kRanksShown);
  Table rank_table({Align::kRight, Align::kRight});
  rank_table.add({"rank", "critical"});
  for (std::size_t i = 0; i < rank_rows; ++i) {
    rank_table.add({fmt::to_string(ranks[i]), share(found.of_rank[ranks[i]], samples)});
  }
  return text + "\n  ranks by the share of samples in which any of their ops is:\n" +
         rank_table.text("  ") + rest(rank_rows, ranks.size(), "rank");
}

std::string criticality_document(const LoadedSchedule& loaded, const RunSetting& setting,
                                 const analysis::Criticality& found,
                                 const std::optional<std::string>& no_promise) {
  const std::size_t samples = found.makespan_s.size();
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  json.set("schedule", loaded.name);
  json.set("engine", setting.engine->name);
  set_platform(json, setting.platform, loaded.schedule.rank_count());
  set_no_promise(json, no_promise);
  json.set("seed", setting.delays.seed);
  json.set("samples", samples);
  json.set("op_criticality", std::span<const double>(shares(found.of_op, samples)));
  json.set("rank_criticality", std::span<const double>(shares(found.of_rank, samples)));
  json.set("makespan_mean_s", spread_of(found.makespan_s).mean_s);
  json.set("makespan_samples_s", std::span<const double>(found.makespan_s));
  return json.text();
}

}  // namespace slackline::cli
