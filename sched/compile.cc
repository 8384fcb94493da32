#include "sched/compile.h"

namespace slackline::sched {

Schedule compile(const Spec& spec) {
  // The passes, in their order.
  Schedule schedule = lower_transfers(plan_of(spec), spec.transfers);
  if (spec.credits.ready == Ready::kNone) return schedule;
  return lower_credits(schedule, spec.credits);
}

}  // namespace slackline::sched
