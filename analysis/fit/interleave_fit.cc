#include "analysis/fit/interleave_fit.h"

#include <map>

namespace slackline::analysis {
namespace {

constexpr std::size_t kEnough = 3;  // points of one size, so that one of them may be odd

struct Votes {
  std::size_t waited = 0;
  std::size_t all = 0;
  bool waits() const { return 2 * waited > all; }
};

bool waited(const MeasuredPoint& point, double byte_s) {
  const double ahead = static_cast<double>(point.messages) * static_cast<double>(kAheadBytes);
  return point.seconds > (static_cast<double>(point.bytes) + ahead / 2) * byte_s;
}

}  // namespace

InterleaveFit fit_interleave(std::span<const MeasuredPoint> points, double byte_s) {
  InterleaveFit fit;
  std::map<std::uint64_t, Votes> sizes;
  for (const MeasuredPoint& point : points) {
    if (point.kind != PointKind::kBehind) continue;
    ++fit.points;
    if (byte_s <= 0) continue;
    Votes& votes = sizes[point.bytes];
    ++votes.all;
    if (waited(point, byte_s)) ++votes.waited;
  }
  for (const MeasuredPoint& point : points) {
    fit.odd.push_back(byte_s > 0 && point.kind == PointKind::kBehind &&
                      waited(point, byte_s) != sizes[point.bytes].waits());
  }
  for (const auto& [bytes, votes] : sizes) {
    if (votes.all < kEnough || 2 * votes.waited == votes.all) continue;
    if (!votes.waits()) fit.travels = bytes;
    if (votes.waits() && !fit.waits) fit.waits = bytes;
  }
  if (fit.travels && fit.waits && *fit.travels > *fit.waits) fit.travels = fit.waits = std::nullopt;
  return fit;
}

}  // namespace slackline::analysis
