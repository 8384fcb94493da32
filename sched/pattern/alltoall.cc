#include "sched/pattern/alltoall.h"

#include <bit>

namespace slackline::sched {

ShareWriter AlltoallMemory::writer(const MulticastOptions& options, std::uint32_t more) const {
  const std::uint32_t all = shares() + more;
  ShareWriter out(options, bytes_of_all(options.bytes, all), all);
  out.plan().message_bytes = n * options.bytes;
  return out;
}

void AlltoallMemory::keep_own(ShareWriter& out) const {
  for (std::uint32_t r = 0; r < n; ++r) out.copy(0, RankId(r), {{to(r), 1, from(r)}}, false);
}

void AlltoallMemory::promise(ShareWriter& out) const {
  const std::uint64_t piece = out.bytes_of(0);
  if (piece == 0 || out.plan().first_alone) return;
  for (std::uint32_t r = 0; r < n; ++r) {
    out.plan().pre.push_back({{BufferId(r), 0, n * piece}, ValueId(r), 0});
    for (std::uint32_t s = 0; s < n; ++s) {
      out.plan().post.push_back({{BufferId(r), from(s) * piece, piece}, ValueId(s), r * piece});
    }
  }
}

CollectivePlan pairwise_alltoall(const MulticastOptions& options) {
  const AlltoallMemory memory{options.ranks};
  ShareWriter out = memory.writer(options, 0);
  const std::uint32_t n = options.ranks;
  memory.keep_own(out);
  const bool pairs = std::has_single_bit(n);
  for (std::uint32_t s = 1; s < n; ++s) {
    for (const std::uint32_t r : out.plan().senders(n, pairs ? s : n - s)) {
      const std::uint32_t other = pairs ? r ^ s : (r + s) % n;
      out.move(s - 1, RankId(r), RankId(other), {{memory.to(other), 1, memory.from(r)}});
    }
  }
  memory.promise(out);
  return out.finish(n - 1);
}

}  // namespace slackline::sched
