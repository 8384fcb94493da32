#include "sched/export/goal_binary.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/grouped.h"
#include "sched/export/goal_operations.h"

namespace slackline::sched {
namespace {

class Writer {
 public:
  Writer(const Schedule& schedule, std::uint32_t ticks_per_ns, std::uint32_t nics)
      : schedule_(schedule), operations_(schedule, {"goal-bin", "GOAL", ticks_per_ns, 255, nics}) {}

  std::string write() {
    const std::uint32_t ranks = schedule_.rank_count();
    // Blocks begin behind the table; the 4223 does not count.
    std::uint64_t at = kGoalTable - sizeof kGoalMagic + kGoalRankBytes * ranks;
    base::ByteWriter<std::string> table;
    std::string blocks;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::string block = block_of(RankId(rank));
      table.add(at);
      at += block.size();
      table.add(at);
      blocks += block;
    }
    base::ByteWriter<std::string> head;
    head.add(kGoalMagic);
    head.add(ranks);
    head.add(highest_cpu_);
    head.add(highest_nic_);
    return head.take() + table.take() + blocks;
  }

 private:
  std::string block_of(RankId rank) {
    const std::uint32_t first = schedule_.first_op(rank).value;
    const std::uint32_t count = schedule_.end_op(rank).value - first;
    const auto arcs = [&](On wanted) {
      return base::Grouped<std::uint32_t>(count, [&](auto&& take) {
        for (std::uint32_t i = 0; i < count; ++i) {
          operations_.for_each_required(OpId(first + i), [&](OpId pred, On on) {
            if (on == wanted) take(pred.value - first, i);
          });
        }
      });
    };
    const base::Grouped<std::uint32_t> of_done = arcs(On::kDone);
    const base::Grouped<std::uint32_t> of_issued = arcs(On::kIssued);
    std::vector<std::uint32_t> waits_for(count, 0);
    for (const std::uint32_t succ : of_done.all()) ++waits_for[succ];
    for (const std::uint32_t succ : of_issued.all()) ++waits_for[succ];

    base::ByteWriter<std::string> out;
    out.add(count);
    out.add(static_cast<std::uint32_t>(std::ranges::count(waits_for, 0u)));
    for (std::uint32_t i = 0; i < count; ++i) {
      if (waits_for[i] == 0) out.add(i);
    }
    std::uint32_t place = 0;
    const auto add_arcs = [&](std::size_t number) {
      out.add(static_cast<std::uint32_t>(number));
      out.add(place);
      place += static_cast<std::uint32_t>(number);
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      const GoalOperation operation = operations_.of(OpId(first + i));
      highest_cpu_ = std::max(highest_cpu_, operation.cpu);
      highest_nic_ = std::max(highest_nic_, operation.nic);
      out.add(waits_for[i]);
      out.add(std::uint8_t{operation.kind == OpKind::kSend   ? std::uint8_t{1}
                           : operation.kind == OpKind::kRecv ? std::uint8_t{2}
                                                             : std::uint8_t{3}});
      out.add(operation.peer);
      out.add(operation.amount);
      out.add(operation.tag);
      out.add(operation.cpu);
      out.add(operation.nic);
      add_arcs(of_done[i].size());
      add_arcs(of_issued[i].size());
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      out.add_all(of_done[i]);
      out.add_all(of_issued[i]);
    }
    return out.take();
  }

  const Schedule& schedule_;
  GoalOperations operations_;
  std::uint8_t highest_cpu_ = 0;
  std::uint8_t highest_nic_ = 0;
};

}  // namespace

std::string write_goal_binary(const Schedule& schedule) { return write_goal_binary(schedule, 1); }

std::string write_goal_binary(const Schedule& schedule, std::uint32_t ticks_per_ns) {
  return Writer(schedule, ticks_per_ns, 1).write();
}

std::string write_goal_binary_on_nics(const Schedule& schedule, std::uint32_t nics) {
  return Writer(schedule, 1, nics).write();
}

}  // namespace slackline::sched
