// Heat maps as SVG, drawn by gnuplot: a value per cell on a logarithmic scale of colours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/plot_marks.h"

namespace slackline::experiments {

struct HeatMap {
  std::string title;
  std::string x;                       // the axes' labels
  std::string y;                       // whose numbers grow downwards, like a table's rows
  std::string colour;                  // the scale's label…
  AxisUnit unit = AxisUnit::kSeconds;  // …and what its numbers are
  std::string zero;  // what a value of 0 is called, which no logarithm shows; drawn in black
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  double column_width = 1;  // on the axes: cells stand for that many of what these number
  double row_height = 1;
  std::vector<double> values;  // row by row, ≥ 0; NaN leaves a cell empty
};

/// The commands that make gnuplot write it as SVG to its standard output. The scale spans at most
/// six decades below the largest value; what is less has the lowest colour.
std::string heat_map_commands(const HeatMap& map);

/// Throws as draw_svg(const Figure&).
std::string draw_svg(const HeatMap& map);

}  // namespace slackline::experiments
