#include "analysis/fit/robust_fit.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "analysis/fit/weighted_rows.h"
#include "base/statistics.h"

namespace slackline::analysis {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kTukey = 4.685;
constexpr double kNormalMedian = 0.6745;  // of |normal|, in standard deviations
constexpr double kSmallestScale = 1e-12;  // rounding; what is exact must not weigh infinitely
constexpr double kScaleSpread = 0.1;      // a clock that ticks slowly shows no spread at all
constexpr double kLeastShare = 1e-3;      // of what was observed, that a row is taken to predict
constexpr double kRankTolerance = 1e-9;   // of the largest singular value, columns scaled to 1
constexpr double kEntangled = 1e-6;       // of a unit vector that the rows do not see
constexpr std::size_t kOwnScale = 8;      // rows of a group with a scale of its own
constexpr std::uint32_t kShared = 64;     // the group of those with fewer
constexpr std::uint32_t kAll = 65;        // every group
constexpr int kScaleRounds = 4;
constexpr int kReweightings = 40;
constexpr double kLeastSlope = 0.2;      // of Tukey's ψ on average: 0.76 for normal errors
constexpr double kIrreplaceable = 1e-7;  // 1 − leverage of a row without which something is lost
constexpr double kNegligible = 1e-12;    // of the largest share in a variance

// Of all but the least `without`.
double median(std::vector<double> values, std::size_t without) {
  if (values.size() <= without) return 0;
  return base::value_at(values, without + (values.size() - without) / 2);
}

// What the weighted rows say of the columns: their singular value decomposition.
struct Knowledge {
  MatrixXd sight;     // rows × rank: orthonormal columns
  MatrixXd inverse;   // columns × rank: x = inverse · sightᵀ · y, in the units of x
  MatrixXd unseen;    // columns × (columns − rank): orthonormal directions that no row sees
  VectorXd leverage;  // per row

  explicit Knowledge(const WeightedRows& w) {
    const MatrixXd r = triangle(w).topLeftCorner(w.a.cols(), w.a.cols());
    const Eigen::JacobiSVD<MatrixXd> svd(r, Eigen::ComputeFullV);
    const VectorXd& sigma = svd.singularValues();
    Index rank = 0;
    while (rank < sigma.size() && sigma(rank) > kRankTolerance * sigma(0)) ++rank;
    const MatrixXd v = svd.matrixV().leftCols(rank);
    const VectorXd scale = sigma.head(rank).cwiseInverse();
    sight = w.a * v * scale.asDiagonal();
    inverse = w.length.cwiseInverse().asDiagonal() * v * scale.asDiagonal();
    unseen = svd.matrixV().rightCols(v.rows() - rank);
    leverage = sight.rowwise().squaredNorm();
  }
};

// Tukey's biweight of residuals in units of their scale.
double biweight(double u) {
  const double t = u / kTukey;
  return std::abs(t) >= 1 ? 0 : (1 - t * t) * (1 - t * t);
}
double biweight_slope(double u) {  // of u · biweight(u)
  const double t = u / kTukey;
  return std::abs(t) >= 1 ? 0 : (1 - t * t) * (1 - 5 * t * t);
}

// Where the reweighting stands.
class Reweighting {
 public:
  Reweighting(const LinearModel& model, std::span<const double> start)
      : model_(model), x(start.begin(), start.end()) {
    std::vector<std::size_t> size(kShared, 0);
    for (const std::uint32_t g : model.group) ++size[g];
    for (const std::uint32_t g : model.group) group.push_back(size[g] >= kOwnScale ? g : kShared);
    shared_rows_ = static_cast<std::size_t>(std::count(group.begin(), group.end(), kShared));
    predict();
  }

  void run() {
    std::vector<double> spread;
    for (const double r : relative) spread.push_back(std::abs(r));
    // The start passes through as many rows as it has unknowns: those say nothing of errors.
    const auto met = std::count_if(x.begin(), x.end(), [](double value) { return value > 0; });
    for (int round = 0; round < kScaleRounds; ++round) {
      estimate_scale(spread, round == 0 ? static_cast<double>(met) : 0);
      for (int i = 0; i < kReweightings && !improve(); ++i) {
      }
      const Knowledge known{WeightedRows(model_, row_weight())};
      for (std::size_t i = 0; i < spread.size(); ++i) {
        const double free = 1 - known.leverage(static_cast<Index>(i));
        spread[i] = free < 1e-8 ? 0 : std::abs(relative[i]) / std::sqrt(free);
      }
    }
  }

  // 1 / variance, times Tukey's weight.
  std::vector<double> row_weight() const {
    std::vector<double> result(model_.rows());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double deviation = reference_[i] * scale[i];
      result[i] = weight[i] / (deviation * deviation);
    }
    return result;
  }

  bool shares_all() const { return shared_rows_ < kOwnScale; }

 private:
  void predict() {
    const std::size_t rows = model_.rows();
    fitted.resize(rows);
    reference_.resize(rows);
    relative.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      fitted[i] = dot(model_.row(i), x);
      reference_[i] = std::max(fitted[i], kLeastShare * model_.observed[i]);
      relative[i] = (model_.observed[i] - fitted[i]) / reference_[i];
    }
  }

  // By the median of each group's spread, without the least `met` of all rows.
  void estimate_scale(const std::vector<double>& spread, double met) {
    const auto of = [&](std::uint32_t wanted) {
      std::vector<double> values;
      for (std::size_t i = 0; i < spread.size(); ++i) {
        if (wanted == kAll || group[i] == wanted) values.push_back(spread[i]);
      }
      const double share = static_cast<double>(values.size()) / static_cast<double>(spread.size());
      return median(std::move(values), static_cast<std::size_t>(std::ceil(met * share))) /
             kNormalMedian;
    };
    const double all = of(kAll);
    std::vector<double> by_group(kShared + 1, -1);
    scale.resize(spread.size());
    for (std::size_t i = 0; i < spread.size(); ++i) {
      double& s = by_group[group[i]];
      if (s < 0) {
        s = group[i] == kShared && shares_all() ? all : of(group[i]);
        s = std::max({s, kScaleSpread * all, kSmallestScale});
      }
      scale[i] = s;
    }
  }

  // One reweighting; true if it changed nothing to speak of.
  bool improve() {
    weight.resize(model_.rows());
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = biweight(relative[i] / scale[i]);
    const std::vector<double> before = fitted;
    x = non_negative_least_squares(model_, row_weight());
    predict();
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (std::abs(fitted[i] - before[i]) > 1e-3 * scale[i] * reference_[i]) return false;
    }
    return true;
  }

  const LinearModel& model_;
  std::vector<double> reference_;  // what errors are in proportion to
  std::size_t shared_rows_ = 0;

 public:
  std::vector<double> x;
  std::vector<double> fitted;
  std::vector<double> relative;  // (observed − fitted) / reference
  std::vector<double> weight;
  std::vector<double> scale;
  std::vector<std::uint32_t> group;  // that its scale is of
};

// The variance of a group's standardised errors, as the weighted normal equations see it (Huber,
// Robust Statistics, section 7.6), and the degrees of freedom behind it.
struct GroupVariance {
  double variance = kInfinite;
  double freedom = 0;
};

// What a fit says of its unknowns.
class Judgement {
 public:
  Judgement(const LinearModel& model, const Reweighting& fit)
      : model_(model),
        fit_(fit),
        rows_(model, fit.row_weight()),
        known_(rows_),
        inverse_(known_.inverse * known_.sight.transpose()),
        free_x_(inverse_ * rows_.y) {
    const GroupVariance all = variance_of(kAll);
    determined_ = all.freedom >= 1;
    groups_.assign(kAll + 1, all);
    source_.assign(kAll + 1, kAll);
    for (std::uint32_t g = 0; g <= kShared; ++g) {
      const GroupVariance own = variance_of(g);
      if (own.freedom < 1 || (g == kShared && fit.shares_all())) continue;
      groups_[g] = own;
      source_[g] = g;
    }
  }

  void write(RobustFit& result) const {
    const std::size_t columns = model_.columns;
    result.low.assign(columns, 0);
    result.high.assign(columns, kInfinite);
    result.standard_error.assign(columns, kInfinite);
    result.standard_error_without.assign(columns, kInfinite);
    result.freedom.assign(columns, 0);
    result.rests_on.assign(columns, 0);
    result.covariance.assign(columns * columns, kInfinite);
    result.entangled = entangled();
    if (!determined_) return;
    for (std::size_t j = 0; j < columns; ++j) {
      if (!result.known(j)) continue;
      write_column(j, result);
      for (std::size_t k = 0; k < columns; ++k) {
        if (result.known(k)) result.covariance[j * columns + k] = covariance(j, k);
      }
    }
  }

 private:
  GroupVariance variance_of(std::uint32_t wanted) const {
    double kept = 0;
    double leverage = 0;
    double squares = 0;
    double weights = 0;
    double slopes = 0;
    for (std::size_t i = 0; i < model_.rows(); ++i) {
      if (fit_.weight[i] == 0 || (wanted != kAll && fit_.group[i] != wanted)) continue;
      const double u = fit_.relative[i] / fit_.scale[i];
      kept += 1;
      leverage += known_.leverage(static_cast<Index>(i));
      squares += std::pow(u * biweight(u), 2);
      weights += biweight(u);
      slopes += biweight_slope(u);
    }
    GroupVariance result;
    result.freedom = kept - leverage;
    if (result.freedom < 1) return result;
    const double slope = std::max(slopes / kept, kLeastSlope);
    result.variance = squares / result.freedom * (weights / kept) / (slope * slope);
    return result;
  }

  std::vector<std::uint64_t> entangled() const {
    const MatrixXd both = known_.unseen * known_.unseen.transpose();
    std::vector<std::uint64_t> masks(model_.columns, 0);
    for (Index j = 0; j < both.rows(); ++j) {
      if (std::sqrt(both(j, j)) < kEntangled) continue;
      for (Index k = 0; k < both.cols(); ++k) {
        if (k == j || std::abs(both(j, k)) > kEntangled) {
          masks[static_cast<std::size_t>(j)] |= std::uint64_t{1} << k;
        }
      }
    }
    return masks;
  }

  double covariance(std::size_t j, std::size_t k) const {
    double sum = 0;
    for (std::size_t i = 0; i < model_.rows(); ++i) sum += share(j, i) * share(k, i) * variance(i);
    return sum;
  }

  void write_column(std::size_t j, RobustFit& result) const {
    std::vector<double> part(kAll + 1, 0);  // of the variance, by whose estimate it is
    double dearest = 0;
    double most = 0;
    for (std::size_t i = 0; i < model_.rows(); ++i) {
      const double own = share(j, i) * share(j, i) * variance(i);
      part[source_[fit_.group[i]]] += own;
      most = std::max(most, own);
    }
    double total = 0;
    double spread = 0;
    for (std::size_t g = 0; g < part.size(); ++g) {
      total += part[g];
      if (part[g] > 0) spread += part[g] * part[g] / groups_[g].freedom;
    }
    for (std::size_t i = 0; i < model_.rows(); ++i) {
      const double own = share(j, i) * share(j, i) * variance(i);
      if (own <= kNegligible * most) continue;
      // Sherman and Morrison: what the variance would grow by without the row.
      const double left = 1 - known_.leverage(static_cast<Index>(i));
      const double dear = left < kIrreplaceable ? kInfinite : own / left;
      if (dear > dearest) {
        dearest = dear;
        result.rests_on[j] = i;
      }
    }
    result.standard_error[j] = std::sqrt(total);
    result.standard_error_without[j] = std::sqrt(total + dearest);
    result.freedom[j] = spread > 0 ? total * total / spread : groups_[kAll].freedom;
    // Around the solution without bounds, which is unbiased: that it could not be taken where it
    // is negative makes no value more certain.
    const double half = t_quantile_95(result.freedom[j]) * result.standard_error[j];
    const double centre = free_x_(static_cast<Index>(j));
    result.low[j] = std::max(0.0, std::min(fit_.x[j], centre - half));
    result.high[j] = std::max(fit_.x[j], centre + half);
  }

  // How far row i, standardised, moves x_j.
  double share(std::size_t j, std::size_t i) const {
    return inverse_(static_cast<Index>(j), static_cast<Index>(i));
  }
  double variance(std::size_t i) const { return groups_[fit_.group[i]].variance; }

  const LinearModel& model_;
  const Reweighting& fit_;
  WeightedRows rows_;
  Knowledge known_;
  MatrixXd inverse_;  // columns × rows
  VectorXd free_x_;   // without bounds
  bool determined_ = false;
  std::vector<GroupVariance> groups_;
  std::vector<std::uint32_t> source_;  // whose variance a group takes: its own, or that of all
};

}  // namespace

RobustFit robust_fit(const LinearModel& model, std::span<const double> start) {
  Reweighting fit(model, start);
  fit.run();
  RobustFit result;
  Judgement(model, fit).write(result);
  result.x = std::move(fit.x);
  result.fitted = std::move(fit.fitted);
  result.weight = std::move(fit.weight);
  result.scale = std::move(fit.scale);
  return result;
}

double t_quantile_95(double freedom) {
  if (!(freedom >= 1)) return kInfinite;
  return boost::math::quantile(boost::math::students_t(freedom), 0.975);
}

}  // namespace slackline::analysis
