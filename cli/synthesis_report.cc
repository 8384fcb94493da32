#include "cli/synthesis_report.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/synthesis/exact.h"
#include "base/units.h"
#include "cli/human.h"

namespace slackline::cli {
namespace {

constexpr double kSame = 1e-9;  // ratios that differ by less are one time, computed twice

}  // namespace

std::string SynthesisReport::verdict() const {
  std::string text =
      fmt::format("{} in blocks of {}, from {}, proved; ", sched::human_seconds(makespan_s),
                  sched::format_bytes(block_bytes), start + (as_named ? " as it is" : ""));
  if (ratio() < 1 - kSame) {
    text += fmt::format("{:.4g} of the best named pattern's time", ratio());
  } else if (ratio() <= 1 + kSame) {
    text += "as fast as the best named pattern";
  } else {
    text += fmt::format("no faster: {:.4g} of the best named pattern's time", ratio());
  }
  if (sizes_left != 0) {
    text +=
        fmt::format("; {} left out, with too many moves", human_count(sizes_left, "block size"));
  }
  return text;
}

void SynthesisReport::say_more(Answer& answer) const {
  if (descent) {
    answer.row(
        "descent",
        fmt::format(
            "{} kept in {}, from {}; {}", human_count(descent->kept, "change"),
            human_count(descent->runs, "run"), sched::human_seconds(descent->before_s),
            descent->at_end ? "nothing near it is faster" : "ended by --descend, not at its end"));
  }
  for (const analysis::SynthesizedSteps& found : exact) {
    std::string text =
        fmt::format("{} in blocks of {}, {}: ", found.steps, sched::format_bytes(found.block_bytes),
                    sched::human_seconds(found.makespan_s));
    if (found.steps == found.at_least) {
      text += found.one_sum       ? "none in which a rank keeps one sum has fewer"
              : found.halves == 1 ? "none has fewer"
                                  : "no reduce-scatter and allgather have fewer";
    } else {
      text += fmt::format("not proven, {} choices were looked at; at least {}", found.nodes,
                          found.at_least);
    }
    answer.row("fewest steps", std::move(text));
  }
  if (exact_left != 0) {
    answer.row("fewest steps",
               fmt::format("{} left out, with more than {} units of all ranks together",
                           human_count(exact_left, "block size"), analysis::kMostSearchPlaces));
  }
}

void SynthesisReport::say(Answer& answer) const {
  answer.set("synthesized", title);
  answer.set("synthesized_digest", digest);
  answer.set("synthesized_start", start);
  answer.set("synthesized_as_named", as_named);
  answer.set("synthesized_block_bytes", block_bytes);
  answer.set("synthesized_makespan_s", makespan_s);
  answer.set("synthesized_greedy_s", greedy_s);
  answer.set("synthesized_named_s", named_s);
  answer.set("synthesized_ratio", ratio());
  answer.set("synthesized_attempts", attempts);
  answer.set("synthesized_improved", improved);
  if (descent) {
    answer.set("synthesized_descent_kept", descent->kept);
    answer.set("synthesized_descent_runs", descent->runs);
    answer.set("synthesized_descent_at_end", descent->at_end);
  } else {
    answer.set_null(
        {"synthesized_descent_kept", "synthesized_descent_runs", "synthesized_descent_at_end"});
  }
  if (exact.empty()) return answer.set_null({"synthesized_steps"});
  const auto of = [&](auto i) -> const analysis::SynthesizedSteps& { return exact[i]; };
  answer.list("synthesized_steps", rows_of(exact.size()),
              {{"block_bytes", nullptr, [&](auto i) { return of(i).block_bytes; }},
               {"halves", nullptr, [&](auto i) { return of(i).halves; }},
               {"steps", nullptr, [&](auto i) { return of(i).steps; }},
               {"at_least", nullptr, [&](auto i) { return of(i).at_least; }},
               {"one_sum", nullptr, [&](auto i) { return of(i).one_sum; }},
               {"nodes", nullptr, [&](auto i) { return of(i).nodes; }},
               {"makespan_s", nullptr, [&](auto i) { return of(i).makespan_s; }}});
}

void SynthesisReport::say_none(Answer& answer) {
  answer.set_null({"synthesized", "synthesized_digest", "synthesized_start", "synthesized_as_named",
                   "synthesized_block_bytes", "synthesized_makespan_s", "synthesized_greedy_s",
                   "synthesized_named_s", "synthesized_ratio", "synthesized_attempts",
                   "synthesized_improved", "synthesized_descent_kept", "synthesized_descent_runs",
                   "synthesized_descent_at_end", "synthesized_steps"});
}

}  // namespace slackline::cli
