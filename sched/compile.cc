#include "sched/compile.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "sched/compose.h"
#include "sched/pass/add_barriers.h"
#include "sched/pass/lower_draft.h"
#include "sched/pass/stripe.h"

namespace slackline::sched {
namespace {

Schedule series_of(const Schedule& schedule, std::uint32_t messages) {
  Part part;
  part.schedule = &schedule;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) part.rank_of.emplace_back(r);
  std::vector<Part> parts(messages, part);
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i].after = i - 1;
  return compose(parts, schedule.rank_count(), schedule.title()).schedule;
}

// What another pass takes further is a draft, and the plan is not needed any more.
Schedule lowered(Plan&& plan, const Spec& spec) {
  if (spec.credits.ready == Ready::kNone) return lower_transfers(plan, spec.transfers);
  Schedule draft = draft_transfers(plan, spec.transfers);
  plan = Plan();
  return lower_credits_of_draft(std::move(draft), spec.credits);
}

Schedule compiled(Plan&& plan, const Spec& spec) {
  Schedule schedule = lowered(std::move(plan), spec);
  if (spec.order == Order::kLockstep) return add_barriers(schedule);
  return schedule;
}

}  // namespace

Plan plan_of(const Spec& spec) {
  const PatternEntry& pattern = pattern_named(spec.pattern);
  if (pattern.plan == nullptr) {
    throw InputError(
        fmt::format("{}: it has no blocks and steps; expected a pattern with them", spec.pattern));
  }
  Plan plan = pattern.plan(spec.multicast);
  plan.title = format_spec(spec);
  return plan;
}

Schedule compile_plan(const Plan& plan, const Spec& spec) { return compiled(Plan(plan), spec); }

void require_memory(const Spec& spec, const MemoryLimit& memory, std::uint64_t bytes_of_op) {
  const std::uint64_t ops = most_ops(spec);
  const PatternEntry& pattern = pattern_named(spec.pattern);
  if (pattern.plan == nullptr) {
    bytes_of_op = pattern.op_memory + (bytes_of_op - kMemoryOfOp) * 2 / 3;
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(ops, bytes_of_op, &bytes)) bytes = ~std::uint64_t{0};
  memory.require(
      bytes, fmt::format("{}: making up to {} operations", spec.pattern, ops),
      "larger blocks, fewer messages or ranks, or --memory SIZE if it fits all the same");
}

Schedule compile(const Spec& spec, const MemoryLimit& memory) {
  require_memory(spec, memory);
  const PatternEntry& pattern = pattern_named(spec.pattern);
  Schedule schedule =
      pattern.plan == nullptr ? pattern.schedule(spec) : compiled(plan_of(spec), spec);
  if (spec.stripes > 1) schedule = stripe(schedule, spec.stripes);
  const bool whole = spec.messages == 1 || (pattern.plan == nullptr && !pattern.one_message);
  return whole ? std::move(schedule) : series_of(schedule, spec.messages);
}

}  // namespace slackline::sched
