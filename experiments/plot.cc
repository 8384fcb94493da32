#include "experiments/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "base/child_filter.h"
#include "base/error.h"
#include "base/shown_text.h"

namespace slackline::experiments {
namespace {

// Distinct in colour and, by the kind of point, without it.
constexpr std::string_view kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                         "#56b4e9", "#e69f00", "#000000", "#999999"};
constexpr std::size_t kColourCount = std::size(kColours);

// Of figures beside each other; in SVG's pixels, and how many stand in a row.
constexpr int kPanelWidth = 480;
constexpr int kPanelHeight = 380;
constexpr std::size_t kMostPanels = 3;

constexpr int kFigureWidth = 800;
constexpr int kFigureHeight = 500;
// Of the font, about: in pixels.
constexpr int kLetter = 7;
constexpr int kKeySample = 65;              // the line beside a name, and the gaps around it
constexpr int kBesideCurves = 110;          // left and right of them
constexpr std::size_t kLongestBeside = 30;  // letters of a name that leave the curves their place
constexpr int kMarkWidth = 70;

bool showable(double value, const Axis& axis) {
  return std::isfinite(value) && (axis.log_base == 0 || value > 0);
}

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

Extent extent_of(std::span<const Figure> figures, Axis Figure::*axis,
                 std::vector<double> Series::*values) {
  Extent extent;
  for (const Figure& figure : figures) {
    for (const Series& series : figure.series) {
      for (const double value : series.*values) {
        if (!showable(value, figure.*axis)) continue;
        extent.low = std::min(extent.low, value);
        extent.high = std::max(extent.high, value);
      }
    }
  }
  return extent;
}

// gnuplot has no prefixes for sizes, and labels but the powers of ten of a logarithmic axis.
std::string mark_commands(char name, const Axis& axis, AxisUnit unit, Extent extent, int pixels) {
  if (unit == AxisUnit::kNone || !(extent.low <= extent.high)) return "";
  const double most = static_cast<double>(pixels) / kMarkWidth;
  std::vector<double> marks = axis.log_base != 0
                                  ? log_marks(extent.low, extent.high, axis.log_base, most)
                                  : linear_marks(name == 'y' ? 0 : extent.low, extent.high, most);
  if (marks.size() < 2) marks = {extent.low, extent.high};
  return fmt::format("set {}tics {}\n", name, marks_text(marks, unit));
}

std::string axis_commands(char name, const Axis& axis) {
  std::string out = fmt::format("set {}label {}\n", name, plot_text(axis.label));
  if (axis.log_base != 0) out += fmt::format("set logscale {} {}\n", name, axis.log_base);
  return out;
}

std::size_t longest_name(const Figure& figure) {
  std::size_t longest = 0;
  for (const Series& series : figure.series) longest = std::max(longest, series.name.size());
  return longest;
}

// Below the curves, in as many columns as have room: gnuplot cuts off what is broader.
std::string key_below(std::size_t longest, int width) {
  const int column = kKeySample + kLetter * static_cast<int>(longest);
  return fmt::format("set key below samplen 2 height 1 maxcols {}\n",
                     std::max(1, (width - kBesideCurves) / column));
}

// What is the figure's own.
std::string figure_commands(const Figure& figure, int width) {
  std::string out =
      fmt::format("set title {}\n",
                  plot_text(sched::shown(figure.title, static_cast<std::size_t>(width / kLetter))));
  out += axis_commands('x', figure.x) + axis_commands('y', figure.y);
  std::string plots;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    std::string data;
    for (std::size_t p = 0; p < series.x.size() && p < series.y.size(); ++p) {
      if (showable(series.x[p], figure.x) && showable(series.y[p], figure.y)) {
        data += fmt::format("{:.9g} {:.9g}\n", series.x[p], series.y[p]);
      }
    }
    if (data.empty()) continue;
    out += fmt::format("$series{} << END\n{}END\n", i, data);
    plots += fmt::format(
        "{}$series{} with {} lw 2 dt {} lc rgb \"{}\"{} title {}",
        plots.empty() ? "plot " : ", \\\n     ", i,
        series.points  ? "points"
        : figure.steps ? "steps"
                       : "linespoints",
        series.dashed ? 2 : 1, kColours[i % kColourCount],
        figure.steps && !series.points ? "" : fmt::format(" pt {} ps 0.6", 5 + i % kColourCount),
        plot_text(series.name));
  }
  if (plots.empty()) plots = "plot [1:2] [1:2] NaN notitle";
  return out + plots + '\n';
}

// All figures have the same, so that they can be compared.
std::string range_commands(char name, const Axis& axis, Extent extent) {
  const bool from_zero = name == 'y' && axis.log_base == 0;
  if (from_zero) extent.low = std::min(extent.low, 0.0);
  if (!(extent.low < extent.high)) return "";
  return fmt::format("set {}range [{:.9g}:{:.9g}]\n", name, extent.low,
                     from_zero ? extent.high + (extent.high - extent.low) / 20 : extent.high);
}

}  // namespace

// gnuplot has a shell carry out what stands between backquotes, in a text as well. So only what is
// known to be text stands as itself; each other byte stands by its number, which gnuplot reads
// after it has looked for commands. A digit behind such a number would count as part of it.
std::string plot_text(std::string_view text) {
  constexpr std::string_view kPlain = " .,:;=+-_/()<>*%|!?&";
  std::string out = "\"";
  bool numbered = false;
  for (const char c : sched::shown(text)) {
    const bool digit = c >= '0' && c <= '9';
    numbered = !((digit && !numbered) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 static_cast<unsigned char>(c) >= 0x80 || kPlain.find(c) != std::string_view::npos);
    if (numbered) {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Not enhanced text, in which some characters are marks.
std::string plot_terminal(int width, int height) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg noenhanced size {},{} background \"white\" font \"sans-serif,13\"\n"
      "set output\n",
      width, height);
}

std::string plot_commands(const Figure& figure) {
  const std::size_t longest = longest_name(figure);
  return plot_terminal(kFigureWidth, kFigureHeight) + "set grid\n" +
         (longest <= kLongestBeside ? "set key outside right top\n"
                                    : key_below(longest, kFigureWidth)) +
         "set format \"%g\"\n" + (figure.y.log_base == 0 ? "set yrange [0:*]\n" : "") +
         figure_commands(figure, kFigureWidth);
}

std::string plot_commands(std::span<const Figure> figures, AxisUnits units) {
  const auto columns = static_cast<int>(std::min<std::size_t>(figures.size(), kMostPanels));
  const int rows = (static_cast<int>(figures.size()) + columns - 1) / columns;
  std::string out = plot_terminal(kPanelWidth * columns, kPanelHeight * rows);
  std::size_t longest = 0;
  for (const Figure& figure : figures) longest = std::max(longest, longest_name(figure));
  const Extent x = extent_of(figures, &Figure::x, &Series::x);
  const Extent y = extent_of(figures, &Figure::y, &Series::y);
  out += "set grid\n" + key_below(longest, kPanelWidth);
  out += "set format \"%g\"\n";
  out += range_commands('x', figures.front().x, x) + range_commands('y', figures.front().y, y);
  out += mark_commands('x', figures.front().x, units.x, x, kPanelWidth * 3 / 4);
  out += mark_commands('y', figures.front().y, units.y, y, kPanelHeight);
  out += fmt::format("set multiplot layout {},{}\n", rows, columns);
  for (const Figure& figure : figures) out += figure_commands(figure, kPanelWidth);
  return out + "unset multiplot\n";
}

std::string draw_svg(const Figure& figure) { return draw_commands(plot_commands(figure)); }

std::string draw_svg(std::span<const Figure> figures, AxisUnits units) {
  return draw_commands(plot_commands(figures, units));
}

std::string draw_commands(const std::string& commands) {
  const std::string svg = base::filter_through({"gnuplot", "--default-settings", "-"}, commands,
                                               "gnuplot draws the figures; install it (Debian: "
                                               "gnuplot-nox)");
  if (svg.find("</svg>") == std::string::npos) {
    throw EnvironmentError(
        "gnuplot drew nothing; expected one that has the terminal 'svg' "
        "(Debian: gnuplot-nox)");
  }
  return svg;
}

}  // namespace slackline::experiments
