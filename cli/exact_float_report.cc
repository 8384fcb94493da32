#include "cli/exact_float_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "analysis/slack/validate.h"
#include "cli/human.h"
#include "cli/price_report.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

using analysis::ExactFloat;

constexpr std::size_t kFloatsShown = 12;

double seconds_of(sched::Time time) { return sched::seconds(time); }

}  // namespace

std::string exact_float_report(const LoadedSchedule& loaded, const SlackRun& run,
                               const FoundFloats& found, bool all) {
  const double makespan_s = run.trace.makespan_s();
  const std::size_t ops = found.ops.size();
  // How far a found float may be off.
  const double near_s =
      2 * seconds_of(analysis::float_resolution(makespan_s)) + analysis::exact_within_s(makespan_s);
  std::size_t less = 0;
  std::size_t more = 0;
  std::size_t turns = 0;
  for (std::size_t i = 0; i < ops; ++i) {
    const double free_s = seconds_of(found.exact[i].free_until);
    if (free_s < found.frozen_s[i] - near_s) ++less;
    if (free_s > found.frozen_s[i] + near_s) ++more;
    if (!found.exact[i].monotone()) ++turns;
  }
  Table head({Align::kLeft, Align::kLeft});
  add_delayed_run_rows(head, run, makespan_s);
  head.add({"delay", fmt::format("each of {} alone, in runs of its own", human_count(ops, "op"))});
  head.add({"float",
            fmt::format("as frozen at {}, less at {}, more at {}", ops - less - more, less, more)});
  head.add({"costs, then not", fmt::format("at {}", human_count(turns, "op"))});
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text = loaded.name + '\n' + head.text("  ");
  if (ops == 0) return text;

  std::vector<std::size_t> order(ops);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return found.exact[a].free_until < found.exact[b].free_until;
  });
  std::vector<Align> columns(turns == 0 ? 6 : 7, Align::kRight);
  columns[1] = Align::kLeft;
  Table table(columns);
  std::vector<std::string> names = {"op", "kind", "rank", "step", "frozen", "float"};
  if (turns != 0) names.emplace_back("free again at");
  table.add(std::move(names));
  const std::size_t shown = all ? ops : std::min(ops, kFloatsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const ExactFloat& exact = found.exact[order[i]];
    std::vector<std::string> row = op_cells(loaded.schedule, found.ops[order[i]]);
    row.push_back(sched::human_seconds(found.frozen_s[order[i]]));
    row.push_back(sched::human_seconds(seconds_of(exact.free_until)));
    if (turns != 0) {
      row.push_back(exact.monotone() ? "" : sched::human_seconds(seconds_of(exact.largest_free)));
    }
    table.add(std::move(row));
  }
  return text + "\n  ops by the largest delay that costs nothing, least first:\n" +
         table.text("  ") + more_ops(ops - shown);
}

std::string exact_float_document(const LoadedSchedule& loaded, const SlackRun& run,
                                 const FoundFloats& found) {
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  set_delayed_run(json, loaded, run, run.trace.makespan_s());
  std::vector<std::uint64_t> op;
  std::vector<double> free_s, costs_s, largest_s;
  for (std::size_t i = 0; i < found.ops.size(); ++i) {
    op.push_back(found.ops[i].value);
    free_s.push_back(seconds_of(found.exact[i].free_until));
    costs_s.push_back(seconds_of(found.exact[i].costs_from));
    largest_s.push_back(seconds_of(found.exact[i].largest_free));
  }
  json.set("op", std::span<const std::uint64_t>(op));
  json.set("frozen_float_s", std::span<const double>(found.frozen_s));
  json.set("free_until_s", std::span<const double>(free_s));
  json.set("costs_from_s", std::span<const double>(costs_s));
  json.set("largest_free_s", std::span<const double>(largest_s));
  return json.text();
}

}  // namespace slackline::cli
