#include "experiments/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

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

bool showable(double value, const Axis& axis) {
  return std::isfinite(value) && (axis.log_base == 0 || value > 0);
}

std::string axis_commands(char name, const Axis& axis) {
  std::string out = fmt::format("set {}label {}\n", name, plot_text(axis.label));
  if (axis.log_base != 0) out += fmt::format("set logscale {} {}\n", name, axis.log_base);
  return out;
}

// What is the figure's own.
std::string figure_commands(const Figure& figure) {
  std::string out = fmt::format("set title {}\n", plot_text(figure.title));
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
std::string range_commands(char name, std::span<const Figure> figures, Axis Figure::*axis,
                           std::vector<double> Series::*values) {
  const bool from_zero = name == 'y' && (figures.front().*axis).log_base == 0;
  double low = from_zero ? 0 : std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  for (const Figure& figure : figures) {
    for (const Series& series : figure.series) {
      for (const double value : series.*values) {
        if (!showable(value, figure.*axis)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
  }
  if (!(low < high)) return "";
  return fmt::format("set {}range [{:.9g}:{:.9g}]\n", name, low,
                     from_zero ? high + (high - low) / 20 : high);
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
  return plot_terminal(800, 500) +
         "set grid\n"
         "set key outside right top\n"
         "set format \"%g\"\n" +
         (figure.y.log_base == 0 ? "set yrange [0:*]\n" : "") + figure_commands(figure);
}

std::string plot_commands(std::span<const Figure> figures) {
  const auto columns = static_cast<int>(std::min<std::size_t>(figures.size(), kMostPanels));
  const int rows = (static_cast<int>(figures.size()) + columns - 1) / columns;
  std::string out = plot_terminal(kPanelWidth * columns, kPanelHeight * rows);
  out +=
      "set grid\n"
      "set key below\n"
      "set format \"%g\"\n";
  out += range_commands('x', figures, &Figure::x, &Series::x);
  out += range_commands('y', figures, &Figure::y, &Series::y);
  out += fmt::format("set multiplot layout {},{}\n", rows, columns);
  for (const Figure& figure : figures) out += figure_commands(figure);
  return out + "unset multiplot\n";
}

std::string draw_svg(const Figure& figure) { return draw_commands(plot_commands(figure)); }

std::string draw_svg(std::span<const Figure> figures) {
  return draw_commands(plot_commands(figures));
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
