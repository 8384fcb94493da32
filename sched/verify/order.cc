#include "sched/verify/order.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace slackline::sched {
namespace {

constexpr std::size_t kLongSearch = 64;
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

// Whether done(op) waits for issued(its match): arc (c) at a receive or poll, arc (d) at the
// initiator. Looks at nothing of the match, which is far away in memory.
bool done_waits_for_match(const Schedule& schedule, const Op& op) {
  if (!op.match.valid()) return false;
  if (op.kind == OpKind::kRecv || op.kind == OpKind::kPoll) return true;
  return is_fifo_source(op) && is_acknowledged(schedule.channel(op.channel).service);
}

// Issues each rank's operations in program order, as far as each rank gets before it waits for
// another. Far cheaper than sorting events, and enough wherever program order itself is a possible
// order; if it is not, some rank is left waiting.
class Sweep {
 public:
  explicit Sweep(const Schedule& schedule)
      : schedule_(schedule), awaited_(schedule.op_count(), 0), waiters_(schedule.rank_count()) {
    order_.sequence.reserve(schedule.op_count());
    order_.position.assign(schedule.op_count(), kNowhere);
  }

  std::optional<OperationOrder> run() {
    std::vector<std::uint32_t> next(schedule_.rank_count());
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) {
      next[r] = schedule_.first_op(RankId(r)).value;
      runnable_.push_back(RankId(r));
    }
    for (std::size_t i = 0; i < runnable_.size(); ++i) {
      const RankId rank = runnable_[i];
      std::uint32_t& op = next[rank.value];
      const std::uint32_t end = schedule_.end_op(rank).value;
      for (; op < end; ++op) {
        const OpId blocker = first_unmet(OpId(op));
        if (blocker.valid()) {
          awaited_[blocker.value] = 1;
          waiters_[schedule_.op(blocker).rank.value].push_back({blocker, rank});
          break;
        }
        issue(OpId(op), rank);
      }
    }
    if (order_.sequence.size() != schedule_.op_count()) return std::nullopt;
    return std::move(order_);
  }

 private:
  struct Waiter {
    OpId op;
    RankId rank;
  };

  bool issued(OpId op) const { return order_.position[op.value] != kNowhere; }

  OpId first_unmet(OpId id) const {
    for (const Edge& edge : schedule_.edges_into(id)) {
      if (!issued(edge.pred)) return edge.pred;
      if (edge.on == On::kIssued) continue;
      const Op& pred = schedule_.op(edge.pred);
      if (done_waits_for_match(schedule_, pred) && !issued(pred.match)) return pred.match;
    }
    return OpId::none();
  }

  void issue(OpId op, RankId rank) {
    order_.position[op.value] = static_cast<std::uint32_t>(order_.sequence.size());
    order_.sequence.push_back(op);
    if (awaited_[op.value] == 0) return;
    std::vector<Waiter>& waiters = waiters_[rank.value];
    const auto woken = [&](const Waiter& waiter) {
      if (waiter.op != op) return false;
      runnable_.push_back(waiter.rank);
      return true;
    };
    waiters.erase(std::remove_if(waiters.begin(), waiters.end(), woken), waiters.end());
  }

  const Schedule& schedule_;
  OperationOrder order_;
  std::vector<std::uint8_t> awaited_;         // by operation: some rank waits for its issue
  std::vector<std::vector<Waiter>> waiters_;  // by the rank that is waited for
  std::vector<RankId> runnable_;
};

}  // namespace

std::optional<OperationOrder> issue_order(const Schedule& schedule) {
  if (auto order = Sweep(schedule).run()) return order;
  const auto events = topological_order(schedule);
  if (!events) return std::nullopt;
  OperationOrder order;
  order.sequence.reserve(schedule.op_count());
  order.position.resize(schedule.op_count());
  for (const EventId event : *events) {
    if (event.is_done()) continue;
    order.position[event.op().value] = static_cast<std::uint32_t>(order.sequence.size());
    order.sequence.push_back(event.op());
  }
  return order;
}

OrderProver::OrderProver(const Schedule& schedule, const ChannelOrder& channels,
                         const OperationOrder& order, std::size_t max_steps)
    : schedule_(schedule),
      channels_(channels),
      order_(order),
      max_steps_(max_steps),
      seen_(schedule.op_count(), 0) {}

// done(x) stands right behind the last issue that it waits for.
std::uint32_t OrderProver::position_of(EventId event) const {
  const Op& op = schedule_.op(event.op());
  const std::uint32_t own = order_.position[event.op().value];
  if (!event.is_done() || !done_waits_for_match(schedule_, op)) return own;
  return std::max(own, order_.position[op.match.value]);
}

bool OrderProver::reach_issued(OpId op) {
  if (order_.position[op.value] <= floor_) {
    return first_ == EventId::issued(op);
  }
  if (seen_[op.value] == search_) return false;
  seen_[op.value] = search_;
  if (!chain_.empty() && chain_[op.value] == first_chain_) return true;
  (op.value >= near_begin_ && op.value < near_end_ ? near_ : far_).push_back(op);
  return false;
}

bool OrderProver::reach_done(OpId id) {
  if (first_ == EventId::done(id) || reach_issued(id)) return true;
  const Op& op = schedule_.op(id);
  return (op.kind == OpKind::kRecv || op.kind == OpKind::kPoll) && op.match.valid() &&
         reach_issued(op.match);
}

// Whether an edge alone takes `first` to issued(op). Edges are sorted by their origin.
bool OrderProver::waits_directly(std::span<const Edge> edges) const {
  constexpr std::size_t kFew = 8;
  auto edge = edges.begin();
  if (edges.size() > kFew) {
    edge = std::lower_bound(edges.begin(), edges.end(), first_.op(),
                            [](const Edge& e, OpId op) { return e.pred < op; });
  }
  for (; edge != edges.end() && edge->pred <= first_.op(); ++edge) {
    if (edge->pred == first_.op() && (edge->on == On::kDone || !first_.is_done())) return true;
  }
  return false;
}

bool OrderProver::expand(OpId op) {
  const std::span<const Edge> edges = schedule_.edges_into(op);
  if (waits_directly(edges)) return true;  // before the many others of a join
  for (const Edge& edge : edges) {
    if (edge.on == On::kDone ? reach_done(edge.pred) : reach_issued(edge.pred)) return true;
  }
  const OpId previous = channels_.previous[op.value];
  return previous.valid() && reach_issued(previous);
}

OrderProver::Answer OrderProver::before(EventId first, OpId second) {
  first_ = first;
  if (waits_directly(schedule_.edges_into(second))) return Answer::kProven;  // most are
  floor_ = position_of(first);
  if (order_.position[second.value] <= floor_) return Answer::kRefuted;
  const RankId rank = schedule_.op(first.op()).rank;
  near_begin_ = schedule_.first_op(rank).value;
  near_end_ = schedule_.end_op(rank).value;
  if (chain_.empty()) {
    const Answer answer = search(second, std::min(kLongSearch, max_steps_));
    if (answer != Answer::kUndecided || max_steps_ <= kLongSearch) return answer;
    make_chains();
  }
  first_chain_ = chain_[first.op().value];
  if (chain_[second.value] == first_chain_) return Answer::kProven;
  return search(second, max_steps_);
}

OrderProver::Answer OrderProver::search(OpId second, std::size_t max_steps) {
  if (++search_ == 0) {  // the stamps have come round
    std::fill(seen_.begin(), seen_.end(), 0);
    search_ = 1;
  }
  near_.clear();
  far_.clear();
  if (expand(second)) return Answer::kProven;
  std::size_t next_near = 0;
  std::size_t next_far = 0;
  for (std::size_t steps = 0; steps < max_steps; ++steps) {
    OpId op;
    if (next_near < near_.size()) {
      op = near_[next_near++];
    } else if (next_far < far_.size()) {
      op = far_[next_far++];
    } else {
      return Answer::kRefuted;
    }
    if (expand(op)) return Answer::kProven;
  }
  return next_near == near_.size() && next_far == far_.size() ? Answer::kRefuted
                                                              : Answer::kUndecided;
}

// Each operation joins the chain of the first of its predecessors, by done, that is still the last
// of its chain. Within a chain, whoever is issued later waits for the done of all before.
void OrderProver::make_chains() {
  chain_.resize(schedule_.op_count());
  std::vector<OpId> last;
  for (const OpId id : order_.sequence) {
    auto chain = static_cast<std::uint32_t>(last.size());
    for (const Edge& edge : schedule_.edges_into(id)) {
      if (edge.on != On::kDone || last[chain_[edge.pred.value]] != edge.pred) continue;
      chain = chain_[edge.pred.value];
      break;
    }
    if (chain == last.size()) last.emplace_back();
    chain_[id.value] = chain;
    last[chain] = id;
  }
}

}  // namespace slackline::sched
