#include "sched/pattern/transfer_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"

namespace slackline::sched {
namespace {

std::string words(const Transfer& t) {
  return fmt::format("transfer ({}, {}, {}, {})", t.step, t.src.value, t.dst.value, t.block);
}

}  // namespace

Plan plan_of_transfers(const MulticastOptions& options, std::vector<Transfer> transfers) {
  Plan plan = empty_plan(options);
  plan.root = options.root;
  plan.transfers = std::move(transfers);
  std::ranges::sort(plan.transfers);
  // Since which step a rank has a block.
  std::map<std::pair<RankId, std::uint32_t>, std::uint32_t> held;
  for (const Transfer& t : plan.transfers) {
    if (t.src.value >= plan.ranks || t.dst.value >= plan.ranks || t.src == t.dst ||
        t.block >= plan.blocks || t.step == ~0u) {
      throw InputError(fmt::format(
          "{}: expected (step, src, dst, block) of two of {} ranks and one of {} blocks", words(t),
          plan.ranks, plan.blocks));
    }
    const auto at_source = held.find({t.src, t.block});
    if (t.src != plan.root && (at_source == held.end() || at_source->second >= t.step)) {
      throw InputError(
          fmt::format("{}: rank {} has no block {} before that step; expected it to come earlier",
                      words(t), t.src.value, t.block));
    }
    if (!held.try_emplace({t.dst, t.block}, t.step).second) plan.delivers_twice = true;
    plan.steps = t.step + 1;  // they are in order
  }
  return plan;
}

}  // namespace slackline::sched
