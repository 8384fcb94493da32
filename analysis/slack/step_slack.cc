#include "analysis/slack/step_slack.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace slackline::analysis {
namespace {

using sched::Op;
using sched::OpKind;
using sched::Slice;

struct SliceHash {
  std::size_t operator()(const Slice& s) const {
    return (s.offset * 0x9e3779b97f4a7c15ull) ^ (std::uint64_t{s.buffer.value} << 32) ^ s.bytes;
  }
};

// The step in which each slice's bytes first came over the network, followed through local copies.
class Arrivals {
 public:
  explicit Arrivals(const sched::Schedule& schedule) : schedule_(schedule) {
    for (const Op& op : schedule.ops()) {
      if (op.kind != OpKind::kRecv && op.kind != OpKind::kPut) continue;
      for (const Slice& slice : schedule.slices(op.writes)) came(slice, op.step);
    }
    for (const Op& op : schedule.ops()) {
      if (op.kind != OpKind::kCopy || op.reads.count != 1 || op.writes.count != 1) continue;
      const auto found = step_.find(schedule.slices(op.reads).front());
      if (found != step_.end()) came(schedule.slices(op.writes).front(), found->second);
    }
  }
  // Nothing if no message brought it.
  const std::uint32_t* step_of(const Slice& slice) const {
    const auto found = step_.find(slice);
    return found == step_.end() ? nullptr : &found->second;
  }

 private:
  void came(const Slice& slice, std::uint32_t step) {
    if (slice.bytes == 0 && schedule_.message_bytes() != 0) return;
    const auto [it, fresh] = step_.try_emplace(slice, step);
    if (!fresh) it->second = std::min(it->second, step);
  }

  const sched::Schedule& schedule_;
  std::unordered_map<Slice, std::uint32_t, SliceHash> step_;
};

}  // namespace

StepSlack step_slack(const sched::Schedule& schedule) {
  sched::require_static(schedule, "step slack");
  const Arrivals arrivals(schedule);
  StepSlack result;
  result.of_step.resize(schedule.step_count());
  std::uint32_t smallest = std::numeric_limits<std::uint32_t>::max();
  for (const Op& op : schedule.ops()) {
    if ((op.kind != OpKind::kSend && op.kind != OpKind::kPut) || op.reads.count == 0) continue;
    const std::uint32_t* arrival = arrivals.step_of(schedule.slices(op.reads).front());
    if (arrival == nullptr || *arrival > op.step) continue;
    const std::uint32_t slack = op.step - *arrival;
    SlackSum& sum = result.of_step[op.step];
    sum.total += slack;
    ++sum.sends;
    smallest = std::min(smallest, slack);
  }
  std::uint64_t most = 0;
  for (const SlackSum& sum : result.of_step) most = std::max(most, sum.sends);
  for (std::uint32_t j = 0; j < result.of_step.size() && most != 0; ++j) {
    const SlackSum& sum = result.of_step[j];
    result.all.total += sum.total;
    result.all.sends += sum.sends;
    if (sum.sends != most) continue;
    if (result.steady.sends == 0) result.first_steady = j;
    result.end_steady = j + 1;
    result.steady.total += sum.total;
    result.steady.sends += sum.sends;
  }
  if (result.all.sends != 0) result.smallest = smallest;
  return result;
}

}  // namespace slackline::analysis
