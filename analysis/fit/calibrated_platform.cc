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
  const auto measured = [&](CalibratedFigure figure) {
    return figures[static_cast<std::size_t>(figure)].verdict == Verdict::kMeasured;
  };
  for (const FigureFit& figure : figures) {
    if (figure.verdict == Verdict::kWithin) {
      // Until it was seen, whatever that took. Where no signal is known, a post has it.
      if (figure.figure == CalibratedFigure::kSignal && measured(CalibratedFigure::kPost)) {
        platform.o_signal = {};
      }
      if (!measured(CalibratedFigure::kComplete)) continue;
      if (figure.figure == CalibratedFigure::kMatch) platform.o_match = {};
      if (figure.figure == CalibratedFigure::kPoll) {
        platform.o_poll = {};
        platform.poll_batch = 1;
      }
    }
    if (figure.verdict != Verdict::kMeasured) continue;
    switch (figure.figure) {
      case CalibratedFigure::kPost:
        // Whoever else had the queue pair.
        platform.o_post = time(figure.value);
        platform.node.qp_sharer = platform.node.qp_lock = {};
        break;
      case CalibratedFigure::kComplete:
        platform.o_complete = time(figure.value);
        // Whoever saw it, that took so long.
        platform.service_thread = false;
        platform.switch_cost = {};
        break;
      case CalibratedFigure::kGap:
        platform.gap = time(figure.value);
        break;
      case CalibratedFigure::kLatency:
        // With all that an acknowledgement takes on its way back, wherever the NICs are.
        platform.latency = time(figure.value);
        platform.node.numa_hop = {};
        platform.hosts.latency = {};
        platform.ack_bytes = 0;
        break;
      case CalibratedFigure::kRate:
        // What was measured is what messages get.
        platform.rate = bits_per_second(figure.value);
        platform.hosts.rate = {};
        platform.framing = {};
        platform.pcie = {};
        break;
      case CalibratedFigure::kAtomicService:
        // From the request's arrival to the answer, whatever that took.
        platform.atomic_service = time(figure.value);
        platform.nic_read = {};
        break;
      case CalibratedFigure::kCopyRate:
        platform.copy_rate = bits_per_second(figure.value);
        break;
      case CalibratedFigure::kCopyStart:
        break;
      case CalibratedFigure::kPostRecv:
        platform.o_post_recv = time(figure.value);
        break;
      case CalibratedFigure::kSignal:
        platform.o_signal = time(figure.value);
        break;
      case CalibratedFigure::kPoll:
        platform.o_poll = time(figure.value);
        break;
      case CalibratedFigure::kMatch:
        platform.o_match = time(figure.value);
        break;
      case CalibratedFigure::kInterleave:
        platform.interleave_bytes = static_cast<std::uint64_t>(figure.value);
        break;
    }
  }
}

}  // namespace slackline::analysis
