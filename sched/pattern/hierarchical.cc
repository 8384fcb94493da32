#include "sched/pattern/hierarchical.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "sched/pattern/alltoall.h"

namespace slackline::sched {
namespace {

struct Nodes {
  explicit Nodes(const MulticastOptions& options) : k(options.own.get<NodeOptions>().per_node) {
    const std::uint32_t n = options.ranks;
    if (k == 0) {
      k = 1;
      for (std::uint32_t divisor = 2; std::uint64_t{divisor} * divisor <= n; ++divisor) {
        if (n % divisor == 0) k = divisor;
      }
    }
    if (n % k != 0) {
      throw InputError(
          fmt::format("per-node: {} ranks a node; expected a divisor of {} ranks", k, n));
    }
    count = n / k;
  }

  RankId rank(std::uint32_t node, std::uint32_t local) const { return RankId(node * k + local); }

  std::uint32_t k;      // ranks of a node
  std::uint32_t count;  // of nodes
};

// What a ring of `size` members does in a step of a round: member i gives the next one the part
// that is `lead` + step before its own.
template <class Give>
void ring_round(std::uint32_t size, std::uint32_t lead, const Give& give) {
  for (std::uint32_t step = 0; step + 1 < size; ++step) {
    for (std::uint32_t i = 0; i < size; ++i) {
      give(step, i, (i + 1) % size, (i + 2 * size - lead - step) % size);
    }
  }
}

// The shares of the nodes' l-th ranks, which do not follow one another.
std::vector<ShareWriter::Run> column(const Nodes& nodes, std::uint32_t local) {
  std::vector<ShareWriter::Run> runs;
  for (std::uint32_t i = 0; i < nodes.count; ++i) {
    const std::uint32_t share = nodes.rank(i, local).value;
    runs.push_back({share, 1, share});
  }
  return runs;
}

}  // namespace

CollectivePlan hierarchical_allreduce(const MulticastOptions& options) {
  const Nodes nodes(options);
  const std::uint32_t within_steps = nodes.k - 1;
  const std::uint32_t among_steps = nodes.count - 1;
  // Share l · N + i is of the l-th ranks, and becomes whole at that of node i.
  ShareWriter out(options, options.bytes, options.ranks);
  const auto within = [&](std::uint32_t from, std::uint32_t lead, bool adds) {
    ring_round(nodes.k, lead, [&](auto step, auto local, auto next, auto part) {
      const std::uint32_t first = part * nodes.count;
      for (std::uint32_t i = 0; i < nodes.count; ++i) {
        const RankId src = nodes.rank(i, local);
        const RankId dst = nodes.rank(i, next);
        if (adds) {
          out.add(from + step, src, dst, {first, nodes.count, first});
        } else {
          out.move(from + step, src, dst, {{first, nodes.count, first}});
        }
      }
    });
  };
  const auto among = [&](std::uint32_t from, std::uint32_t lead, bool adds) {
    ring_round(nodes.count, lead, [&](auto step, auto node, auto next, auto part) {
      for (std::uint32_t l = 0; l < nodes.k; ++l) {
        const std::uint32_t share = l * nodes.count + part;
        const RankId src = nodes.rank(node, l);
        const RankId dst = nodes.rank(next, l);
        if (adds) {
          out.add(from + step, src, dst, {share, 1, share});
        } else {
          out.move(from + step, src, dst, {{share, 1, share}});
        }
      }
    });
  };
  within(0, 1, true);
  among(within_steps, 1, true);
  among(within_steps + among_steps, 0, false);
  within(within_steps + 2 * among_steps, 0, false);
  out.plan().promise_allreduce();
  return out.finish(2 * (within_steps + among_steps));
}

CollectivePlan hierarchical_reduce_scatter(const MulticastOptions& options) {
  const Nodes nodes(options);
  ShareWriter out(options, options.bytes, options.ranks);
  ring_round(nodes.k, 1, [&](auto step, auto local, auto next, auto part) {
    for (std::uint32_t i = 0; i < nodes.count; ++i) {
      for (const ShareWriter::Run& run : column(nodes, part)) {
        out.add(step, nodes.rank(i, local), nodes.rank(i, next), run);
      }
    }
  });
  ring_round(nodes.count, 1, [&](auto step, auto node, auto next, auto part) {
    for (std::uint32_t l = 0; l < nodes.k; ++l) {
      const std::uint32_t share = nodes.rank(part, l).value;
      out.add(nodes.k - 1 + step, nodes.rank(node, l), nodes.rank(next, l), {share, 1, share});
    }
  });
  out.promise_reduce_scatter();
  return out.finish(nodes.k - 1 + nodes.count - 1);
}

CollectivePlan hierarchical_allgather(const MulticastOptions& options) {
  const Nodes nodes(options);
  ShareWriter out(options, bytes_of_all(options.bytes, options.ranks), options.ranks);
  ring_round(nodes.count, 0, [&](auto step, auto node, auto next, auto part) {
    for (std::uint32_t l = 0; l < nodes.k; ++l) {
      const std::uint32_t share = nodes.rank(part, l).value;
      out.move(step, nodes.rank(node, l), nodes.rank(next, l), {{share, 1, share}});
    }
  });
  ring_round(nodes.k, 0, [&](auto step, auto local, auto next, auto part) {
    for (std::uint32_t i = 0; i < nodes.count; ++i) {
      out.move(nodes.count - 1 + step, nodes.rank(i, local), nodes.rank(i, next),
               column(nodes, part));
    }
  });
  out.plan().promise_allgather();
  return out.finish(nodes.count - 1 + nodes.k - 1);
}

CollectivePlan hierarchical_alltoall(const MulticastOptions& options) {
  const Nodes nodes(options);
  const AlltoallMemory memory{options.ranks};
  const std::uint32_t k = nodes.k;
  // Place i k + s: what the s-th rank of the node has for the rank's peer in node i.
  ShareWriter out = memory.writer(options, options.ranks);
  const std::uint32_t passing = memory.shares();
  memory.keep_own(out);
  for (std::uint32_t step = 0; step + 1 < k; ++step) {
    for (std::uint32_t r = 0; r < options.ranks; ++r) {
      const std::uint32_t node = r / k;
      const std::uint32_t local = r % k;
      const std::uint32_t other = (local + step + 1) % k;
      std::vector<ShareWriter::Run> runs;
      for (std::uint32_t i = 0; i < nodes.count; ++i) {
        const std::uint32_t goes = memory.to(nodes.rank(i, other).value);
        runs.push_back({goes, 1, i == node ? memory.from(r) : passing + i * k + local});
      }
      out.move(step, RankId(r), nodes.rank(node, other), runs);
    }
  }
  for (std::uint32_t step = 0; step + 1 < nodes.count; ++step) {
    for (std::uint32_t r = 0; r < options.ranks; ++r) {
      const std::uint32_t node = r / k;
      const std::uint32_t local = r % k;
      const std::uint32_t other = (node + step + 1) % nodes.count;
      const RankId dst = nodes.rank(other, local);
      const std::uint32_t mine = passing + other * k;
      const std::uint32_t theirs = memory.from(node * k);
      out.move(k - 1 + step, RankId(r), dst,
               {{mine, local, theirs},
                {memory.to(dst.value), 1, theirs + local},
                {mine + local + 1, k - 1 - local, theirs + local + 1}});
    }
  }
  memory.promise(out);
  return out.finish(k - 1 + nodes.count - 1);
}

}  // namespace slackline::sched
