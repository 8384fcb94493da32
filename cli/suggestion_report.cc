#include "cli/suggestion_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/units.h"
#include "cli/human.h"
#include "cli/price_report.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kSinglesShown = 8;

std::string option_of(const machine::OpDelay& delay) {
  return fmt::format("--delay op={},by={}{}", delay.op.value, sched::format_time(delay.by),
                     delay.whole_lane ? ",of=lane" : "");
}

std::string faster(double before_s, double after_s) {
  return fmt::format("{} ({:.9g} s), {} less", sched::human_seconds(after_s), after_s,
                     human_share(before_s - after_s, before_s));
}

std::string delay_table(const sched::Schedule& schedule, double makespan_s,
                        const std::vector<analysis::HelpfulDelay>& delays, std::size_t rows) {
  Table table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight, Align::kRight});
  table.add({"op", "kind", "rank", "step", "delay", "makespan", "gain"});
  for (std::size_t i = 0; i < rows; ++i) {
    const analysis::HelpfulDelay& d = delays[i];
    std::vector<std::string> row = op_cells(schedule, d.delay.op);
    row.push_back(sched::human_seconds(sched::seconds(d.delay.by)));
    row.push_back(sched::human_seconds(d.makespan_s));
    row.push_back(human_share(makespan_s - d.makespan_s, makespan_s));
    table.add(std::move(row));
  }
  return table.text("  ");
}

}  // namespace

std::string suggestion_report(const LoadedSchedule& loaded, const SlackRun& run,
                              const Suggestion& suggestion, bool all) {
  const analysis::HelpfulDelays& found = suggestion.found;
  Table head({Align::kLeft, Align::kLeft});
  add_delayed_run_rows(head, run, found.makespan_s);
  head.add({"tried", fmt::format("in {}", human_count(found.runs, "run"))});
  if (found.together.empty()) {
    head.add({"suggested", "nothing: no delay that was tried makes the whole faster"});
  } else {
    head.add({"suggested", human_count(found.together.size(), "delay")});
    head.add({"with them", faster(found.makespan_s, found.together.back().makespan_s)});
    if (suggestion.confirmed) {
      const Confirmation& c = *suggestion.confirmed;
      head.add({"by " + c.engine,
                fmt::format("{}, without them {} ({:.9g} s)", faster(c.without_s, c.with_s),
                            sched::human_seconds(c.without_s), c.without_s)});
    } else {
      head.add({"confirmed", "no: this program was built without SimGrid"});
    }
  }
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text = loaded.name + '\n' + head.text("  ");
  if (found.together.empty()) return text;
  text += "\n  suggested, each with those above it:\n" +
          delay_table(loaded.schedule, found.makespan_s, found.together, found.together.size());
  text += "\n  as options of `simulate`:\n";
  for (const analysis::HelpfulDelay& d : found.together) {
    text += fmt::format("  {}\n", option_of(d.delay));
  }
  const std::size_t rows =
      all ? found.singles.size() : std::min(found.singles.size(), kSinglesShown);
  text += "\n  ops of which one delay alone helps, best first:\n" +
          delay_table(loaded.schedule, found.makespan_s, found.singles, rows) +
          more_ops(found.singles.size() - rows);
  return text;
}

std::string suggestion_document(const LoadedSchedule& loaded, const SlackRun& run,
                                const Suggestion& suggestion) {
  const analysis::HelpfulDelays& found = suggestion.found;
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  set_delayed_run(json, loaded, run, found.makespan_s);
  json.set("runs", found.runs);
  json.set("makespan_with_s",
           found.together.empty() ? found.makespan_s : found.together.back().makespan_s);
  for (const auto& [key, delays] :
       {std::pair{"suggested", &found.together}, std::pair{"alone", &found.singles}}) {
    json.begin_list(key);
    for (const analysis::HelpfulDelay& d : *delays) {
      json.begin_object();
      json.set("op", d.delay.op.value);
      json.set("by_s", sched::seconds(d.delay.by));
      json.set("of", d.delay.whole_lane ? "lane" : "op");
      json.set("option", option_of(d.delay));
      json.set("makespan_s", d.makespan_s);
      json.end();
    }
    json.end();
  }
  const auto& confirmed = suggestion.confirmed;
  json.set("confirmed_by", confirmed ? std::optional(confirmed->engine) : std::nullopt);
  json.set("confirmed_without_s", confirmed ? std::optional(confirmed->without_s) : std::nullopt);
  json.set("confirmed_with_s", confirmed ? std::optional(confirmed->with_s) : std::nullopt);
  return json.text();
}

}  // namespace slackline::cli
