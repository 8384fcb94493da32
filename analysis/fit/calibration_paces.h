// Which figure paces each measured stream and burst: the one part of a calibration that is not
// linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/fit/calibration_model.h"
#include "analysis/fit/calibration_points.h"
#include "analysis/fit/linear_model.h"

namespace slackline::analysis {

/// As b / rate grows with b, messages from some size on are paced by the wire, and all smaller ones
/// by one and the same figure: of bursts the gap, of streams the larger of o_post and gap.
struct Paces {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  bool posting = false;                // streams of small messages: by o_post, not by gap
  std::uint64_t stream_wire = kNever;  // the least bytes of a stream that the wire paces
  std::uint64_t burst_wire = kNever;

  Pace of(const MeasuredPoint& point) const;
  friend bool operator==(const Paces&, const Paces&) = default;
};

/// The equations of the points under those paces; a group per kind. None of kBehind, which has
/// no equation.
LinearModel equations_of(std::span<const MeasuredPoint> points, const Paces& paces,
                         const Reading& reading = {});

/// The sizes of those points whose equation depends on a pace, each once, ascending.
std::vector<std::uint64_t> paced_sizes(std::span<const MeasuredPoint> points);

/// The paces that figures lead to, with `posting` as given: the wire's from the least of `sizes` on
/// that takes longer than what paces small messages.
Paces paces_under(const Unknowns& figures, bool posting, std::span<const std::uint64_t> sizes);

struct PacedFit {
  Paces paces;
  std::vector<double> x;  // the start of a robust fit
  double loss = 0;        // Σ |1 − predicted / measured|, with the paces that x leads to
};

/// The paces, with `posting` as given, under which the points are met best: from several starts,
/// fit and assign anew until nothing changes. Points of one kind, size and number enter by their
/// median; of some thousands of such settings, some thousands do. None of kBehind.
PacedFit find_paces(std::span<const MeasuredPoint> points, bool posting,
                    const Reading& reading = {});

}  // namespace slackline::analysis
