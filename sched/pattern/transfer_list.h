// A pattern that is told transfer by transfer, by somebody else's program.
#pragma once

#include <vector>

#include "sched/pattern/pattern.h"
#include "sched/plan.h"

namespace slackline::sched {

/// The plan of these transfers, in any order, of the options' root, without a title. Throws
/// InputError for options out of their range, and, naming the transfer, for a rank or block that
/// there is not, for one from a rank to itself, and where a rank passes on a block that did not
/// reach it at an earlier step. Whether every rank gets every block is for the proof to say.
Plan plan_of_transfers(const MulticastOptions& options, std::vector<Transfer> transfers);

}  // namespace slackline::sched
