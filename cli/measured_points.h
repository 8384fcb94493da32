// Measured points, taken on this machine.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/fit/calibration_points.h"
#include "cli/console.h"
#include "hw/mesh.h"
#include "hw/run.h"
#include "hw/transport.h"

namespace slackline::cli {

/// Rank 0 of two measures, `repeats` times everything, in `memory_bytes`; both wait as `waiting`
/// says, and the other has to hw::follow(). `line` of a point is where write_points() puts it.
/// Throws as hw::Leader::run() does.
std::vector<analysis::MeasuredPoint> measure_points(hw::Mesh& mesh, hw::Transport& transport,
                                                    std::uint32_t repeats,
                                                    std::uint64_t memory_bytes, hw::Waiting waiting,
                                                    Console& console);

}  // namespace slackline::cli
