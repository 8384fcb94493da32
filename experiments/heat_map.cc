#include "experiments/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/append.h"
#include "experiments/plot.h"

namespace slackline::experiments {
namespace {

constexpr double kDecades = 1e6;
constexpr double kDecadesShown = 7;  // more marks than the scale has decades

// A cell's centre on an axis that numbers what it stands for from 0.
double centre(std::uint32_t index, double size) { return (index + 0.5) * size - 0.5; }

}  // namespace

std::string heat_map_commands(const HeatMap& map) {
  std::string out = plot_terminal(900, 500);
  out +=
      // Not under the middle, where the axis' label stands.
      "set key below left\n"
      "set tics out nomirror\n"
      "set style fill solid 1 noborder\n"
      // From little slack to much: each is lighter than the one before, so that they are told apart
      // in print without colours, too, and by those who do not see colours like most.
      "set palette defined (0 \"#8a3fbf\", 1 \"#c04f9f\", 2 \"#e16462\", 3 \"#fca636\", "
      "4 \"#fcd94a\")\n";
  out += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", plot_text(map.title),
                     plot_text(map.x), plot_text(map.y));
  const double width = std::max(1.0, map.columns * map.column_width);
  const double height = std::max(1.0, map.rows * map.row_height);
  out += fmt::format("set xrange [-0.5:{:.9g}]\nset yrange [{:.9g}:-0.5]\n", width - 0.5,
                     height - 0.5);
  if (width <= 20) out += "set xtics 1\n";
  if (height <= 20) out += "set ytics 1\n";
  std::string cells;
  std::string zeros;
  double least = 0;
  double most = 0;
  for (std::uint32_t row = 0; row < map.rows; ++row) {
    for (std::uint32_t column = 0; column < map.columns; ++column) {
      const double value = map.values[std::size_t{row} * map.columns + column];
      if (!std::isfinite(value)) continue;
      std::string& to = value > 0 ? cells : zeros;
      sched::append(to, "{:.9g} {:.9g} {:.9g}\n", centre(column, map.column_width),
                    centre(row, map.row_height), value);
      if (value <= 0) continue;
      least = least == 0 ? value : std::min(least, value);
      most = std::max(most, value);
    }
  }
  const std::string box =
      fmt::format("({:.9g}):({:.9g})", map.column_width / 2, map.row_height / 2);
  std::string plots;
  if (!cells.empty()) {
    least = std::max(least, most / kDecades);
    if (most / least < 2) {
      least /= 2;
      most *= 2;
    }
    out += fmt::format("set logscale cb\nset cbrange [{:.9g}:{:.9g}]\nset cblabel {}\n", least,
                       most, plot_text(map.colour));
    out += fmt::format("set cbtics {}\n",
                       marks_text(log_marks(least, most, 10, kDecadesShown), map.unit));
    out += fmt::format("$cells << END\n{}END\n", cells);
    plots = fmt::format("$cells using 1:2:{}:3 with boxxyerror lc palette notitle", box);
  }
  if (!zeros.empty()) {
    out += fmt::format("$zeros << END\n{}END\n", zeros);
    plots += fmt::format("{}$zeros using 1:2:{} with boxxyerror lc rgb \"black\" title {}",
                         plots.empty() ? "" : ", \\\n     ", box, plot_text(map.zero));
  }
  return out + "plot " + (plots.empty() ? "NaN notitle" : plots) + '\n';
}

std::string draw_svg(const HeatMap& map) { return draw_commands(heat_map_commands(map)); }

}  // namespace slackline::experiments
