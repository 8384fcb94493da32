#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cli/human.h"
#include "cli/real_cost_reports.h"

namespace slackline::cli {
namespace {

using analysis::DelaySlope;

constexpr std::size_t kSlopesShown = 12;

bool is_gain(const DelaySlope& s) {
  return s.settled() && (s.at_once_s < 0 || (s.at_once_s == 0 && s.slope < 0));
}
bool is_loss_at_once(const DelaySlope& s) { return s.settled() && s.at_once_s > 0; }
bool is_above_itself(const DelaySlope& s) {
  return s.settled() && s.at_once_s == 0 && s.slope > 1 + s.within;
}
bool is_nothing(const DelaySlope& s) { return s.settled() && s.at_once_s == 0 && s.slope == 0; }
bool is_itself(const DelaySlope& s) {
  return s.settled() && s.at_once_s == 0 && s.slope >= 1 - s.within && s.slope <= 1 + s.within;
}
bool is_between(const DelaySlope& s) {
  return s.settled() && s.at_once_s == 0 && s.slope > 0 && s.slope < 1 - s.within;
}
bool is_not_settled(const DelaySlope& s) { return !s.settled(); }

}  // namespace

void answer_slopes(Answer& answer, const SlackRun& run, std::span<const DelaySlope> slopes) {
  const auto count = [&](bool (*belongs)(const DelaySlope&)) {
    return static_cast<std::uint64_t>(std::count_if(slopes.begin(), slopes.end(), belongs));
  };
  add_delayed_run(answer, run, run.trace.makespan_s());
  answer.row("delay", fmt::format("each op alone by {} and less, in runs of its own",
                                  human_time(analysis::kLargestSmallDelay)));
  answer.row("slopes", fmt::format("0 at {} of {}, between 0 and 1 at {}, 1 at {}, above 1 at {}",
                                   count(is_nothing), human_count(slopes.size(), "op"),
                                   count(is_between), count(is_itself), count(is_above_itself)));
  answer.row("gains", "at " + human_count(count(is_gain), "op"));
  answer.row("costs at once", "at " + human_count(count(is_loss_at_once), "op"));
  answer.row("not settled", "at " + human_count(count(is_not_settled), "op"));
  answer.digest_row();
  const auto each = [&](std::string_view key, double DelaySlope::*value) {
    answer.set_each(key, slopes,
                    [&](const DelaySlope& s) { return s.settled() ? s.*value : kNoNumber; });
  };
  each("op_slope", &DelaySlope::slope);
  each("op_at_once_s", &DelaySlope::at_once_s);
  each("op_slope_within", &DelaySlope::within);
  answer.set_each("op_slope_up_to_s", slopes, [](const DelaySlope& s) {
    return s.settled() ? sched::seconds(s.up_to) : kNoNumber;
  });
  if (!answer.for_people()) return;

  // Those that `belongs` takes, the most of (at once, slope) first, or the least.
  const auto list = [&](std::string_view title, bool (*belongs)(const DelaySlope&), bool least) {
    const Rows ops = rows_where(slopes.size(), [&](auto op) { return belongs(slopes[op]); });
    if (ops.empty()) return;
    const auto key = [&](auto op) { return std::pair(slopes[op].at_once_s, slopes[op].slope); };
    Columns columns = op_columns(run.setting.schedule, [](auto op) { return sched::OpId(op); });
    columns.push_back({nullptr, "slope", [&](auto op) {
                         return slopes[op].settled() ? fmt::format("{:.6g}", slopes[op].slope)
                                                     : "?";
                       }});
    if (std::ranges::any_of(ops, [&](auto op) { return slopes[op].at_once_s != 0; })) {
      columns.push_back(
          {nullptr, "at once", [&](auto op) { return as_difference(slopes[op].at_once_s); }});
    }
    answer.table(title, columns, least ? least_first(ops, key) : most_first(ops, key), kSlopesShown,
                 "more op");
  };
  list("ops that rather should be late: the whole ends earlier", is_gain, true);
  list("ops whose least delay lets another go first, and costs what that takes", is_loss_at_once,
       false);
  list("ops that must not be late: a delay costs more than itself", is_above_itself, false);
  list("ops of which no small delays agree on a slope", is_not_settled, false);
}

}  // namespace slackline::cli
