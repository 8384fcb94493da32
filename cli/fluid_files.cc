#include "cli/fluid_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/append.h"
#include "base/csv_field.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/output_file.h"
#include "experiments/plot.h"
#include "machine/platform.h"

namespace slackline::cli {
namespace {

// Of a picture: more would not be told apart.
constexpr std::size_t kMostDrawn = 8;

bool is_drawing(const std::string& path) { return path.ends_with(".svg"); }

struct Ends {
  sched::RankId from, to;
};

Ends ends_of(const sched::Schedule& schedule, std::uint32_t pair) {
  const sched::Channel& channel = schedule.channel(sched::ChannelId(pair / 2));
  return pair % 2 == 0 ? Ends{channel.src, channel.dst} : Ends{channel.dst, channel.src};
}

// Of intervals `value` says the height; those of which nothing is said have none.
template <class Interval, class Value>
experiments::Series line_of(std::string name, const std::vector<Interval>& intervals,
                            double width_s, double end_s, const Value& value) {
  experiments::Series line;
  line.name = std::move(name);
  const auto at_ms = [&](std::size_t i) {
    return 1e3 * std::min(width_s * static_cast<double>(i), end_s);
  };
  for (std::size_t i = 0; i < intervals.size(); ++i) line.add(at_ms(i), value(intervals[i]));
  line.add(at_ms(intervals.size()), 0);
  return line;
}

// The first few of `all`, which stand in order of how much there is of them.
std::string how_many(std::size_t drawn, std::size_t all, std::string_view noun) {
  if (drawn == all) return "";
  return fmt::format(" ({} of {} with the most)", drawn, human_count(all, noun));
}

struct Drawn {
  std::vector<std::uint32_t> shown;
  std::size_t all = 0;
};

template <class Interval, class Amount>
Drawn most_of(const std::vector<std::vector<Interval>>& all, const Amount& amount) {
  std::vector<std::pair<double, std::uint32_t>> sums;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    double sum = 0;
    for (const Interval& interval : all[i]) sum += amount(interval);
    if (sum > 0) sums.emplace_back(-sum, i);
  }
  std::sort(sums.begin(), sums.end());
  Drawn drawn{{}, sums.size()};
  sums.resize(std::min(sums.size(), kMostDrawn));
  for (const auto& [sum, i] : sums) drawn.shown.push_back(i);
  std::sort(drawn.shown.begin(), drawn.shown.end());
  return drawn;
}

experiments::Figure figure_of(std::string_view name, std::string title, std::string label) {
  experiments::Figure figure;
  figure.name = name;
  figure.title = std::move(title);
  figure.x = {"time, ms", 0};
  figure.y = {std::move(label), 0};
  figure.steps = true;
  return figure;
}

std::string queue_svg(std::string_view title, const machine::Wiring& wiring,
                      const analysis::FluidSeries& series, double end_s) {
  using Interval = analysis::FluidSeries::QueueInterval;
  const Drawn drawn = most_of(series.queues(), [](const Interval& i) { return i.byte_s; });
  experiments::Figure figure =
      figure_of("queues",
                fmt::format("{}: largest queue before each link{}", title,
                            how_many(drawn.shown.size(), drawn.all, "link")),
                "largest queue, KiB");
  for (const std::uint32_t link : drawn.shown) {
    figure.series.push_back(line_of(wiring.links()[link].name, series.queues()[link],
                                    series.width_s(), end_s,
                                    [](const Interval& i) { return i.largest_bytes / 1024; }));
  }
  return experiments::draw_svg(figure);
}

std::string rate_svg(std::string_view title, const sched::Schedule& schedule,
                     const analysis::FluidSeries& series, double end_s) {
  using Interval = analysis::FluidSeries::RateInterval;
  const Drawn drawn = most_of(series.rates(), [](const Interval& i) { return i.bytes; });
  experiments::Figure figure =
      figure_of("rates",
                fmt::format("{}: what each channel sent{}", title,
                            how_many(drawn.shown.size(), drawn.all, "channel")),
                "rate, Gb/s");
  for (const std::uint32_t pair : drawn.shown) {
    const Ends ends = ends_of(schedule, pair);
    figure.series.push_back(
        line_of(fmt::format("channel {}, {} to {}", pair / 2, ends.from.value, ends.to.value),
                series.rates()[pair], series.width_s(), end_s,
                [&](const Interval& i) { return 8e-9 * i.bytes / series.width_s(); }));
  }
  return experiments::draw_svg(figure);
}

}  // namespace

void FluidFiles::declare(Arguments& arguments) {
  arguments.file(
      "--queues", queues_,
      "with queues (--engine fluid): write there how long each was over time, as CSV or, "
      "to a name in .svg, drawn");
  arguments.file("--rates", rates_, "the same of what each channel sent, and was allowed to send");
}

std::string_view FluidFiles::given() const {
  return queues_ ? "--queues" : rates_ ? "--rates" : "";
}

std::vector<std::pair<std::string_view, std::optional<std::string>>> FluidFiles::files() const {
  return {{"--queues", queues_}, {"--rates", rates_}};
}

void FluidFiles::check(bool has_queues) const {
  if (given().empty() || has_queues) return;
  throw InputError(fmt::format(
      "{}: this run has no queues; expected --engine fluid, on a platform with congestion=pfc, "
      "dcqcn or dcqcn+pfc",
      given()));
}

// As fine as the run itself, as long as that is not too much.
analysis::FluidSeries FluidFiles::series(const machine::Setting& setting) const {
  return analysis::FluidSeries(sched::seconds(setting.platform.congestion.step));
}

void FluidFiles::write(std::string_view title, const machine::Setting& setting,
                       const analysis::FluidSeries& series, double makespan_s,
                       Console& console) const {
  if (given().empty()) return;
  console.phase("writing");
  if (queues_) {
    write_output_file(*queues_, is_drawing(*queues_)
                                    ? queue_svg(title, setting.wiring, series, makespan_s)
                                    : queue_csv(setting.wiring, series));
  }
  if (rates_) {
    write_output_file(*rates_, is_drawing(*rates_)
                                   ? rate_svg(title, setting.schedule, series, makespan_s)
                                   : rate_csv(setting.schedule, series));
  }
}

std::string queue_csv(const machine::Wiring& wiring, const analysis::FluidSeries& series) {
  const double width_s = series.width_s();
  std::string text = "link,begin_s,end_s,mean_bytes,largest_bytes\n";
  for (std::uint32_t link = 0; link < series.queues().size(); ++link) {
    const std::string name = sched::csv_field(wiring.links()[link].name);
    for (std::size_t i = 0; i < series.queues()[link].size(); ++i) {
      const auto& interval = series.queues()[link][i];
      if (interval.largest_bytes == 0) continue;
      sched::append(text, "{},{},{},{},{}\n", name, width_s * static_cast<double>(i),
                    width_s * static_cast<double>(i + 1), interval.byte_s / width_s,
                    interval.largest_bytes);
    }
  }
  return text;
}

std::string rate_csv(const sched::Schedule& schedule, const analysis::FluidSeries& series) {
  const double width_s = series.width_s();
  std::string text = "channel,from,to,begin_s,end_s,bytes_per_s,allowed_bytes_per_s\n";
  for (std::uint32_t pair = 0; pair < series.rates().size(); ++pair) {
    const Ends ends = ends_of(schedule, pair);
    for (std::size_t i = 0; i < series.rates()[pair].size(); ++i) {
      const auto& interval = series.rates()[pair][i];
      if (interval.allowed_bytes_per_s == 0) continue;
      const double allowed = interval.allowed_bytes_per_s;
      sched::append(text, "{},{},{},{},{},{},{}\n", pair / 2, ends.from.value, ends.to.value,
                    width_s * static_cast<double>(i), width_s * static_cast<double>(i + 1),
                    interval.bytes / width_s,
                    std::isfinite(allowed) ? fmt::to_string(allowed) : "");
    }
  }
  return text;
}

}  // namespace slackline::cli
