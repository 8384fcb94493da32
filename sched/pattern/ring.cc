#include "sched/pattern/ring.h"

namespace slackline::sched {
namespace {

// n − 1 steps from `from` on. In the first a rank sends the share that is `lead` before its own.
void add_round(ShareWriter& out, std::uint32_t from, std::uint32_t lead, bool combines) {
  const std::uint32_t n = out.plan().ranks;
  for (std::uint32_t step = 0; step + 1 < n; ++step) {
    for (const std::uint32_t r : out.plan().senders(n, n - 1)) {
      const RankId next((r + 1) % n);
      const std::uint32_t share = (r + 2 * n - lead - step) % n;
      if (combines) {
        out.add(from + step, RankId(r), next, {share, 1, share});
      } else {
        out.move(from + step, RankId(r), next, {{share, 1, share}});
      }
    }
  }
}

}  // namespace

CollectivePlan ring_allreduce(const MulticastOptions& options) {
  ShareWriter out(options, options.bytes, options.ranks);
  const std::uint32_t round = options.ranks - 1;
  add_round(out, 0, 1, true);
  add_round(out, round, 0, false);
  out.plan().promise_allreduce();
  return out.finish(2 * round);
}

CollectivePlan ring_reduce_scatter(const MulticastOptions& options) {
  ShareWriter out(options, options.bytes, options.ranks);
  add_round(out, 0, 1, true);
  out.promise_reduce_scatter();
  return out.finish(options.ranks - 1);
}

CollectivePlan ring_allgather(const MulticastOptions& options) {
  ShareWriter out(options, bytes_of_all(options.bytes, options.ranks), options.ranks);
  add_round(out, 0, 0, false);
  out.plan().promise_allgather();
  return out.finish(options.ranks - 1);
}

}  // namespace slackline::sched
