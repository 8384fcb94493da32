#include "analysis/slack/line.h"

#include <algorithm>

namespace slackline::analysis {

PiecewiseLinear::PiecewiseLinear(std::span<const Line> lines, double lo, double hi)
    : lo_(lo), hi_(hi) {
  std::vector<Line> kept;
  for (const Line line : lines) {
    if (!kept.empty() && line.slope <= kept.back().slope) {
      if (line.at(lo) <= kept.back().at(lo)) continue;
      kept.pop_back();
    }
    // The last one is of no use if the new one has caught up by where it overtook the one before.
    while (!kept.empty()) {
      const double begin = kept.size() < 2 ? lo : meet(kept[kept.size() - 2], kept.back());
      const double rounding = line.rounding_at(begin) + kept.back().rounding_at(begin);
      if (line.at(begin) + rounding < kept.back().at(begin)) break;
      kept.pop_back();
    }
    if (kept.empty() || meet(kept.back(), line) < hi) kept.push_back(line);
  }
  if (kept.empty()) return;
  pieces_.clear();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    pieces_.push_back({i == 0 ? lo : meet(kept[i - 1], kept[i]), kept[i]});
  }
}

double PiecewiseLinear::at(double x) const {
  const auto next = std::upper_bound(pieces_.begin() + 1, pieces_.end(), x,
                                     [](double at, const Piece& piece) { return at < piece.from; });
  return (next - 1)->line.at(x);
}

PiecewiseLinear::Slopes PiecewiseLinear::slopes_at(double x) const {
  const double highest = at(x);
  const double rounding = 1e-12 * std::abs(highest);
  Slopes slopes{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Piece& piece : pieces_) {
    if (piece.line.at(x) < highest - rounding) continue;
    slopes.before = std::min(slopes.before, piece.line.slope);
    slopes.after = std::max(slopes.after, piece.line.slope);
  }
  return slopes;
}

double PiecewiseLinear::stays_below_until(double y) const {
  double end = hi_;
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    if (piece->line.at(piece->from) <= y) {
      if (piece->line.slope <= 0) return end;
      return std::min(end, (y - piece->line.at_zero) / piece->line.slope);
    }
    end = piece->from;
  }
  return lo_;
}

PiecewiseLinear highest_lines(const std::function<Line(double)>& highest, Line at_lo, Line at_hi,
                              double lo, double hi) {
  std::vector<Line> found{at_lo};
  std::vector<Line> waiting{at_hi};  // to the right of `found`, the nearest last
  while (!waiting.empty()) {
    const Line left = found.back();
    const Line right = waiting.back();
    if (right.slope > left.slope) {
      const double x = std::clamp(meet(left, right), lo, hi);
      const Line between = highest(x);
      const double rounding = left.rounding_at(x) + between.rounding_at(x);
      if (between.at(x) > left.at(x) + rounding && between.slope > left.slope) {
        // Two sums of one slope can differ by their rounding: the higher line stands for both.
        const bool parallel = between.slope >= right.slope * (1 - 1e-12);
        if (parallel) waiting.pop_back();
        waiting.push_back(between);
        continue;
      }
    }
    found.push_back(right);
    waiting.pop_back();
  }
  return PiecewiseLinear(found, lo, hi);
}

}  // namespace slackline::analysis
