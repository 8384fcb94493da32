#include "sched/pattern/switch_sums.h"

#include <algorithm>
#include <functional>

#include "sched/pass/lower_collective.h"
#include "sched/pass/lower_credits.h"
#include "sched/pattern/shared_options.h"
#include "sched/pattern/switch_ranks.h"

namespace slackline::sched {
namespace {

using Message = CollectivePlan::Message;

class SwitchSum {
 public:
  explicit SwitchSum(const MulticastOptions& options, const SwitchRanks& ranks)
      : ranks_(ranks), blocks_(options.blocks()) {
    plan_.ranks = options.ranks;
    plan_.message_bytes = options.bytes;
    for (std::uint32_t b = 0; b < blocks_; ++b) {
      plan_.begin.push_back(std::min(b * options.block_bytes, options.bytes));
    }
    plan_.begin.push_back(options.bytes);
  }

  // `wants` says who below a switch gets the sum.
  CollectivePlan run(const std::function<bool(RankId)>& wants) {
    for (std::uint32_t b = 0; b < blocks_; ++b) {
      for (std::uint32_t r = 0; r < plan_.ranks; ++r) {
        const RankId rank(r);
        const std::vector<RankId> below = ranks_.below(rank);
        for (std::size_t i = 0; i < below.size(); ++i)
          add(height(rank) - 1 + b, below[i], rank, b, i != 0);
        for (const RankId to : below) {
          if (wants(to)) add(2 * ranks_.levels() - height(rank) + b, rank, to, b, false);
        }
      }
    }
    std::stable_sort(plan_.messages.begin(), plan_.messages.end(),
                     [](const Message& a, const Message& b) { return a.step < b.step; });
    plan_.steps = plan_.messages.empty() ? 0 : plan_.messages.back().step + 1;
    for (std::uint32_t r = 0; r < ranks_.members() && plan_.bytes() != 0; ++r) {
      plan_.pre.push_back({{BufferId(r), 0, plan_.bytes()}, ValueId(r), 0});
      if (!wants(RankId(r))) continue;
      plan_.post.push_back({{BufferId(r), 0, plan_.bytes()}, ValueId(0), 0, ranks_.members()});
    }
    return std::move(plan_);
  }

 private:
  // Of a switch above the members.
  std::uint32_t height(RankId rank) const {
    std::uint32_t height = 0;
    for (auto under = ranks_.below(rank); !under.empty(); under = ranks_.below(under.front())) {
      ++height;
    }
    return height;
  }

  void add(std::uint32_t step, RankId src, RankId dst, std::uint32_t block, bool combines) {
    plan_.messages.push_back(
        {step, src, dst, static_cast<std::uint32_t>(plan_.pieces.size()), 1, combines});
    plan_.pieces.push_back({block, 1, block});
  }

  const SwitchRanks& ranks_;
  const std::uint32_t blocks_;
  CollectivePlan plan_;
};

// The switches send to all their ports at once, and keep the window of each port for itself.
Schedule lower(CollectivePlan plan, const Spec& spec, const SwitchRanks& ranks) {
  plan.title = format_spec(spec);
  CollectiveLowering lowering;
  lowering.in_flight = spec.transfers.in_flight;
  lowering.unbounded_from = ranks.members();
  lowering.slots = 2 * std::max(ranks.most_below(), 1u);
  CreditOptions credits = spec.credits;
  credits.own_windows_from = ranks.members();
  return credits.ready == Ready::kNone ? lower_collective(plan, lowering)
                                       : lower_credits(draft_collective(plan, lowering), credits);
}

// Whether the rank is the root, or a switch above it.
bool leads_to(const SwitchRanks& ranks, RankId rank, RankId root) {
  for (RankId at = root;;) {
    if (at == rank) return true;
    const auto above = ranks.above(at);
    if (!above) return false;
    at = *above;
  }
}

constexpr auto kSwitchAllreduceOptions =
    option_list(kRanksOption, kBytesOption, kBlockOption, kInFlightOption, kReadyOption,
                kWindowOption, kMessagesOption, kFanOutOption);
constexpr auto kSwitchReduceOptions = option_list(kPlanOptions, kInFlightOption, kReadyOption,
                                                  kWindowOption, kMessagesOption, kFanOutOption);

}  // namespace

Schedule switch_allreduce(const Spec& spec) {
  check(spec.multicast);
  const SwitchRanks ranks(spec.multicast.ranks, spec.own<SwitchOptions>());
  return lower(SwitchSum(spec.multicast, ranks).run([](RankId) { return true; }), spec, ranks);
}

Schedule switch_reduce(const Spec& spec) {
  check(spec.multicast);
  const SwitchRanks ranks(spec.multicast.ranks, spec.own<SwitchOptions>());
  const RankId root = spec.multicast.root;
  ranks.require_member(root);
  const auto wants = [&](RankId rank) { return leads_to(ranks, rank, root); };
  return lower(SwitchSum(spec.multicast, ranks).run(wants), spec, ranks);
}

std::uint64_t switch_sum_ops(const Spec& spec) {
  check(spec.multicast);
  // Up and down, with credits, and the sums.
  const std::uint64_t per_edge = spec.credits.ready == Ready::kNone ? 5 : 9;
  const std::uint64_t of_one =
      std::uint64_t{spec.multicast.ranks - 1} * spec.multicast.blocks() * per_edge +
      3 * std::uint64_t{spec.multicast.ranks};
  return of_one > kMaxOps ? of_one : of_one * spec.messages;
}

constinit const PatternEntry kSwitchAllreducePattern = {
    .name = "switch-allreduce",
    .summary = "the network's switches, which are ranks, add up and send the sum to all members",
    .options = kSwitchAllreduceOptions,
    .schedule = switch_allreduce,
    .op_count = switch_sum_ops,
    .op_memory = 340,
    .one_message = true};

constinit const PatternEntry kSwitchReducePattern = {
    .name = "switch-reduce",
    .summary = "the network's switches, which are ranks, add up and send the sum to the root",
    .options = kSwitchReduceOptions,
    .schedule = switch_reduce,
    .op_count = switch_sum_ops,
    .op_memory = 340,
    .one_message = true};

}  // namespace slackline::sched
