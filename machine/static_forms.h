// Static schedules out of dynamic ones: what one seed makes of it, what a trace says that ran, and
// the best that can happen.
#pragma once

#include "sched/pass/unroll.h"
#include "sched/trace.h"

namespace slackline::machine {

/// What runs with this seed. Throws Unsupported, naming the region, where an outcome is actual,
/// since only a run can tell; and what sched::unroll() throws.
sched::Unrolled unroll(const sched::Schedule& schedule, std::uint64_t seed,
                       const sched::MemoryLimit& memory = {});

/// What ran: sampled outcomes are drawn again, actual ones follow from how often operations ran,
/// and addresses become fixed where their operand is the result of an operation that ran once.
/// Throws InputError for a trace of another schedule or an incomplete one, Unsupported where the
/// trace leaves it open: an actual region that its rank comes to several times with several
/// outcomes.
sched::Unrolled realise(const sched::Schedule& schedule, const sched::Trace& trace);

/// The least that can run: every retry succeeds at once, and no alt is taken that may not be.
sched::Unrolled best_case(const sched::Schedule& schedule);

}  // namespace slackline::machine
