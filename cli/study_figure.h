// Curves over a study's points, as small multiples.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/plot_marks.h"
#include "experiments/report.h"
#include "sweep/sweep.h"

namespace slackline::cli {

/// Which columns are drawn: parts of points, values of the study, or times of rows.
struct StudyAxes {
  std::string x, y;
  std::string by;    // a curve for each; empty: one curve
  std::string each;  // a figure for each; empty: one figure
};

/// "bytes,median_s,pattern,platform": X,Y[,BY[,EACH]]. Empty: the study's first value, the median,
/// the pattern, and the platform if the study has several. X and Y are values, seeds, samples or
/// times; the others values or parts of points. Throws InputError, naming `what`, for any other,
/// and for none where the study has no value.
StudyAxes parse_axes(std::string_view text, const sweep::Study& study, std::string_view what);

/// One figure for each value of EACH, in the order of the study, all with the same curves. Of
/// several points at one place the curve goes through the median. Points that failed are left out.
struct StudyFigures {
  std::vector<experiments::Figure> figures;
  experiments::AxisUnits units;  // of their axes
  /// Points without a number for an axis: a value that is a text, a rank that never finished, no
  /// slack. They are left out too.
  std::size_t without_number = 0;
};
StudyFigures study_figures(const StudyAxes& axes, const sweep::SweepState& state);

}  // namespace slackline::cli
