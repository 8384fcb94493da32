// What programs of many tasks a core are told (task_program.h).
#pragma once

#include <cstdint>

#include "sched/op.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {

/// How small messages travel: each by itself; gathered in a queue per destination; or in queues per
/// node, by way of router nodes.
enum class Aggregation : std::uint8_t { kNone, kDestination, kHierarchical };

/// A rank is a core, and lane 0 is all it has: tasks, the polling thread and handlers share it.
struct TaskOptions {
  std::uint64_t seed = 1;
  std::uint32_t tasks = 16;    // of a core, ≥ 1
  Time switch_cost{38'000};    // before each resumption of a task
  std::uint32_t resident = 0;  // contexts that a core's cache holds, 0: all of them
  Time switch_miss{0};         // in place of switch_cost, where the context is not there
  Time work{0};                // a vertex, an edge, an access: of the task's own
  std::uint64_t record = 32;   // bytes of a request, ≥ 16
  Aggregation aggregation = Aggregation::kNone;
  std::uint64_t flush_bytes = 4096;  // a queue is sent when it holds this…
  Time flush_age{1'000'000'000};     // …or when its oldest message has waited this long
  std::uint32_t cores = 1;           // hierarchical: ranks of a node
  std::uint32_t group = 8;           // hierarchical: nodes of a group, groups of the next, ≥ 2
  Bundle bundle = Bundle::kNone;     // of channels
};

inline constexpr Option kSeedOption =
    count_option<&TaskOptions::seed>("seed", "0 or more", "irregular: of all draws", 0, kAnyNumber);
inline constexpr auto kTaskOptions = option_list(
    kSeedOption, count_option<&TaskOptions::tasks>("tasks", "1 or more", "irregular: of each core"),
    time_option<&TaskOptions::switch_cost>("switch", "irregular: to switch to a task", kHour),
    count_option<&TaskOptions::resident>("resident", "0 or more",
                                         "switch: contexts in a core's cache, 0: all", 0),
    time_option<&TaskOptions::switch_miss>("switch-miss", "switch: to a context that is not there",
                                           kHour));
inline constexpr Option kWorkOption =
    time_option<&TaskOptions::work>("work", "irregular: a vertex, an edge, an access", kHour);
inline constexpr Option kRecordOption =
    size_option<&TaskOptions::record>("record", "16 or more", "irregular: bytes of a request");
inline constexpr auto kRequestOptions = option_list(
    kRecordOption,
    choice_option<&TaskOptions::aggregation>("aggregation", "none|destination|hierarchical",
                                             "irregular: queues of small messages"),
    size_option<&TaskOptions::flush_bytes>("flush", "a size",
                                           "aggregation: a queue is sent when full"),
    time_option<&TaskOptions::flush_age>("age", "aggregation: …or its oldest message this old",
                                         kHour),
    count_option<&TaskOptions::cores>("cores", "1 or more", "hierarchical: ranks of a node"),
    count_option<&TaskOptions::group>("group", "2 or more", "hierarchical: nodes of a group"));

/// Throws InputError for a record of no such size.
void check_record(std::uint64_t bytes);

}  // namespace slackline::sched
