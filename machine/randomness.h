// Whether anything of a run is drawn at random, so that its seed matters.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/delay_plan.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Some noise is not always the same.
bool draws_noise(const DelayPlan& delays);
/// Some region is repeated or taken by chance.
bool draws_outcomes(const sched::Schedule& schedule);

/// Either of them.
bool draws(const DelayPlan& delays, const sched::Schedule& schedule);

/// Refuses more than one sample of a run that draws nothing: they would all be the same. Throws
/// InputError, which calls them `what`: "--samples".
void require_draws(std::uint32_t samples, bool draws, std::string_view what);

}  // namespace slackline::machine
