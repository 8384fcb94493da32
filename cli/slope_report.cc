#include "cli/slope_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "cli/human.h"
#include "cli/price_report.h"
#include "cli/table.h"

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

std::string human_slope(const DelaySlope& s) { return fmt::format("{:.6g}", s.slope); }

class SlopeLists {
 public:
  SlopeLists(const sched::Schedule& schedule, std::span<const DelaySlope> slopes, bool all)
      : schedule_(schedule), slopes_(slopes), all_(all) {}

  // Those that `belongs` takes, the most of (at once, slope) first, or the least.
  std::string list(const char* title, const std::function<bool(const DelaySlope&)>& belongs,
                   bool least_first) const {
    std::vector<std::uint32_t> ops;
    for (std::uint32_t i = 0; i < slopes_.size(); ++i) {
      if (belongs(slopes_[i])) ops.push_back(i);
    }
    if (ops.empty()) return "";
    std::stable_sort(ops.begin(), ops.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::pair x(slopes_[a].at_once_s, slopes_[a].slope);
      const std::pair y(slopes_[b].at_once_s, slopes_[b].slope);
      return least_first ? x < y : x > y;
    });
    const bool jumps = std::any_of(ops.begin(), ops.end(),
                                   [&](std::uint32_t i) { return slopes_[i].at_once_s != 0; });
    Table table(
        {Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
    std::vector<std::string> columns{"op", "kind", "rank", "step", "slope"};
    if (jumps) columns.emplace_back("at once");
    table.add(std::move(columns));
    const std::size_t shown = all_ ? ops.size() : std::min(ops.size(), kSlopesShown);
    for (std::size_t i = 0; i < shown; ++i) {
      const DelaySlope& s = slopes_[ops[i]];
      std::vector<std::string> row = op_cells(schedule_, sched::OpId(ops[i]));
      row.push_back(s.settled() ? human_slope(s) : "?");
      if (jumps) row.push_back(human_difference(s.at_once_s));
      table.add(std::move(row));
    }
    return fmt::format("\n  {}:\n{}{}", title, table.text("  "), more_ops(ops.size() - shown));
  }

 private:
  const sched::Schedule& schedule_;
  std::span<const DelaySlope> slopes_;
  bool all_;
};

}  // namespace

std::string slope_report(const LoadedSchedule& loaded, const SlackRun& run,
                         std::span<const DelaySlope> slopes, bool all) {
  const auto count = [&](const auto& belongs) {
    return std::count_if(slopes.begin(), slopes.end(), belongs);
  };
  const auto not_settled = [](const DelaySlope& s) { return !s.settled(); };
  Table head({Align::kLeft, Align::kLeft});
  add_delayed_run_rows(head, run, run.trace.makespan_s());
  head.add(
      {"delay", fmt::format("each op alone by {} and less, in runs of its own",
                            sched::human_seconds(sched::seconds(analysis::kLargestSmallDelay)))});
  head.add({"slopes", fmt::format("0 at {} of {}, between 0 and 1 at {}, 1 at {}, above 1 at {}",
                                  count(is_nothing), human_count(slopes.size(), "op"),
                                  count(is_between), count(is_itself), count(is_above_itself))});
  head.add({"gains",
            fmt::format("at {}", human_count(static_cast<std::uint64_t>(count(is_gain)), "op"))});
  head.add({"costs at once",
            fmt::format("at {}",
                        human_count(static_cast<std::uint64_t>(count(is_loss_at_once)), "op"))});
  head.add(
      {"not settled",
       fmt::format("at {}", human_count(static_cast<std::uint64_t>(count(not_settled)), "op"))});
  head.add({"digest", to_string(loaded.schedule.digest())});
  const SlopeLists lists(loaded.schedule, slopes, all);
  return loaded.name + '\n' + head.text("  ") +
         lists.list("ops that rather should be late: the whole ends earlier", is_gain, true) +
         lists.list("ops whose least delay lets another go first, and costs what that takes",
                    is_loss_at_once, false) +
         lists.list("ops that must not be late: a delay costs more than itself", is_above_itself,
                    false) +
         lists.list("ops of which no small delays agree on a slope", not_settled, false);
}

std::string slope_document(const LoadedSchedule& loaded, const SlackRun& run,
                           std::span<const DelaySlope> slopes) {
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  set_delayed_run(json, loaded, run, run.trace.makespan_s());
  std::vector<double> slope, at_once_s, within, up_to_s;
  // What is not settled is no number: null.
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  for (const DelaySlope& s : slopes) {
    slope.push_back(s.settled() ? s.slope : kUnknown);
    at_once_s.push_back(s.settled() ? s.at_once_s : kUnknown);
    within.push_back(s.settled() ? s.within : kUnknown);
    up_to_s.push_back(s.settled() ? sched::seconds(s.up_to) : kUnknown);
  }
  json.set("op_slope", std::span<const double>(slope));
  json.set("op_at_once_s", std::span<const double>(at_once_s));
  json.set("op_slope_within", std::span<const double>(within));
  json.set("op_slope_up_to_s", std::span<const double>(up_to_s));
  return json.text();
}

}  // namespace slackline::cli
