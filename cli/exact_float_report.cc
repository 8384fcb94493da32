#include "cli/exact_float_report.h"

#include <fmt/format.h>

#include <cstddef>

#include "analysis/slack/validate.h"
#include "cli/human.h"

namespace slackline::cli {
namespace {

using analysis::ExactFloat;

constexpr std::size_t kFloatsShown = 12;

}  // namespace

void answer_exact_floats(Answer& answer, const SlackRun& run, const FoundFloats& found) {
  const double makespan_s = run.trace.makespan_s();
  const std::vector<ExactFloat>& exact = found.exact;
  const std::size_t ops = found.ops.size();
  // How far a found float may be off.
  const double near_s = 2 * sched::seconds(analysis::float_resolution(makespan_s)) +
                        analysis::exact_within_s(makespan_s);
  std::size_t less = 0;
  std::size_t more = 0;
  std::size_t turns = 0;
  for (std::size_t i = 0; i < ops; ++i) {
    const double free_s = sched::seconds(exact[i].free_until);
    if (free_s < found.frozen_s[i] - near_s) ++less;
    if (free_s > found.frozen_s[i] + near_s) ++more;
    if (!exact[i].monotone()) ++turns;
  }
  add_delayed_run(answer, run, makespan_s);
  answer.row("delay", fmt::format("each of {} alone, in runs of its own", human_count(ops, "op")));
  answer.row("float",
             fmt::format("as frozen at {}, less at {}, more at {}", ops - less - more, less, more));
  answer.row("costs, then not", "at " + human_count(turns, "op"));
  answer.digest_row();
  const auto each = [&](std::string_view key, sched::Time ExactFloat::*time) {
    answer.set_each(key, exact, [&](const ExactFloat& of) { return sched::seconds(of.*time); });
  };
  answer.set_each("op", found.ops, &sched::OpId::value);
  answer.set("frozen_float_s", found.frozen_s);
  each("free_until_s", &ExactFloat::free_until);
  each("costs_from_s", &ExactFloat::costs_from);
  each("largest_free_s", &ExactFloat::largest_free);
  if (!answer.for_people() || ops == 0) return;

  Columns columns = op_columns(run.setting.schedule, [&](auto i) { return found.ops[i]; });
  columns.push_back({nullptr, "frozen", [&](auto i) { return in_seconds(found.frozen_s[i]); }});
  columns.push_back({nullptr, "float", [&](auto i) { return human_time(exact[i].free_until); }});
  if (turns != 0) {
    columns.push_back({nullptr, "free again at", [&](auto i) {
                         return exact[i].monotone() ? "" : human_time(exact[i].largest_free);
                       }});
  }
  answer.table("ops by the largest delay that costs nothing, least first", columns,
               least_first(rows_of(ops), [&](auto i) { return exact[i].free_until; }), kFloatsShown,
               "more op");
}

}  // namespace slackline::cli
