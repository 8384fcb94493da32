// Figures as SVG, drawn by gnuplot.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "experiments/plot_marks.h"
#include "experiments/report.h"

namespace slackline::experiments {

/// The commands that make gnuplot write the figure as SVG to its standard output, data included.
/// Points that an axis cannot show (not finite, or not above 0 on a logarithmic one) are left out.
std::string plot_commands(const Figure& figure);
/// The same of one figure at least, all beside each other with the same ranges of their axes. Where
/// the numbers of an axis have a unit it stands beside its marks, and need not be in its label.
std::string plot_commands(std::span<const Figure> figures, AxisUnits units = {});

/// The figure as SVG; the same bytes for the same figure and gnuplot. Throws EnvironmentError, with
/// how to get it, if there is no gnuplot or it fails.
std::string draw_svg(const Figure& figure);
std::string draw_svg(std::span<const Figure> figures, AxisUnits units = {});

/// The parts of it, for other kinds of figure: a text of anybody's as gnuplot reads it between
/// double quotes, which it never takes for a command; the commands that begin every figure; and
/// what commands draw.
std::string plot_text(std::string_view text);
std::string plot_terminal(int width, int height);
std::string draw_commands(const std::string& commands);

}  // namespace slackline::experiments
