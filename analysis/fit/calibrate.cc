#include "analysis/fit/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "analysis/fit/calibrated_platform.h"
#include "analysis/fit/calibration_model.h"
#include "analysis/fit/calibration_paces.h"
#include "analysis/fit/interleave_fit.h"
#include "analysis/fit/robust_fit.h"
#include "analysis/fit/stream_differences.h"
#include "base/enum_names.h"
#include "base/error.h"
#include "base/statistics.h"

namespace slackline::analysis {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kKnownWithin = 0.25;  // of the value: half an interval that counts as measured…
constexpr double kNegligible = 1.0 / 20;  // …or of every point, what an upper end may make
constexpr double kClearly = 1.5;          // times the other's loss: points refute a pace
constexpr double kRounding = 1e-9;        // the loss of a point that is met exactly
constexpr int kTurns = 8;

constexpr base::EnumNames<CalibratedFigure, kFigures> kNames = {
    "o_post",     "o_complete",  "gap",      "latency", "rate",    "atomic_service", "copy_rate",
    "copy_start", "o_post_recv", "o_signal", "o_poll",  "o_match", "interleave"};

// A fit under what is taken to pace the streams of small messages.
struct Attempt {
  Paces paces;
  RobustFit fit;
  double loss = 0;

  double x(Unknown u) const { return fit.x[index_of(u)]; }
  bool knows(Unknown u) const { return fit.known(index_of(u)); }
  double high(Unknown u) const { return fit.high[index_of(u)]; }
};

Attempt attempt(std::span<const MeasuredPoint> points, bool posting, const Reading& reading) {
  PacedFit paced = find_paces(points, posting, reading);
  const std::vector<std::uint64_t> sizes = paced_sizes(points);
  const auto paces_of = [&](const std::vector<double>& x) {
    Unknowns figures{};
    std::copy(x.begin(), x.end(), figures.begin());
    return paces_under(figures, posting, sizes);
  };
  Attempt result{paces_of(paced.x), {}, paced.loss};
  std::vector<Paces> seen;
  for (int turn = 0; turn < kTurns; ++turn) {
    result.fit = robust_fit(equations_of(points, result.paces, reading), paced.x);
    seen.push_back(result.paces);
    const Paces next = paces_of(result.fit.x);
    if (std::find(seen.begin(), seen.end(), next) != seen.end()) break;
    result.paces = next;
    paced.x = result.fit.x;
  }
  return result;
}

bool has_pace(std::span<const MeasuredPoint> points, const Paces& paces, PointKind kind,
              Pace pace) {
  return std::any_of(points.begin(), points.end(), [&](const MeasuredPoint& point) {
    return point.kind == kind && is_paced(point) && paces.of(point) == pace;
  });
}

// Whether the gap is longer than `times` of another unknown beyond chance.
bool gap_exceeds(const RobustFit& fit, Unknown other, double times) {
  const std::size_t g = index_of(Unknown::kGap);
  const std::size_t p = index_of(other);
  const auto covariance = [&](std::size_t j, std::size_t k) {
    return fit.covariance[j * kUnknowns + k];
  };
  const double variance =
      covariance(g, g) + times * times * covariance(p, p) - 2 * times * covariance(g, p);
  const double freedom = std::min(fit.freedom[g], fit.freedom[p]);
  // Not true where there is no variance to speak of: the difference of infinities is no number.
  return fit.x[g] - times * fit.x[p] > t_quantile_95(freedom) * std::sqrt(std::max(0.0, variance));
}

struct Choice {
  Attempt attempt = {};
  bool undecided = false;  // whether o_post or gap paces streams of small messages
};

Choice choose(std::span<const MeasuredPoint> points, const Reading& reading) {
  Attempt by_gap = attempt(points, false, reading);
  Attempt by_post = attempt(points, true, reading);
  if (!has_pace(points, by_gap.paces, PointKind::kStream, Pace::kGap) ||
      !has_pace(points, by_post.paces, PointKind::kStream, Pace::kPost)) {
    return {by_gap.loss <= by_post.loss ? std::move(by_gap) : std::move(by_post)};
  }
  if (by_gap.knows(Unknown::kGap) && by_gap.knows(Unknown::kPost)) {
    // Where a signal is told apart, a stream that posts pace has one more, and a gap that is longer
    // may have to stand for it.
    const bool by = by_gap.loss <= by_post.loss && gap_exceeds(by_gap.fit, Unknown::kPost, 1);
    return {by ? std::move(by_gap) : std::move(by_post)};
  }
  const double rounding = kRounding * static_cast<double>(points.size());
  if (by_gap.loss > kClearly * by_post.loss + rounding) return {std::move(by_post)};
  if (by_post.loss > kClearly * by_gap.loss + rounding) return {std::move(by_gap)};
  // Where bursts say what the gap is, nothing need be said of posting.
  const bool undecided = !by_post.knows(Unknown::kGap);
  return {std::move(by_gap), undecided};
}

std::optional<Unknown> unknown_of(CalibratedFigure figure) {
  if (figure == CalibratedFigure::kInterleave) return std::nullopt;
  return static_cast<Unknown>(figure);  // they stand in the same order
}

FigureFit fit_of_interleave(const InterleaveFit& fit) {
  FigureFit result;
  result.figure = CalibratedFigure::kInterleave;
  result.points = fit.points;
  if (fit.points == 0) return result;
  result.verdict = fit.travels && fit.waits ? Verdict::kMeasured : Verdict::kVague;
  result.high = kInfinite;
  if (fit.travels) result.value = result.low = static_cast<double>(*fit.travels);
  if (fit.waits) result.high = static_cast<double>(*fit.waits - 1);
  if (result.verdict == Verdict::kVague && fit.travels) result.at_least = result.low;
  if (result.verdict == Verdict::kVague && fit.waits) result.at_most = result.high;
  return result;
}

class Calibrator {
 public:
  Calibrator(std::span<const MeasuredPoint> points, const machine::Platform& base)
      : points_(points), reading_(reading_of(points, base.poll_batch)) {
    result_.platform = base;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].kind != PointKind::kBehind) place_.push_back(i);
    }
    // Sums round by the order of their terms, and what is found shall not go by that of the lines.
    // Repetitions keep theirs: by the seconds, long streams would no more be held against any
    // short.
    std::stable_sort(place_.begin(), place_.end(), [&](std::size_t a, std::size_t b) {
      const auto setting = [&](std::size_t i) {
        return std::tie(points[i].kind, points[i].bytes, points[i].messages);
      };
      return setting(a) < setting(b);
    });
    for (const std::size_t i : place_) linear_.push_back(points[i]);
    if (linear_.empty()) return;
    choice_ = choose(linear_, reading_);
    all_ = model_ = equations_of(linear_, choice_.attempt.paces, reading_);
    for (std::size_t i = 0; i < linear_.size(); ++i) point_of_row_.push_back(i);
    own_rows_ = linear_.size();
    heed_streams();
  }

  Calibration run() {
    for (std::size_t i = 0; i + 1 < kFigures; ++i) {
      result_.figures.push_back(figure_fit(static_cast<CalibratedFigure>(i)));
    }
    const bool wire = result_.of(CalibratedFigure::kRate).verdict == Verdict::kMeasured;
    const InterleaveFit interleave =
        fit_interleave(points_, wire ? choice_.attempt.x(Unknown::kByte) : 0);
    result_.figures.push_back(fit_of_interleave(interleave));
    if (choice_.undecided) result_.small_stream_pace_s = choice_.attempt.x(Unknown::kGap);
    bound_paces();
    set_measured(result_.platform, result_.figures);
    describe_points(interleave);
    describe_kinds();
    describe_contradiction();
    return std::move(result_);
  }

 private:
  const RobustFit& fit() const { return choice_.attempt.fit; }

  // Fits anew if what streams say of the rate excludes what all points together say, and these
  // exclude that, or know less.
  void heed_streams() {
    const std::size_t j = index_of(Unknown::kByte);
    if (!fit().known(j)) return;
    const auto differences = stream_differences(linear_, choice_.attempt.paces);
    const auto streams = stream_pace(differences);
    const double all = fit().x[j];
    if (!streams || (streams->low <= all && all <= streams->high)) return;
    const double low = fit().low[j], high = fit().high[j];
    const bool holds_streams = low <= streams->byte_s && streams->byte_s <= high;
    if (holds_streams && high - low <= streams->high - streams->low) return;
    result_.contradiction = {1 / all, 1 / high, 1 / low};
    KeptEquations kept = kept_equations(linear_, model_, differences, streams->byte_s);
    std::vector<double> start = fit().x;
    start[j] = streams->byte_s;
    choice_.attempt.fit = robust_fit(kept.model, start);
    model_ = std::move(kept.model);
    point_of_row_ = std::move(kept.points);
    own_rows_ = kept.own;
  }

  FigureFit figure_fit(CalibratedFigure figure) const {
    const std::size_t j = index_of(*unknown_of(figure));
    FigureFit result;
    result.figure = figure;
    if (reading_.within[j]) {
      result.verdict = Verdict::kWithin;
      return result;
    }
    double share = 0;  // the most that one unit of it makes of a point
    for (std::size_t i = 0; i < model_.rows(); ++i) {
      const double times = model_.row(i)[j];
      if (times == 0 || fit().weight[i] == 0) continue;
      ++result.points;
      share = std::max(share, times / model_.observed[i]);
    }
    if (result.points == 0) return result;
    if (choice_.undecided &&
        (figure == CalibratedFigure::kPost || figure == CalibratedFigure::kGap)) {
      result.verdict = Verdict::kUndecided;
      return result;
    }
    const std::uint64_t others = fit().entangled[j] & ~(std::uint64_t{1} << j);
    for (std::size_t k = 0; k < kUnknowns; ++k) {
      if ((others >> k & 1) != 0) result.together_with.push_back(static_cast<CalibratedFigure>(k));
    }
    result.verdict = others != 0       ? Verdict::kTogether
                     : !fit().known(j) ? Verdict::kNoPoints
                                       : quality(j, share, is_rate(figure));
    if (figure == CalibratedFigure::kGap && result.verdict == Verdict::kMeasured &&
        wire_explains_gap()) {
      result.verdict = Verdict::kNoPoints;
      result.points = 0;
      result.at_most = fit().high[j];
      return result;
    }
    if (result.verdict == Verdict::kOnePoint) {
      result.rests_on = place_[point_of_row_[fit().rests_on[j]]];
    }
    if (!fit().known(j)) return result;
    const bool rate = is_rate(figure);
    if (figure == CalibratedFigure::kRate && result_.contradiction) {
      const double byte_s = fit().x[j];
      result.value = 1 / byte_s;
      result.low = 1 / std::max(fit().high[j], byte_s * (1 + kStreamsWithin));
      result.high = 1 / std::min(fit().low[j], byte_s * (1 - kStreamsWithin));
      return result;
    }
    result.value = rate ? 1 / fit().x[j] : fit().x[j];
    result.low = rate ? 1 / fit().high[j] : fit().low[j];
    result.high = rate ? 1 / fit().low[j] : fit().high[j];
    return result;
  }

  // Whether even the smallest messages that the gap is taken to pace may need as long on the wire:
  // then the gap may be anything below.
  bool wire_explains_gap() const {
    std::uint64_t least = Paces::kNever;
    for (const MeasuredPoint& point : linear_) {
      if (is_paced(point) && choice_.attempt.paces.of(point) == Pace::kGap) {
        least = std::min(least, point.bytes);
      }
    }
    return least != 0 && !gap_exceeds(fit(), Unknown::kByte, static_cast<double>(least));
  }

  Verdict quality(std::size_t j, double share, bool rate) const {
    const double value = fit().x[j];
    const auto good = [&](double error) {
      const double half = t_quantile_95(fit().freedom[j]) * error;
      if (!std::isfinite(half)) return false;
      return half <= kKnownWithin * value || (!rate && share * (value + half) <= kNegligible);
    };
    if (!good(fit().standard_error[j]) || (rate && 8 / value > kMaxRate)) return Verdict::kVague;
    return good(fit().standard_error_without[j]) ? Verdict::kMeasured : Verdict::kOnePoint;
  }

  // What streams and bursts say of a figure that did not pace them: it is no longer than what did.
  void bound_paces() {
    FigureFit& post = result_.figures[static_cast<std::size_t>(CalibratedFigure::kPost)];
    FigureFit& gap = result_.figures[static_cast<std::size_t>(CalibratedFigure::kGap)];
    const FigureFit& rate = result_.of(CalibratedFigure::kRate);
    const double gap_pace =
        gap.verdict == Verdict::kMeasured ? gap.high : gap.at_most.value_or(kInfinite);
    const auto lower = [](std::optional<double>& bound, double value) {
      bound = bound ? std::min(*bound, value) : value;
    };
    for (const MeasuredPoint& point : points_) {
      if (!is_paced(point)) continue;
      const bool stream = point.kind == PointKind::kStream;
      const Pace pace = choice_.attempt.paces.of(point);
      double at_most = kInfinite;
      if (pace == Pace::kWire && rate.verdict == Verdict::kMeasured) {
        at_most = static_cast<double>(point.bytes) / rate.low;
      } else if (pace == Pace::kPost && post.verdict == Verdict::kMeasured) {
        at_most = post.high;
      } else if (pace == Pace::kGap) {
        at_most = gap_pace;
      }
      if (!std::isfinite(at_most)) continue;
      if (gap.verdict != Verdict::kMeasured) lower(gap.at_most, at_most);
      if (stream && post.verdict != Verdict::kMeasured) lower(post.at_most, at_most);
    }
  }

  void describe_points(const InterleaveFit& interleave) {
    const Unknowns figures = unknowns_of(result_.platform);
    result_.points.resize(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].kind == PointKind::kBehind) result_.points[i].weight = !interleave.odd[i];
    }
    std::vector<double> sizes;
    for (std::size_t k = 0; k < linear_.size(); ++k) {
      PointFit& point = result_.points[place_[k]];
      point.fitted_s = dot(all_.row(k), fit().x);
      point.platform_s = predicted_s(linear_[k], figures, result_.platform.poll_batch);
      point.relative = linear_[k].seconds / point.fitted_s - 1;
      point.left_out = true;
    }
    for (std::size_t row = 0; row < own_rows_; ++row) {
      const std::size_t k = point_of_row_[row];
      PointFit& point = result_.points[place_[k]];
      point.left_out = false;
      point.weight = fit().weight[row];
      if (point.weight == 0) continue;
      sizes.push_back(std::abs(point.relative));
      if (sizes.back() >= result_.worst_relative) {
        result_.worst_relative = sizes.back();
        result_.worst = place_[k];
      }
    }
    result_.median_relative = median(std::move(sizes));
    result_.outliers = static_cast<std::size_t>(
        std::count_if(result_.points.begin(), result_.points.end(),
                      [](const PointFit& point) { return point.weight == 0 && !point.left_out; }));
  }

  void describe_kinds() {
    for (int k = 0; k < kPointKinds; ++k) {
      KindFit kind;
      kind.kind = static_cast<PointKind>(k);
      std::vector<double> sizes;
      std::vector<double> off;
      for (std::size_t i = 0; i < points_.size(); ++i) {
        if (points_[i].kind != kind.kind) continue;
        const PointFit& point = result_.points[i];
        ++kind.points;
        if (point.left_out) {
          ++kind.left_out;
          continue;
        }
        if (point.weight == 0) ++kind.outliers;
        if (point.weight == 0 || kind.kind == PointKind::kBehind) continue;
        sizes.push_back(std::abs(point.relative));
        off.push_back(point.platform_s / points_[i].seconds - 1);
      }
      kind.median_relative = median(std::move(sizes));
      kind.platform_off = median(std::move(off));
      if (kind.points != 0) result_.kinds.push_back(kind);
    }
  }

  // How far those that were left out are from what the platform says.
  void describe_contradiction() {
    if (!result_.contradiction) return;
    std::vector<double> off;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const PointFit& point = result_.points[i];
      if (point.left_out) off.push_back(points_[i].seconds / point.platform_s - 1);
    }
    result_.contradiction->left_out = off.size();
    if (off.empty()) return;
    std::sort(off.begin(), off.end());
    const std::size_t tenth = off.size() / 10;
    result_.contradiction->off_low = off[tenth];
    result_.contradiction->off_high = off[off.size() - 1 - tenth];
  }

  static double median(std::vector<double> values) {
    return values.empty() ? 0 : base::value_at(values, values.size() / 2);
  }

  static constexpr double kMaxRate = 1e18;  // bits per second

  std::span<const MeasuredPoint> points_;
  Reading reading_;
  std::vector<MeasuredPoint> linear_;  // those that have equations…
  std::vector<std::size_t> place_;     // …and where they stand in points_
  Choice choice_;
  LinearModel all_;                        // an equation for each of linear_
  LinearModel model_;                      // those that were fitted…
  std::vector<std::size_t> point_of_row_;  // …and whose each is, in linear_:
  std::size_t own_rows_ = 0;               // so many, and then differences of two
  Calibration result_;
};

}  // namespace

std::string_view name(CalibratedFigure figure) { return kNames[figure]; }

Calibration calibrate(std::span<const MeasuredPoint> points, const machine::Platform& base) {
  if (points.empty()) throw InputError("calibration: no points; expected one or more");
  return Calibrator(points, base).run();
}

}  // namespace slackline::analysis
