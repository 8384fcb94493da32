#include "sched/pattern/bruck_allreduce.h"

#include <algorithm>
#include <bit>

namespace slackline::sched {
namespace {

// Shares of a rank's memory.
constexpr std::uint32_t kWith = 0;     // the sum with the rank itself, at last of all
constexpr std::uint32_t kWithout = 1;  // of the ranks behind it
constexpr std::uint32_t kTold = 2;     // and the next one, in turns

}  // namespace

CollectivePlan bruck_allreduce(const MulticastOptions& options) {
  const std::uint32_t n = options.ranks;
  const auto steps = static_cast<std::uint32_t>(std::bit_width(n - 1));
  // The steps before that of the last bit that is 0 make the sum without the rank.
  const auto last_zero = static_cast<std::uint32_t>(std::countr_one(n - 1));
  const std::uint32_t both = steps - std::min(steps, last_zero + 1);
  const std::uint32_t shares = both == 0 ? 1 : kWithout + std::min(both, 3u);
  ShareWriter out(options, bytes_of_all(options.bytes, shares), shares);
  out.plan().message_bytes = options.bytes;
  std::uint32_t behind = 0;  // k
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint32_t bit = steps - 1 - step;
    const std::uint32_t one = (n - 1) >> bit & 1;
    const std::uint32_t sent = one != 0 ? kWith : kWithout;
    const std::uint32_t far = behind + one;
    const bool keeps_both = bit > last_zero;
    for (const std::uint32_t r : out.plan().senders(n, n - far)) {
      const RankId src(r);
      const RankId dst((r + far) % n);
      if (!keeps_both) {
        out.add(step, src, dst, {sent, 1, kWith}, true);
      } else if (behind == 0) {
        out.move(step, src, dst, {{sent, 1, kWithout}});
        out.add_within(step, dst, {kWithout, 1, kWith});
      } else {
        const std::uint32_t told = kTold + (step - 1) % 2;
        out.move(step, src, dst, {{sent, 1, told}});
        out.add_within(step, dst, {told, 1, kWithout});
        out.add_within(step, dst, {told, 1, kWith});
      }
    }
    behind = 2 * behind + one;
  }
  out.plan().promise_allreduce();
  return out.finish(steps);
}

}  // namespace slackline::sched
