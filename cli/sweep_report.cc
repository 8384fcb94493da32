#include "cli/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "cli/facts_report.h"
#include "cli/processor_report.h"
#include "cli/table.h"
#include "machine/issue_policy.h"

namespace slackline::cli {
namespace {

// Lines are written before the next one's are known, so that columns have one width from the start:
// what fits into it is every figure but very few.
constexpr std::size_t kWidths[] = {10, 11, 10, 10, 10, 10, 10, 10, 10, 11, 14, 11};

std::string line_of(std::string first, std::vector<std::string> cells) {
  cells.insert(cells.begin(), std::move(first));
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t width = display_width(cells[i]);
    line += std::string(width < kWidths[i] ? kWidths[i] - width : 1, ' ') + cells[i];
  }
  return line + '\n';
}

std::string how_often(const SweepSubject& subject) {
  const std::string count =
      subject.options.duration.count() != 0
          ? fmt::format("{} ms of each size", subject.options.duration.count())
          : fmt::format("{} of each size", subject.options.iterations);
  if (subject.options.warm_up == 0) return count;
  return fmt::format("{}, after {} to warm up", count, subject.options.warm_up);
}

}  // namespace

SweepReport::SweepReport(SweepSubject subject) : subject_(std::move(subject)) {}

void SweepReport::begin(std::string_view transport, Console& console) {
  if (subject_.reader.json) {
    json_.emplace(std::nullopt, subject_.proved);
    json_->set("schedule", subject_.name);
    json_->set("engine", "run");
    json_->set("answered_by", fmt::format("run:{}", transport));
    json_->set_null("platform");
    json_->set("transport", transport);
    json_->set("policy", machine::name(subject_.options.order.policy));
    json_->set("sends_in_flight", std::uint64_t{subject_.options.order.sends_in_flight});
    json_->set("completion", hw::name(subject_.options.waiting));
    json_->set("seed", subject_.options.delays.seed);
    json_->set("warm_up", std::uint64_t{subject_.options.warm_up});
    json_->set("bytes_proved", subject_.options.prove);
    json_->begin_list("sizes");
    return;
  }
  Table head({Align::kLeft, Align::kLeft});
  head.add({"transport", std::string(transport)});
  head.add({"iterations", how_often(subject_)});
  head.add({"bytes",
            subject_.options.prove ? "proved at every rank, after each iteration" : "not proved"});
  console.print(
      fmt::format("{}, at {}\n{}\n{}", subject_.name,
                  subject_.sizes == 1 ? "1 size" : fmt::format("{} sizes", subject_.sizes),
                  head.text("  "), line_of("bytes", figure_heads())));
  console.finish();
}

void SweepReport::add(std::uint64_t bytes, const LoadedSchedule& loaded, const RunFigures& figures,
                      const std::vector<hw::ProcessorUse>& processor, const Contents& contents,
                      Console& console) {
  const auto share = [](const std::vector<hw::ProcessorUse>& of) {
    const auto longest = longest_wait(of);
    return longest ? longest->share : -1;
  };
  if (!waits_ || share(processor) > share(waits_->processor)) waits_ = {bytes, processor};
  if (!json_) {
    console.print(line_of(sched::human_bytes(bytes), figure_cells(figures)));
    if (!contents.ok()) console.print(contents.report());
    return console.finish();
  }
  json_->begin_object();
  json_->set("bytes", bytes);
  json_->set("schedule", loaded.name);
  json_->set("digest", to_string(loaded.schedule.digest()));
  json_->set("message_bytes", figures.message_bytes);
  json_->set("iterations", figures.makespan.count);
  add_figures(figures, *json_);
  add_processor(processor, *json_);
  contents.add_to(*json_);
  json_->end();
}

void SweepReport::end(const std::vector<hw::RankFacts>& facts, Console& console) {
  if (json_) {
    json_->end();
    add_facts(facts, *json_);
    add_fullest_host(facts, *json_);
    console.print(json_->text());
    return;
  }
  if (waits_) {
    console.print(fmt::format("\n  processor  at {}: {}\n", sched::human_bytes(waits_->bytes),
                              processor_row(waits_->processor, facts)));
  }
  if (subject_.reader.all) console.print('\n' + facts_table(facts));
}

}  // namespace slackline::cli
