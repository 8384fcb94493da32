// lower_credits() of a draft that nobody else needs.
#pragma once

#include "sched/pass/lower_credits.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// As lower_credits() has it. Gives the draft's memory back as it goes: it and the schedule that
/// comes of it are never both there as a whole.
Schedule lower_credits_of_draft(Schedule&& draft, const CreditOptions& options);

}  // namespace slackline::sched
