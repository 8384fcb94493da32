// The analytic engine: the fast answer where its assumptions hold, the event engine's where not.
#pragma once

#include <optional>
#include <string>

#include "machine/engine.h"

namespace slackline::analysis {

/// The times of every operation, exact for serial NICs on a star; elsewhere `contended` in the
/// trace says if sharing was left out. The trace's engine is "longest-path" or "event": who
/// answered. Of a schedule with regions it is the best case (machine/static_forms.h) that is
/// priced, by either, and the engine is "best-case"; throws Unsupported for one with delays or by
/// slack.
sched::Trace run_analytic(const machine::Setting& setting);

extern const machine::Engine kAnalyticEngine;

}  // namespace slackline::analysis
