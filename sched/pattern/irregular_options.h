// What irregular patterns are told.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sched/op.h"
#include "sched/units.h"

namespace slackline::sched {

/// How small messages travel: each by itself; gathered in a queue per destination; or in queues per
/// node, by way of router nodes.
enum class Aggregation : std::uint8_t { kNone, kDestination, kHierarchical };
/// Of global memory: striped over all ranks in blocks, or a rank and an address.
enum class Addressing : std::uint8_t { kLinear, k2d };
/// What a delegate does to its word.
enum class Delegate : std::uint8_t { kFetchAdd, kAdd, kRead, kWrite };
enum class CacheMode : std::uint8_t { kReadOnly, kReadWrite, kWriteOnly };

/// A rank is a core, and lane 0 is all it has: tasks, the polling thread and handlers share it.
struct IrregularOptions {
  std::uint64_t seed = 1;
  std::uint32_t tasks = 16;   // of a core, ≥ 1
  Time switch_cost{38'000};   // before each resumption of a task
  Time work{0};               // a vertex, a playout: of the task's own
  std::uint64_t record = 32;  // bytes of a request, ≥ 16
  Addressing address = Addressing::kLinear;
  Aggregation aggregation = Aggregation::kNone;
  std::uint64_t flush_bytes = 4096;  // a queue is sent when it holds this…
  Time flush_age{1'000'000'000};     // …or when its oldest message has waited this long
  std::uint32_t cores = 1;           // hierarchical: ranks of a node
  std::uint32_t group = 8;           // hierarchical: nodes of a group, groups of the next, ≥ 2
  // random-access
  std::uint64_t accesses = 1000;  // of each rank, ≥ 1
  std::uint64_t words = 1024;     // of each rank, ≥ 1
  Delegate access = Delegate::kFetchAdd;
  CacheMode cache = CacheMode::kReadWrite;
  std::uint64_t cache_bytes = 256;  // of one acquire, a multiple of 8
  // tree-search
  std::string tree = "T1";  // a sample of the benchmark
  std::uint32_t depth = 0;  // instead of the sample's; 0: the sample's
  // breadth-first-search
  std::uint32_t scale = 8;         // 2^scale vertices
  std::uint32_t edge_factor = 16;  // drawn edges per vertex
  std::uint32_t threshold = 4;     // iterations below which a parallel loop is not split
  // hex-search
  std::uint32_t rollouts = 64;  // of all ranks together
  std::uint32_t playouts = 16;  // from each leaf
  Bundle bundle = Bundle::kNone;
};

/// An option of a spec that irregular patterns take.
struct IrregularOption {
  std::string_view key;
  std::string_view values;
  std::string_view meaning;
  /// Throws InputError on a value out of range.
  void (*read)(std::string_view key, std::string_view text, IrregularOptions& options);
  std::string (*format)(const IrregularOptions& options);
};
/// In the order in which they are written.
std::span<const IrregularOption> irregular_options();

}  // namespace slackline::sched
