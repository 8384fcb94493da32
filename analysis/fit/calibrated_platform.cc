#include "analysis/fit/calibrated_platform.h"

#include <algorithm>
#include <cmath>

namespace slackline::analysis {
namespace {

constexpr double kMaxTime = 9e18;  // picoseconds

}  // namespace

void set_measured(machine::Platform& platform, std::span<const FigureFit> figures) {
  const auto time = [](double seconds) {
    return sched::Time{static_cast<std::int64_t>(std::min(seconds * 1e12, kMaxTime) + 0.5)};
  };
  const auto bits_per_second = [](double bytes_per_s) {
    return sched::Rate{static_cast<std::uint64_t>(std::llround(std::max(8 * bytes_per_s, 1.0)))};
  };
  for (const FigureFit& figure : figures) {
    if (figure.verdict != Verdict::kMeasured) continue;
    switch (figure.figure) {
      case CalibratedFigure::kPost:
        // Whatever a signal takes of it.
        platform.o_post = time(figure.value);
        platform.o_signal = {};
        break;
      case CalibratedFigure::kComplete:
        // Until it was seen, whatever that took.
        platform.o_complete = time(figure.value);
        platform.o_poll = platform.o_match = {};
        platform.poll_batch = 1;
        break;
      case CalibratedFigure::kGap:
        platform.gap = time(figure.value);
        break;
      case CalibratedFigure::kLatency:
        platform.latency = time(figure.value);
        break;
      case CalibratedFigure::kRate:
        // What was measured is what messages get.
        platform.rate = bits_per_second(figure.value);
        platform.framing = {};
        break;
      case CalibratedFigure::kAtomicService:
        platform.atomic_service = time(figure.value);
        break;
      case CalibratedFigure::kCopyRate:
        platform.copy_rate = bits_per_second(figure.value);
        break;
      case CalibratedFigure::kCopyStart:
        break;
      case CalibratedFigure::kInterleave:
        platform.interleave_bytes = static_cast<std::uint64_t>(figure.value);
        break;
    }
  }
}

}  // namespace slackline::analysis
