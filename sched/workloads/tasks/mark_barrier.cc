#include "sched/workloads/tasks/mark_barrier.h"

#include "sched/dissemination.h"

namespace slackline::sched {

std::vector<OpId> write_mark_barrier(
    ProgramWriter& out, TaskMemory& memory, std::uint32_t step, std::vector<OpId> through,
    const std::function<ChannelId(std::uint32_t src, std::uint32_t dst)>& channel_of) {
  const auto ranks = static_cast<std::uint32_t>(through.size());
  const Dissemination way{ranks};
  for (std::uint32_t r = 0; r < way.rounds(); ++r) {
    std::vector<OpId> seen(ranks);
    for (std::uint32_t c = 0; c < ranks; ++c) {
      const std::uint32_t to = way.target(RankId(c), r).value;
      const SliceRange landing = out.add_slice(memory.take(to, 8), RankId(to));
      const OpId put = out.put({RankId(c), step}, channel_of(c, to), memory.mark(c), landing,
                               Notify::kFlag, {through[c]});
      seen[to] = out.poll({RankId(to), step}, landing, {through[to]});
      out.add_flag_match(put, seen[to]);
    }
    for (std::uint32_t c = 0; c < ranks; ++c) {
      through[c] = out.join({RankId(c), step}, {through[c], seen[c]});
    }
  }
  return through;
}

}  // namespace slackline::sched
