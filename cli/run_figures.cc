#include "cli/run_figures.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/advice/bus_bandwidth.h"
#include "base/units.h"
#include "cli/human.h"

namespace slackline::cli {
namespace {

constexpr std::string_view kNone = "–";

std::uint64_t messages_of(const sched::Schedule& schedule, const sched::Trace& trace) {
  const std::vector<bool> control = schedule.control_channels();
  std::uint64_t messages = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (sched::is_initiator(op.kind) && !control[op.channel.value])
      messages += trace.ops[i].attempts;
  }
  return messages;
}

std::string time_or_none(std::optional<double> time_s) {
  return time_s ? sched::human_seconds(*time_s) : std::string(kNone);
}

std::string rate_or_none(std::optional<double> bytes_per_s) {
  return bytes_per_s ? sched::human_bytes_per_second(*bytes_per_s) : std::string(kNone);
}

std::string per_second(double rate) {
  return rate < 1e4 ? fmt::format("{:.4g}/s", rate) : fmt::format("{:.0f}/s", rate);
}

std::string makespan(const analysis::RunStatistics& found) {
  if (found.count == 1) return sched::human_seconds(found.median_s);
  return fmt::format("{} (median; {} … {})", sched::human_seconds(found.median_s),
                     sched::human_seconds(found.min_s), sched::human_seconds(found.max_s));
}

std::string spread(const analysis::RunStatistics& found) {
  std::string text = fmt::format("mean {}", sched::human_seconds(found.mean_s));
  for (const auto& [name, time_s] :
       {std::pair{"deviation", found.deviation_s}, std::pair{"p90", found.p90_s},
        std::pair{"p99", found.p99_s}, std::pair{"p99.9", found.p999_s}}) {
    if (time_s) text += fmt::format(", {} {}", name, sched::human_seconds(*time_s));
  }
  return fmt::format("{} (of {})", text, found.count);
}

}  // namespace

RunFigures figures_of(const sched::Schedule& schedule, const std::optional<std::string>& pattern,
                      const sched::Trace& trace, std::vector<double> makespans_s,
                      std::optional<std::uint64_t> line_bits_per_s) {
  RunFigures figures;
  figures.makespan = analysis::statistics_of(std::move(makespans_s));
  figures.message_bytes = schedule.message_bytes();
  figures.messages = messages_of(schedule, trace);
  figures.line_bits_per_s = line_bits_per_s;
  const double median_s = figures.makespan.median_s;
  if (!(median_s > 0)) return figures;
  if (figures.messages > 0) {
    figures.messages_per_s = static_cast<double>(figures.messages) / median_s;
  }
  figures.bandwidth_bytes_per_s = static_cast<double>(figures.message_bytes) / median_s;
  const auto factor =
      pattern ? analysis::bus_factor(*pattern, schedule.rank_count()) : std::nullopt;
  if (!factor || figures.message_bytes == 0) return figures;
  figures.bus_bandwidth_bytes_per_s = *factor * *figures.bandwidth_bytes_per_s;
  if (line_bits_per_s && *line_bits_per_s > 0) {
    figures.line_share =
        8 * *figures.bus_bandwidth_bytes_per_s / static_cast<double>(*line_bits_per_s);
  }
  return figures;
}

void add_figures(const RunFigures& figures, Table& table) {
  table.add({"makespan", makespan(figures.makespan)});
  if (figures.makespan.count > 1) table.add({"spread", spread(figures.makespan)});
  if (figures.message_bytes > 0) {  // small operations and barriers have no message
    std::string text = rate_or_none(figures.bandwidth_bytes_per_s);
    if (figures.bus_bandwidth_bytes_per_s) {
      text += fmt::format("; bus bandwidth {}", rate_or_none(figures.bus_bandwidth_bytes_per_s));
    }
    if (figures.line_share) {
      text += fmt::format(", {} of the line's {}", human_share(*figures.line_share, 1),
                          rate_or_none(static_cast<double>(*figures.line_bits_per_s) / 8));
    }
    table.add({"bandwidth", text});
  }
  if (figures.messages_per_s) {
    table.add(
        {"messages", fmt::format("{}, {}", figures.messages, per_second(*figures.messages_per_s))});
  }
}

void add_figures(const RunFigures& figures, JsonOutput& json) {
  const analysis::RunStatistics& found = figures.makespan;
  json.set("makespan_s", found.median_s);
  json.set("makespan_min_s", found.min_s);
  json.set("makespan_mean_s", found.mean_s);
  json.set("makespan_max_s", found.max_s);
  json.set("makespan_deviation_s", found.deviation_s);
  json.set("makespan_p90_s", found.p90_s);
  json.set("makespan_p99_s", found.p99_s);
  json.set("makespan_p999_s", found.p999_s);
  json.set("bandwidth_bytes_per_s", figures.bandwidth_bytes_per_s);
  json.set("bus_bandwidth_bytes_per_s", figures.bus_bandwidth_bytes_per_s);
  json.set("line_rate_bits_per_s", figures.line_bits_per_s);
  json.set("line_share", figures.line_share);
  json.set("messages", figures.messages);
  json.set("messages_per_s", figures.messages_per_s);
}

std::vector<std::string> figure_heads() {
  return {"iterations", "min",       "median",    "p90",           "p99",     "p99.9",
          "mean",       "deviation", "bandwidth", "bus bandwidth", "messages"};
}

std::vector<std::string> figure_cells(const RunFigures& figures) {
  const analysis::RunStatistics& found = figures.makespan;
  return {fmt::to_string(found.count),
          sched::human_seconds(found.min_s),
          sched::human_seconds(found.median_s),
          time_or_none(found.p90_s),
          time_or_none(found.p99_s),
          time_or_none(found.p999_s),
          sched::human_seconds(found.mean_s),
          time_or_none(found.deviation_s),
          rate_or_none(figures.bandwidth_bytes_per_s),
          rate_or_none(figures.bus_bandwidth_bytes_per_s),
          figures.messages_per_s ? per_second(*figures.messages_per_s) : std::string(kNone)};
}

}  // namespace slackline::cli
