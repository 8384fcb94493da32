#include <fmt/format.h>

#include <vector>

#include "base/units.h"
#include "cli/human.h"
#include "cli/real_cost_reports.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kSinglesShown = 8;

std::string option_of(const machine::OpDelay& delay) {
  return fmt::format("--delay op={},by={}{}", delay.op.value, sched::format_time(delay.by),
                     delay.whole_lane ? ",of=lane" : "");
}

std::string faster(double before_s, double after_s) {
  return fmt::format("{}, {} less", exact_seconds(after_s),
                     human_share(before_s - after_s, before_s));
}

}  // namespace

void answer_suggestion(Answer& answer, const SlackRun& run, const analysis::HelpfulDelays& found,
                       const std::optional<Confirmation>& confirmed) {
  const double without_s = found.makespan_s;
  const double with_s = found.together.empty() ? without_s : found.together.back().makespan_s;
  add_delayed_run(answer, run, without_s);
  answer.set("runs", found.runs);
  answer.row("tried", "in " + human_count(found.runs, "run"));
  answer.set("makespan_with_s", with_s);
  if (found.together.empty()) {
    answer.row("suggested", "nothing: no delay that was tried makes the whole faster");
  } else {
    answer.row("suggested", human_count(found.together.size(), "delay"));
    answer.row("with them", faster(without_s, with_s));
    if (confirmed) {
      answer.row("by " + confirmed->engine,
                 fmt::format("{}, without them {}", faster(confirmed->without_s, confirmed->with_s),
                             exact_seconds(confirmed->without_s)));
    } else {
      answer.row("confirmed", "no: this program was built without SimGrid");
    }
  }
  answer.digest_row();
  const auto add = [&](const char* key, const std::vector<analysis::HelpfulDelay>& delays,
                       std::string_view title, std::size_t most) {
    Columns columns = {
        {"op", nullptr, [&](auto i) { return delays[i].delay.op.value; }},
        {"by_s", nullptr, [&](auto i) { return sched::seconds(delays[i].delay.by); }},
        {"of", nullptr, [&](auto i) { return delays[i].delay.whole_lane ? "lane" : "op"; }},
        {"option", nullptr, [&](auto i) { return option_of(delays[i].delay); }},
        {"makespan_s", nullptr, [&](auto i) { return delays[i].makespan_s; }}};
    const Rows rows = rows_of(delays.size());
    answer.list(key, rows, columns);
    if (found.together.empty()) return;
    columns = op_columns(run.setting.schedule, [&](auto i) { return delays[i].delay.op; });
    columns.push_back({nullptr, "delay", [&](auto i) { return human_time(delays[i].delay.by); }});
    columns.push_back(
        {nullptr, "makespan", [&](auto i) { return in_seconds(delays[i].makespan_s); }});
    columns.push_back({nullptr, "gain", [&](auto i) {
                         return human_share(without_s - delays[i].makespan_s, without_s);
                       }});
    answer.table(title, columns, rows, most, "more op");
  };
  add("suggested", found.together, "suggested, each with those above it", found.together.size());
  if (!found.together.empty()) answer.say("\n  as options of `simulate`:\n");
  for (const analysis::HelpfulDelay& d : found.together) {
    answer.say(fmt::format("  {}\n", option_of(d.delay)));
  }
  add("alone", found.singles, "ops of which one delay alone helps, best first", kSinglesShown);
  answer.set("confirmed_by", confirmed ? Value(confirmed->engine) : Value());
  answer.set("confirmed_without_s", confirmed ? Value(confirmed->without_s) : Value());
  answer.set("confirmed_with_s", confirmed ? Value(confirmed->with_s) : Value());
}

}  // namespace slackline::cli
