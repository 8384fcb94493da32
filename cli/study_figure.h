// Curves over a study's points, as small multiples.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
/// the pattern, and the platform if the study has several. Throws InputError, naming `what`, for a
/// column that there is not, one that has no numbers to be drawn, or X where a study has no value.
StudyAxes parse_axes(std::string_view text, const sweep::Study& study, std::string_view what);

/// One figure for each value of EACH, in the order of the study, all with the same curves. Of
/// several points at one place the curve goes through the median. Points that failed, or in which a
/// rank never finished, are left out.
std::vector<experiments::Figure> study_figures(const StudyAxes& axes,
                                               const sweep::SweepState& state);

}  // namespace slackline::cli
