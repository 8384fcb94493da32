#include "cli/study_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/split.h"
#include "base/statistics.h"
#include "sweep/quantity.h"

namespace slackline::cli {
namespace {

// An axis whose numbers grow more than that is logarithmic.
constexpr double kFar = 15;

bool is_time(const std::string& name) {
  return std::ranges::find(sweep::kObjectives, name) != std::end(sweep::kObjectives) ||
         std::ranges::find(sweep::kFloats, name) != std::end(sweep::kFloats);
}

// Columns that a curve or a figure can be of; and those that have places along an axis.
std::vector<std::string_view> columns_of(const sweep::Study& study, bool along_axis) {
  std::vector<std::string_view> columns(study.values.begin(), study.values.end());
  if (!along_axis) {
    columns.insert(columns.end(), std::begin(sweep::kParts), std::end(sweep::kParts));
    return columns;
  }
  columns.insert(columns.end(), {"seed", "samples"});
  columns.insert(columns.end(), std::begin(sweep::kObjectives), std::end(sweep::kObjectives));
  if (study.with_slack) {
    columns.insert(columns.end(), std::begin(sweep::kFloats), std::end(sweep::kFloats));
  }
  return columns;
}

// Where points stand along an axis.
struct Place {
  double value = 0;
  std::string_view unit;
};

std::optional<Place> place_of(const std::string& column, const sweep::Point& point,
                              const sweep::Row& row) {
  if (is_time(column)) {
    const double time_s = time_of(row, column);
    if (!std::isfinite(time_s)) return std::nullopt;
    return Place{time_s, "s"};
  }
  const auto quantity = sweep::quantity_of(part_of(point, column));
  if (!quantity) return std::nullopt;
  return Place{quantity->value, quantity->unit};
}

// In the order in which they come.
std::size_t place_among(std::vector<std::string>& texts, const std::string& text) {
  const auto found = std::ranges::find(texts, text);
  if (found != texts.end()) return static_cast<std::size_t>(found - texts.begin());
  texts.push_back(text);
  return texts.size() - 1;
}

// What people call a column: "median_s" is the median makespan.
std::string words_of(const std::string& column) {
  if (!is_time(column)) return column;
  std::string words = column.substr(0, column.size() - std::string_view("_s").size());
  const bool is_float = words.ends_with("_float");
  if (is_float) return words.replace(words.find('_'), 1, " total ");
  return words + " makespan";
}

experiments::AxisUnit axis_unit(std::string_view unit) {
  if (unit == "s") return experiments::AxisUnit::kSeconds;
  if (unit == "B") return experiments::AxisUnit::kBytes;
  if (unit == "bit/s") return experiments::AxisUnit::kBitsPerSecond;
  return experiments::AxisUnit::kNone;
}

// The name of a curve or a figure: a value of the study's with what it is of, "ranks 8".
std::string name_of(const std::string& column, const std::string& text) {
  const bool is_number = column == "seed" || column == "samples" ||
                         std::ranges::find(sweep::kParts, column) == std::end(sweep::kParts);
  return is_number && !text.empty() ? column + ' ' + text : text;
}

// All numbers of an axis, so far.
class Extent {
 public:
  void add(const Place& place) {
    low_ = std::min(low_, place.value);
    high_ = std::max(high_, place.value);
    unit_ = place.unit;
  }
  experiments::Axis axis(const std::string& column, int log_base) const {
    return {words_of(column), low_ > 0 && high_ > kFar * low_ ? log_base : 0};
  }
  experiments::AxisUnit unit() const { return axis_unit(unit_); }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
  std::string_view unit_;
};

}  // namespace

StudyAxes parse_axes(std::string_view text, const sweep::Study& study, std::string_view what) {
  StudyAxes axes;
  if (text.empty()) {
    if (study.values.empty()) {
      throw InputError(fmt::format(
          "{}: the study has no values; expected X,Y[,BY[,EACH]], as seed,median_s,pattern", what));
    }
    axes = {study.values.front(), "median_s", "pattern", ""};
    const auto is_other = [&](const sweep::Point& point) {
      return point.platform != study.points.front().platform;
    };
    if (std::ranges::any_of(study.points, is_other)) axes.each = "platform";
    return axes;
  }
  const std::vector<std::string_view> names = base::split(text);
  std::string* const places[] = {&axes.x, &axes.y, &axes.by, &axes.each};
  if (names.size() < 2 || names.size() > std::size(places)) {
    throw InputError(fmt::format("{}: '{}'; expected X,Y[,BY[,EACH]]", what, text));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    *places[i] = names[i];
    const std::vector<std::string_view> columns = columns_of(study, i < 2);
    if (std::ranges::find(columns, names[i]) != columns.end()) continue;
    throw InputError(fmt::format("{}: '{}' is no column to draw {}; expected {}", what, names[i],
                                 i < 2 ? "along" : "a curve or figure of",
                                 fmt::join(columns, ", ")));
  }
  return axes;
}

StudyFigures study_figures(const StudyAxes& axes, const sweep::SweepState& state) {
  StudyFigures drawn;
  std::vector<std::string> figure_names, curve_names;
  std::map<std::size_t, std::map<std::size_t, std::map<double, std::vector<double>>>> points;
  Extent x, y;
  for (std::size_t i = 0; i < state.keys.size(); ++i) {
    const auto row = state.rows.find(state.keys[i]);
    if (row == state.rows.end() || !row->second.error.empty()) continue;
    const sweep::Point& point = state.study.points[i];
    const auto at_x = place_of(axes.x, point, row->second);
    const auto at_y = place_of(axes.y, point, row->second);
    if (!at_x || !at_y) {
      ++drawn.without_number;
      continue;
    }
    x.add(*at_x);
    y.add(*at_y);
    const std::size_t figure = place_among(figure_names, part_of(point, axes.each));
    const std::size_t curve = place_among(curve_names, part_of(point, axes.by));
    points[figure][curve][at_x->value].push_back(at_y->value);
  }
  for (auto& [number, curves] : points) {
    const std::string& name = figure_names[number];
    experiments::Figure figure{
        "study",
        name.empty() ? words_of(axes.y) + " over " + words_of(axes.x) : name_of(axes.each, name),
        x.axis(axes.x, 2), y.axis(axes.y, 10)};
    for (const std::string& curve : curve_names) {
      figure.series.push_back({name_of(axes.by, curve)});
    }
    for (auto& [curve, places] : curves) {
      for (auto& [at, values] : places)
        figure.series[curve].add(at, base::median(std::move(values)));
    }
    drawn.figures.push_back(std::move(figure));
  }
  drawn.units = {x.unit(), y.unit()};
  return drawn;
}

}  // namespace slackline::cli
