#include "analysis/fit/stream_differences.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "analysis/fit/linear_model.h"
#include "analysis/fit/robust_fit.h"

namespace slackline::analysis {
namespace {

constexpr std::uint64_t kLonger = 4;
constexpr std::size_t kFewest = 8;
constexpr double kAgree = 0.02;
constexpr double kGoodPart = 0.05;
// Of differences, beside the kinds of points.
constexpr std::uint32_t kGroup = 63;

// Those of one kind, by the bytes of a whole stream.
using BySize = std::map<std::uint64_t, std::vector<std::size_t>>;

}  // namespace

std::vector<StreamDifference> stream_differences(std::span<const MeasuredPoint> points,
                                                 const Paces& paces) {
  std::map<PointKind, BySize> kinds;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const MeasuredPoint& point = points[i];
    if (!is_paced(point) || paces.of(point) != Pace::kWire) continue;
    kinds[point.kind][point.bytes * point.messages].push_back(i);
  }
  std::uint64_t longest = 0;
  for (const auto& [kind, sizes] : kinds) longest = std::max(longest, sizes.rbegin()->first);
  std::vector<StreamDifference> differences;
  for (const auto& [kind, sizes] : kinds) {
    // The longest of those that are short beside the longest.
    const auto after = sizes.upper_bound(longest / kLonger);
    if (after == sizes.begin()) continue;
    const auto& [fewest, shorter] = *std::prev(after);
    for (const auto& [bytes, longer] : sizes) {
      if (bytes < longest / 2) continue;
      for (std::size_t k = 0; k < longer.size(); ++k) {
        const double more = points[longer[k]].seconds - points[shorter[k % shorter.size()]].seconds;
        // One of the two was held up.
        if (more <= 0) continue;
        differences.push_back({longer[k], static_cast<double>(bytes - fewest), more});
      }
    }
  }
  return differences;
}

std::optional<StreamPace> stream_pace(std::span<const StreamDifference> differences) {
  if (differences.size() < kFewest) return std::nullopt;
  LinearModel model;
  model.columns = 1;
  for (const StreamDifference& difference : differences) {
    model.coefficients.push_back(difference.bytes);
    model.observed.push_back(difference.seconds);
    model.group.push_back(kGroup);
  }
  const std::vector<double> once(differences.size(), 1.0);
  const RobustFit fit = robust_fit(model, least_absolute_fit(model, once));
  if (!fit.known(0)) return std::nullopt;
  const double byte_s = fit.x[0];
  if (!(fit.high[0] - fit.low[0] <= 2 * kAgree * byte_s)) return std::nullopt;
  return StreamPace{byte_s, std::min(fit.low[0], byte_s * (1 - kStreamsWithin)),
                    std::max(fit.high[0], byte_s * (1 + kStreamsWithin))};
}

KeptEquations kept_equations(std::span<const MeasuredPoint> points, const LinearModel& own,
                             std::span<const StreamDifference> differences, double byte_s) {
  constexpr std::size_t kByte = index_of(Unknown::kByte);
  KeptEquations kept{{own.columns, {}, {}, {}}, {}, 0};
  const auto add = [&](std::size_t point, std::span<const double> row, double seconds,
                       std::uint32_t group) {
    kept.model.coefficients.insert(kept.model.coefficients.end(), row.begin(), row.end());
    kept.model.observed.push_back(seconds);
    kept.model.group.push_back(group);
    kept.points.push_back(point);
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (own.row(i)[kByte] * byte_s > kGoodPart * points[i].seconds) continue;
    add(i, own.row(i), points[i].seconds, own.group[i]);
  }
  kept.own = kept.points.size();
  for (const StreamDifference& difference : differences) {
    Unknowns row{};
    row[kByte] = difference.bytes;
    add(difference.longer, row, difference.seconds, kGroup);
  }
  return kept;
}

}  // namespace slackline::analysis
