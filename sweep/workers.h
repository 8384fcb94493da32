// Points answered by several processes of this machine at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sweep/outcome.h"
#include "sweep/point.h"

namespace slackline::sweep {

/// Calls `take` with the index and the answer of each point, in no particular order, in this
/// process. The points are answered in `jobs` forked processes, since SimGrid wants one of its own,
/// and since a point that ends its process takes no other with it: its answer says how it ended.
/// `wait` is called when nothing has come for a while, and after what came was taken. Not for a
/// process with threads. Throws EnvironmentError if no process can be made, and what `take` and
/// `wait` do.
void answer_all(std::span<const Point> points, std::uint32_t jobs,
                const std::function<void(std::size_t index, const PointOutcome& answer)>& take,
                const std::function<void()>& wait);

}  // namespace slackline::sweep
