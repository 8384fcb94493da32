#include "cli/advice_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/platform_report.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

using analysis::Candidate;

constexpr std::size_t kRowsShown = 12;

bool has_blocks(const Candidate& candidate) {
  return sched::find_plan_pattern(candidate.spec.pattern) != nullptr;
}

std::string block_text(const Candidate& candidate) {
  return has_blocks(candidate) ? sched::format_bytes(candidate.spec.multicast.block_bytes) : "–";
}

std::string ratio_text(double time_s, double best_s) {
  return best_s > 0 ? fmt::format("{:.4g}", time_s / best_s) : "–";
}

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

std::string AdviceReport::text(bool all) const {
  Table head({Align::kLeft, Align::kLeft});
  std::string text = name + '\n';
  if (ranking.empty()) {
    head.add({"candidates", fmt::format("none: all {} have more than {} ops; larger blocks or "
                                        "--most-ops may help",
                                        table.skipped.size(), request.most_ops)});
    return text + head.text("  ");
  }
  const Candidate& best = table.candidates[ranking.front()];
  const double best_s = judged_s(best);
  head.add({"schedule", spec_text(best)});
  add_platform_rows(head, platform_of(best), best.platform, request.ranks);
  if (!best.racks.empty()) head.add({"racks", best.racks});
  if (best.needs_rack_map && !rack_map_written) {
    head.add({"rack map",
              fmt::format("--rack-map {} writes the file that the schedule names", rack_map)});
  }
  head.add({"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(best_s), best_s)});
  if (best_s > 0) {
    head.add(
        {"bandwidth", sched::human_bytes_per_second(static_cast<double>(request.bytes) / best_s)});
  }
  head.add({"confirmed", verdict()});
  if (!table.skipped.empty()) {
    head.add(
        {"skipped", fmt::format("{} above {} ops", human_count(table.skipped.size(), "candidate"),
                                request.most_ops)});
  }
  head.add({"digest", digest});
  text += head.text("  ") + '\n';

  Table rows(std::vector<Align>{Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft,
                                Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                                Align::kRight});
  rows.add({"pattern", "block", "racks", "placement", "predicted", "at least", "confirmed",
            "to best", "noise"});
  const std::size_t shown = all ? ranking.size() : std::min(ranking.size(), kRowsShown);
  bool any_contended = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const Candidate& c = table.candidates[ranking[i]];
    any_contended = any_contended || c.contended;
    rows.add(
        {c.spec.pattern, block_text(c), c.racks, machine::format_placement(c.platform.placement),
         sched::human_seconds(c.predicted_s) + (c.contended ? "*" : ""),
         sched::human_seconds(c.floor_s), c.confirmed_s ? sched::human_seconds(*c.confirmed_s) : "",
         ratio_text(judged_s(c), best_s),
         c.noise_ratio ? fmt::format("{:.4g}", *c.noise_ratio) : ""});
  }
  text += rows.text("  ");
  if (shown < ranking.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(ranking.size() - shown, "more candidate"));
  }
  if (any_contended) {
    text += "  * leaves out that messages share links; `at least` holds all the same\n";
  }
  if (samples > 0) {
    text += fmt::format("  noise: the 95 % quantile of {} noisy runs over their median\n", samples);
  }
  return text;
}

std::string AdviceReport::document() const {
  const bool any = !ranking.empty();
  JsonDocument json(any ? std::optional(digest) : std::nullopt, false);
  json.set("ranks", std::uint64_t{request.ranks});
  json.set("bytes", request.bytes);
  set_platform(json, request.platform, request.ranks);
  const auto rack_list = [](const Candidate& c) {
    std::vector<std::uint64_t> racks(c.spec.multicast.rack_of_rank.begin(),
                                     c.spec.multicast.rack_of_rank.end());
    return racks;
  };
  if (any) {
    const Candidate& best = table.candidates[ranking.front()];
    json.set("best_schedule", spec_text(best));
    json.set("best_platform", platform_of(best));
    json.set("best_platform_spec", best.platform.spec());
    json.set("best_makespan_s", judged_s(best));
    if (best.needs_rack_map) {
      json.set("rack_map", std::span<const std::uint64_t>(rack_list(best)));
    } else {
      json.set_null("rack_map");
    }
  } else {
    for (const char* key :
         {"best_schedule", "best_platform", "best_platform_spec", "best_makespan_s", "rack_map"}) {
      json.set_null(key);
    }
  }
  json.set("confirmed", confirmed ? std::optional(confirmed->count) : std::nullopt);
  json.set("open", confirmed ? std::optional(confirmed->open) : std::nullopt);
  json.set("noise", noise.text());
  json.set("samples", samples);
  const double best_s = any ? judged_s(table.candidates[ranking.front()]) : 0;
  json.begin_list("candidates");
  for (const std::uint32_t i : ranking) {
    const Candidate& c = table.candidates[i];
    json.begin_object();
    json.set("schedule", spec_text(c));
    json.set("pattern", c.spec.pattern);
    json.set("block_bytes",
             has_blocks(c) ? std::optional(c.spec.multicast.block_bytes) : std::nullopt);
    json.set("placement", machine::format_placement(c.platform.placement));
    json.set("racks", c.racks);
    json.set("needs_rack_map", c.needs_rack_map);
    json.set("ops", c.ops);
    json.set("predicted_s", c.predicted_s);
    json.set("contended", c.contended);
    json.set("floor_s", c.floor_s);
    json.set("confirmed_s", c.confirmed_s);
    json.set("ratio_to_best", best_s > 0 ? std::optional(judged_s(c) / best_s) : std::nullopt);
    json.set("noise_ratio", c.noise_ratio);
    json.end();
  }
  json.end();
  json.begin_list("skipped");
  for (const Candidate& c : table.skipped) {
    json.begin_object();
    json.set("schedule", spec_text(c));
    json.set("placement", machine::format_placement(c.platform.placement));
    json.set("ops", c.ops);
    json.end();
  }
  json.end();
  return json.text();
}

}  // namespace slackline::cli
