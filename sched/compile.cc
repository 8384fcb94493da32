#include "sched/compile.h"

namespace slackline::sched {

Schedule compile(const Spec& spec) {
  // The passes, in their order. What another pass takes further is a draft.
  const Plan plan = plan_of(spec);
  if (spec.credits.ready == Ready::kNone) return lower_transfers(plan, spec.transfers);
  return lower_credits(draft_transfers(plan, spec.transfers), spec.credits);
}

}  // namespace slackline::sched
