#include "cli/advice_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/append.h"
#include "base/csv_field.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/platform_report.h"
#include "cli/svg_chart.h"

namespace slackline::cli {
namespace {

using analysis::Candidate;

constexpr std::size_t kRowsShown = 12;
constexpr std::size_t kBarsShown = 40;

Value ratio(double of_best) { return Value(of_best).shown_as(fmt::format("{:.4g}", of_best)); }

}  // namespace

double judged_s(const Candidate& candidate) {
  return candidate.confirmed_s.value_or(candidate.estimate_s());
}

std::string AdviceReport::spec_text(const Candidate& candidate) const {
  sched::Spec spec = candidate.spec;
  if (candidate.needs_rack_map) spec.rack_map = rack_map;
  return sched::format_spec(spec);
}

// The text as it was given, and the placement if that is another one.
std::string AdviceReport::platform_of(const Candidate& candidate) const {
  const machine::Placement& placement = candidate.platform.placement;
  if (placement == request.platform.placement) return platform_text;
  const std::string placed = fmt::format("{}{}placement={}", platform_text,
                                         platform_text.find(':') == std::string::npos ? ":" : ",",
                                         machine::format_placement(placement));
  // A file, or a text that has a placement already, does not take another.
  try {
    if (machine::load_platform(placed).spec() == candidate.platform.spec()) return placed;
  } catch (const InputError&) {
  }
  return candidate.platform.spec();
}

std::string AdviceReport::verdict() const {
  if (!confirmed) return "none: this program was built without SimGrid";
  const std::string count = fmt::format("{} of {} in SimGrid", confirmed->count,
                                        human_count(table.candidates.size(), "candidate"));
  if (confirmed->count == table.candidates.size()) return count;
  if (confirmed->open == 0) {
    return count + "; the others cannot be faster than the best of them";
  }
  return fmt::format("{}; {} more might still be faster (--confirm all tries them)", count,
                     confirmed->open);
}

std::string AdviceReport::csv() const {
  std::string out =
      "schedule,placement,ops,predicted_s,contended,floor_s,confirmed_s,noise_ratio\n";
  const auto field = [&](const std::optional<double>& value) {
    out += ',';
    if (value) sched::append(out, "{}", *value);
  };
  for (const std::uint32_t i : ranking) {
    const Candidate& candidate = table.candidates[i];
    sched::append(out, "{},{},{},{},{},{}", sched::csv_field(spec_text(candidate)),
                  sched::csv_field(machine::format_placement(candidate.platform.placement)),
                  candidate.ops, candidate.predicted_s, candidate.contended ? 1 : 0,
                  candidate.floor_s);
    field(candidate.confirmed_s);
    field(candidate.noise_ratio);
    out += '\n';
  }
  return out;
}

std::string AdviceReport::plot(std::string_view title) const {
  std::vector<Bar> bars;
  for (const std::uint32_t i : ranking) {
    if (bars.size() == kBarsShown) break;
    const Candidate& candidate = table.candidates[i];
    std::string name = candidate.name();
    if (candidate.has_blocks()) {
      name += ", " + sched::format_bytes(candidate.spec.multicast.block_bytes);
    }
    if (!candidate.racks.empty()) name += ", " + candidate.racks;
    if (candidate.spec.stripes > 1) name += fmt::format(", {} stripes", candidate.spec.stripes);
    name += ", " + machine::format_placement(candidate.platform.placement);
    bars.push_back({std::move(name), judged_s(candidate), candidate.confirmed_s.has_value()});
  }
  return svg_bars(title, bars, "confirmed", "predicted");
}

void AdviceReport::say(Answer& answer) const {
  const auto& [candidates, skipped] = table;
  const bool any = !ranking.empty();
  const Candidate* best = any ? &candidates[ranking.front()] : nullptr;
  const double best_s = any ? judged_s(*best) : 0;
  const auto racks = [](const Candidate& c) {
    const auto& of_rank = c.spec.multicast.rack_of_rank;
    return std::vector<std::uint64_t>(of_rank.begin(), of_rank.end());
  };
  answer.set("ranks", request.ranks);
  answer.set("bytes", request.bytes);
  if (answer.json() != nullptr) set_platform(*answer.json(), request.platform, request.ranks);
  if (any) {
    answer.both("best_schedule", "schedule", spec_text(*best));
    add_platform_rows(answer.head(), platform_of(*best), best->platform, request.ranks);
    if (!best->racks.empty()) answer.row("racks", best->racks);
    if (best->needs_rack_map && !rack_map_written) {
      answer.row("rack map",
                 fmt::format("--rack-map {} writes the file that the schedule names", rack_map));
    }
    answer.row("makespan", exact_seconds(best_s));
    if (best_s > 0 && request.collective.empty()) {
      answer.row("bandwidth",
                 sched::human_bytes_per_second(static_cast<double>(request.bytes) / best_s));
    }
    answer.row("confirmed", verdict());
    if (!skipped.empty()) {
      answer.row("skipped",
                 fmt::format("{} that may have more than {} ops",
                             human_count(skipped.size(), "candidate"), request.most_ops));
    }
    answer.digest_row();
    if (synthesis) {
      answer.row("synthesized", synthesis->verdict());
      synthesis->say_more(answer);
    }
    answer.set("best_platform", platform_of(*best));
    answer.set("best_platform_spec", best->platform.spec());
    answer.set("best_makespan_s", best_s);
    if (best->needs_rack_map) {
      answer.set("rack_map", racks(*best));
    } else {
      answer.set_null({"rack_map"});
    }
  } else {
    answer.row("candidates", fmt::format("none: all {} may have more than {} ops; larger blocks or "
                                         "--most-ops may help",
                                         skipped.size(), request.most_ops));
    answer.set_null(
        {"best_schedule", "best_platform", "best_platform_spec", "best_makespan_s", "rack_map"});
  }
  answer.set("confirmed", confirmed ? Value(confirmed->count) : Value());
  answer.set("open", confirmed ? Value(confirmed->open) : Value());
  if (synthesis) {
    synthesis->say(answer);
  } else {
    SynthesisReport::say_none(answer);
  }
  answer.set("noise", noise.text());
  answer.set("samples", samples);

  const auto placement = [](const Candidate& c) {
    return machine::format_placement(c.platform.placement);
  };
  const auto of = [&](auto i) -> const Candidate& { return candidates[i]; };
  const bool striped =
      std::ranges::any_of(candidates, [](const Candidate& c) { return c.spec.stripes > 1; });
  const Columns columns = {
      {"schedule", nullptr, [&](auto i) { return spec_text(of(i)); }},
      {"pattern", "pattern", [&](auto i) { return of(i).name(); }, Align::kLeft},
      {"block_bytes", "block",
       [&](auto i) {
         const std::uint64_t bytes = of(i).spec.multicast.block_bytes;
         return of(i).has_blocks() ? Value(bytes).shown_as(sched::format_bytes(bytes))
                                   : Value().shown_as("–");
       }},
      {"stripes", striped ? "stripes" : nullptr, [&](auto i) { return of(i).spec.stripes; }},
      {nullptr, "racks", [&](auto i) { return of(i).racks; }, Align::kLeft},
      {"placement", "placement", [&](auto i) { return placement(of(i)); }, Align::kLeft},
      {"racks", nullptr, [&](auto i) { return of(i).racks; }},
      {"needs_rack_map", nullptr, [&](auto i) { return of(i).needs_rack_map; }},
      {"ops", nullptr, [&](auto i) { return of(i).ops; }},
      {"predicted_s", "predicted",
       [&](auto i) {
         return Value(of(i).predicted_s)
             .shown_as(sched::human_seconds(of(i).predicted_s) + (of(i).contended ? "*" : ""));
       }},
      {"contended", nullptr, [&](auto i) { return of(i).contended; }},
      {"floor_s", "at least", [&](auto i) { return in_seconds(of(i).floor_s); }},
      {"confirmed_s", "confirmed", [&](auto i) { return in_seconds(of(i).confirmed_s); }},
      {"ratio_to_best", "to best",
       [&](auto i) {
         return best_s > 0 ? ratio(judged_s(of(i)) / best_s) : Value().shown_as("–");
       }},
      {"noise_ratio", "noise",
       [&](auto i) { return of(i).noise_ratio ? ratio(*of(i).noise_ratio) : Value(); }}};
  answer.list("candidates", ranking, columns);
  answer.list("skipped", rows_of(skipped.size()),
              {{"schedule", nullptr, [&](auto i) { return spec_text(skipped[i]); }},
               {"placement", nullptr, [&](auto i) { return placement(skipped[i]); }},
               {"ops", nullptr, [&](auto i) { return skipped[i].ops; }}});
  if (!any) return;
  answer.table("", columns, ranking, kRowsShown, "more candidate");
  const std::size_t shown = answer.all() ? ranking.size() : std::min(ranking.size(), kRowsShown);
  if (std::any_of(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(shown),
                  [&](auto i) { return of(i).contended; })) {
    answer.say("  * leaves out that messages share links; `at least` holds all the same\n");
  }
  if (samples > 0) {
    answer.say(
        fmt::format("  noise: the 95 % quantile of {} noisy runs over their median\n", samples));
  }
}

}  // namespace slackline::cli
