#include "sched/pattern/binomial_shares.h"

#include <algorithm>

#include "sched/pattern/pattern.h"

namespace slackline::sched {
namespace {

// An edge at each level of the tree: the shares of `count` ranks from `child` on, by their distance
// from the root.
template <class Visit>
void for_each_edge(std::uint32_t n, std::uint32_t level, Visit&& visit) {
  const std::uint64_t half = 1ull << level;
  for (std::uint64_t child = half; child < n; child += 2 * half) {
    visit(static_cast<std::uint32_t>(child - half), static_cast<std::uint32_t>(child),
          static_cast<std::uint32_t>(std::min<std::uint64_t>(half, n - child)));
  }
}

void move(ShareWriter& out, const MulticastOptions& options, std::uint32_t step, std::uint32_t src,
          std::uint32_t dst, std::uint32_t first, std::uint32_t count) {
  const std::uint32_t n = options.ranks;
  const auto rank = [&](std::uint32_t distance) { return (options.root.value + distance) % n; };
  const std::uint32_t before_end = std::min(count, n - rank(first));
  out.move(step, RankId(rank(src)), RankId(rank(dst)),
           {{rank(first), before_end, rank(first)}, {0, count - before_end, 0}});
}

}  // namespace

CollectivePlan binomial_scatter(const MulticastOptions& options) {
  const std::uint32_t n = options.ranks;
  ShareWriter out(options, bytes_of_all(options.bytes, n), n);
  const std::uint32_t levels = ceil_log2(n);
  for (std::uint32_t step = 0; step < levels; ++step) {
    for_each_edge(n, levels - 1 - step, [&](auto parent, auto child, auto count) {
      move(out, options, step, parent, child, child, count);
    });
  }
  CollectivePlan& plan = out.plan();
  const std::uint64_t part = options.bytes;
  if (part != 0) plan.pre.push_back({{BufferId(options.root.value), 0, n * part}, ValueId(0), 0});
  for (std::uint32_t r = 0; r < n && part != 0; ++r) {
    plan.post.push_back({{BufferId(r), r * part, part}, ValueId(0), r * part});
  }
  return out.finish(levels);
}

CollectivePlan binomial_gather(const MulticastOptions& options) {
  const std::uint32_t n = options.ranks;
  ShareWriter out(options, bytes_of_all(options.bytes, n), n);
  const std::uint32_t levels = ceil_log2(n);
  for (std::uint32_t step = 0; step < levels; ++step) {
    for_each_edge(n, step, [&](auto parent, auto child, auto count) {
      move(out, options, step, child, parent, child, count);
    });
  }
  out.plan().each_has_its_part();
  out.plan().parts_at(options.root);
  return out.finish(levels);
}

}  // namespace slackline::sched
