#include "cli/measured_points.h"

#include <algorithm>

#include "analysis/fit/standard_measurements.h"
#include "hw/leader.h"

namespace slackline::cli {

std::vector<analysis::MeasuredPoint> measure_points(hw::Mesh& mesh, hw::Transport& transport,
                                                    std::uint32_t repeats,
                                                    std::uint64_t memory_bytes, hw::Waiting waiting,
                                                    Console& console) {
  const analysis::MeasuringSchedule measuring = analysis::measuring_schedule(
      analysis::standard_measurements(repeats, transport.has_atomics(), memory_bytes),
      memory_bytes);
  hw::RunOptions options;
  options.prove = false;
  options.waiting = waiting;
  hw::Leader leader(mesh, transport);
  console.phase("measuring");
  const hw::RunResult result = leader.run(measuring.schedule, options);
  std::vector<analysis::MeasuredPoint> points =
      points_of(measuring, result.trace, analysis::Issued::kBeforeThePost);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].line = static_cast<std::uint32_t>(i + 2);
    points[i].seconds =
        std::clamp(points[i].seconds, analysis::kMinPointSeconds, analysis::kMaxPointSeconds);
  }
  return points;
}

}  // namespace slackline::cli
