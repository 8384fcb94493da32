#include "sched/import/chakra_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "sched/export/chakra_schema.h"

namespace slackline::sched {
namespace {

// In the order of the schema's numbers.
constexpr std::array<std::string_view, 10> kNames = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

// One message a step and share, none held back by another: as astra-sim's rings are.
std::string of_pattern(std::string_view pattern, std::uint32_t ranks, std::uint64_t bytes,
                       std::string_view more) {
  return fmt::format("{}:ranks={},bytes={},block={},ready=none,in-flight=0{}", pattern, ranks,
                     bytes, std::max<std::uint64_t>(bytes, 1), more);
}

std::uint32_t root_of(const ChakraNode& node, std::uint32_t ranks) {
  if (node.source && *node.source >= 0 && *node.source < std::int64_t{ranks}) {
    return static_cast<std::uint32_t>(*node.source);
  }
  throw InputError(fmt::format(
      "a BROADCAST whose root is not told; expected comm_src, a rank of 0 to {}", ranks - 1));
}

}  // namespace

std::optional<std::string> chakra_collective_spec(const ChakraNode& node, std::uint32_t ranks) {
  namespace type = chakra::collective_type;
  const auto bytes = static_cast<std::uint64_t>(node.size.value_or(0));
  switch (node.collective.value_or(-1)) {
    case type::kAllReduce:
      return of_pattern("allreduce", ranks, bytes, ",by=ring");
    case type::kAllGather:
      return of_pattern("allgather", ranks, bytes, ",by=ring");
    case type::kReduceScatter:
      return of_pattern("reduce-scatter", ranks, bytes, ",by=ring");
    case type::kAllToAll:
      if (bytes % ranks != 0) {
        throw InputError(fmt::format(
            "an ALL_TO_ALL of {} bytes among {} ranks; expected a multiple", bytes, ranks));
      }
      return of_pattern("alltoall", ranks, bytes / ranks, ",by=pairwise");
    case type::kBroadcast:
      return of_pattern("binomial-tree", ranks, bytes,
                        fmt::format(",root={}", root_of(node, ranks)));
    case type::kBarrier:
      return fmt::format("barrier:ranks={},by=circulant,ready=none", ranks);
    default:
      return std::nullopt;
  }
}

std::string chakra_collective_name(std::int64_t type) {
  if (type < 0 || type >= static_cast<std::int64_t>(kNames.size())) return fmt::format("{}", type);
  return std::string(kNames[static_cast<std::size_t>(type)]);
}

}  // namespace slackline::sched
