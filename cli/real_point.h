// A study's point carried out for real.
#pragma once

#include "sweep/outcome.h"
#include "sweep/point.h"

namespace slackline::cli {

/// What `slackline run` says of the point, as another process: its ranks are processes of this
/// machine, over the transport that its engine names (`run:tcp`; `run` alone: the one that `run`
/// takes). Its samples are iterations.
sweep::PointOutcome run_point(const sweep::Point& point);

}  // namespace slackline::cli
