// The fast engine for a star: one pass of longest path over program order.
#pragma once

#include <optional>

#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Times of every operation under the assumption that each CPU lane posts in program order, each
/// NIC sends in program order and no two messages meet at an in-port; and in the same pass the
/// check that this is what the machine model does. Nothing if it is not: then only the event engine
/// knows. For fair NICs every message has its full rate, and `contended` says whether two large
/// ones shared a port. Gets and atomics, which use their target's ports, and nodes of
/// several ranks, whose messages meet at one port, are left to the event engine.
std::optional<sched::Trace> longest_path(const machine::Setting& setting);

}  // namespace slackline::analysis
