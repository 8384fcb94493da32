// Small charts of times as SVG, without a program that draws them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::cli {

/// How times are distributed.
struct Curve {
  std::string name;
  std::vector<double> times_s;  // ascending; infinite where a run never ended
};
/// The share of runs that took up to a time, for each curve: the first is drawn strong and named in
/// the legend. The legend calls the others `others`; which is which is told by what the mouse
/// points at. A curve that has times which are infinite ends below 1.
std::string svg_distribution(std::string_view title, std::span<const Curve> curves,
                             std::string_view others);

/// A time with its name. What has been `checked` is darker.
struct Bar {
  std::string name;
  double time_s = 0;
  bool checked = false;
};
/// Makespans, one below the other, in their order. The legend says what a dark one and a light one
/// are.
std::string svg_bars(std::string_view title, std::span<const Bar> bars, std::string_view dark,
                     std::string_view light);

}  // namespace slackline::cli
