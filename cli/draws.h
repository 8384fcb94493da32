// Whether anything of a run is drawn at random, so that its seed matters.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/console.h"
#include "machine/delay_plan.h"
#include "sched/schedule.h"

namespace slackline::cli {

/// Some noise is not always the same.
bool draws_noise(const machine::DelayPlan& delays);
/// Some region is repeated or taken by chance.
bool draws_outcomes(const sched::Schedule& schedule);

/// Either of them.
bool draws(const machine::DelayPlan& delays, const sched::Schedule& schedule);

/// Refuses more than one sample of a run that draws nothing: they would all be the same. Throws
/// InputError.
void require_draws(std::uint32_t samples, bool draws);

/// Notes that a seed that was given changes nothing, if the run draws nothing.
void note_unused_seed(const std::optional<std::uint64_t>& given, bool draws, Console& console);

}  // namespace slackline::cli
