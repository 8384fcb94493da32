#include "analysis/fit/calibration_paces.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace slackline::analysis {
namespace {

constexpr std::size_t kStarts = 9;
constexpr int kTurns = 16;
constexpr std::size_t kMostSettings = 4096;  // of so many, a pace shows as well as of all

// Repetitions as one point, and how many they were.
struct Medians {
  std::vector<MeasuredPoint> points;
  std::vector<double> times;
};

Medians medians_of(std::span<const MeasuredPoint> points) {
  std::map<std::tuple<PointKind, std::uint64_t, std::uint64_t>, std::vector<double>> settings;
  for (const MeasuredPoint& p : points) {
    settings[{p.kind, p.bytes, p.messages}].push_back(p.seconds);
  }
  Medians medians;
  const std::size_t stride = settings.size() / kMostSettings + 1;
  std::size_t number = 0;
  for (auto& [setting, seconds] : settings) {
    if (number++ % stride != 0) continue;
    std::sort(seconds.begin(), seconds.end());
    // The lower one of an even number: what is measured is rather too long than too short.
    MeasuredPoint point;
    std::tie(point.kind, point.bytes, point.messages) = setting;
    point.seconds = seconds[(seconds.size() - 1) / 2];
    medians.points.push_back(point);
    medians.times.push_back(static_cast<double>(seconds.size()));
  }
  return medians;
}

Unknowns figures_of(const std::vector<double>& x) {
  Unknowns figures{};
  std::copy(x.begin(), x.end(), figures.begin());
  return figures;
}

struct Turn {
  PacedFit fit;
  Paces next;  // that its figures lead to
};

Turn fit_under(const Medians& medians, const Paces& paces, std::span<const std::uint64_t> sizes,
               const Reading& reading) {
  Turn turn;
  turn.fit.paces = paces;
  turn.fit.x = least_absolute_fit(equations_of(medians.points, paces, reading), medians.times);
  turn.next = paces_under(figures_of(turn.fit.x), paces.posting, sizes);
  const LinearModel met = equations_of(medians.points, turn.next, reading);
  for (std::size_t i = 0; i < met.rows(); ++i) {
    turn.fit.loss += medians.times[i] * std::abs(1 - dot(met.row(i), turn.fit.x) / met.observed[i]);
  }
  return turn;
}

}  // namespace

Pace Paces::of(const MeasuredPoint& point) const {
  const bool stream = point.kind == PointKind::kStream;
  if (point.bytes >= (stream ? stream_wire : burst_wire)) return Pace::kWire;
  return stream && posting ? Pace::kPost : Pace::kGap;
}

LinearModel equations_of(std::span<const MeasuredPoint> points, const Paces& paces,
                         const Reading& reading) {
  LinearModel model;
  model.columns = kUnknowns;
  for (const MeasuredPoint& point : points) {
    const Unknowns row = row_of(point, paces.of(point), reading);
    model.coefficients.insert(model.coefficients.end(), row.begin(), row.end());
    model.observed.push_back(point.seconds);
    model.group.push_back(static_cast<std::uint32_t>(point.kind));
  }
  return model;
}

std::vector<std::uint64_t> paced_sizes(std::span<const MeasuredPoint> points) {
  std::vector<std::uint64_t> sizes;
  for (const MeasuredPoint& point : points) {
    if (is_paced(point)) sizes.push_back(point.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Paces paces_under(const Unknowns& figures, bool posting, std::span<const std::uint64_t> sizes) {
  const auto from = [&](double pace_s) {
    const auto found = std::find_if(sizes.begin(), sizes.end(), [&](std::uint64_t bytes) {
      return static_cast<double>(bytes) * figures[index_of(Unknown::kByte)] > pace_s;
    });
    return found == sizes.end() ? Paces::kNever : *found;
  };
  Paces paces;
  paces.posting = posting;
  paces.burst_wire = from(figures[index_of(Unknown::kGap)]);
  paces.stream_wire = posting ? from(figures[index_of(Unknown::kPost)]) : paces.burst_wire;
  return paces;
}

PacedFit find_paces(std::span<const MeasuredPoint> points, bool posting, const Reading& reading) {
  const Medians medians = medians_of(points);
  const std::vector<std::uint64_t> sizes = paced_sizes(medians.points);
  std::optional<PacedFit> best;
  std::vector<Paces> seen;
  const std::size_t starts = std::min(kStarts, sizes.size() + 1);
  for (std::size_t start = 0; start < starts; ++start) {
    const std::size_t place = starts < 2 ? 0 : sizes.size() * start / (starts - 1);
    Paces paces;
    paces.posting = posting;
    paces.stream_wire = paces.burst_wire = place < sizes.size() ? sizes[place] : Paces::kNever;
    for (int turn = 0; turn < kTurns; ++turn) {
      if (std::find(seen.begin(), seen.end(), paces) != seen.end()) break;
      seen.push_back(paces);
      Turn result = fit_under(medians, paces, sizes, reading);
      paces = result.next;
      if (!best || result.fit.loss < best->loss * (1 - 1e-9)) best = std::move(result.fit);
    }
  }
  return std::move(*best);
}

}  // namespace slackline::analysis
