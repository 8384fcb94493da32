#include "sched/pattern/bruck.h"

#include <algorithm>
#include <vector>

#include "sched/pattern/alltoall.h"

namespace slackline::sched {

CollectivePlan bruck_allgather(const MulticastOptions& options) {
  const std::uint32_t n = options.ranks;
  ShareWriter out(options, bytes_of_all(options.bytes, n), n);
  std::uint32_t step = 0;
  for (std::uint32_t has = 1; has < n; has *= 2, ++step) {
    const std::uint32_t sent = std::min(has, n - has);
    for (const std::uint32_t r : out.plan().senders(n, has)) {
      const std::uint32_t before_end = std::min(sent, n - r);
      out.move(step, RankId(r), RankId((r + n - has) % n),
               {{r, before_end, r}, {0, sent - before_end, 0}});
    }
  }
  out.plan().promise_allgather();
  return out.finish(step);
}

CollectivePlan bruck_alltoall(const MulticastOptions& options) {
  const std::uint32_t n = options.ranks;
  const std::uint32_t most = n / 2;
  AlltoallMemory memory{n};
  ShareWriter out = memory.writer(options, 2 * most);
  const std::uint32_t leaving = memory.shares();
  const std::uint32_t coming = leaving + most;
  std::uint32_t step = 0;
  for (std::uint32_t far = 1; far < n; far *= 2, ++step) {
    std::vector<std::uint32_t> distances;  // of the pieces that go, at their source
    for (std::uint32_t d = far; d < n; ++d) {
      if ((d & far) != 0) distances.push_back(d);
    }
    const auto count = static_cast<std::uint32_t>(distances.size());
    for (const std::uint32_t r : out.plan().senders(n, n - far)) {
      std::vector<ShareWriter::Run> packed;
      std::vector<ShareWriter::Run> unpacked;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t d = distances[i];
        // A piece on its way stands where the rank's own piece of that distance stood.
        const std::uint32_t stands = memory.to((r + d) % n);
        packed.push_back({stands, 1, leaving + i});
        unpacked.push_back({coming + i, 1, d < 2 * far ? memory.from((r + n - d) % n) : stands});
      }
      out.copy(step, RankId(r), packed, false);
      out.move(step, RankId(r), RankId((r + far) % n), {{leaving, count, coming}});
      out.copy(step, RankId(r), unpacked, true);
    }
  }
  memory.keep_own(out);
  memory.promise(out);
  return out.finish(step);
}

}  // namespace slackline::sched
