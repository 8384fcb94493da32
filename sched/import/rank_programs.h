// What readers of other tools' programs share: the order of a rank's program, its bytes, and what
// is said of a deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/grouped.h"
#include "sched/builder.h"

namespace slackline::sched {

struct LocalOrder {
  std::vector<std::uint32_t> order;
  /// Where there is no order: each waits for the next, and the last for the first.
  std::vector<std::uint32_t> cycle;
};

/// An order of `count` nodes that what they wait for allows: always the one of the least key(node)
/// that is free. No two have the same. each_wait(visit) tells visit(pred, succ) for each time that
/// one waits for another.
template <class EachWait, class Key>
LocalOrder local_order(std::uint32_t count, const EachWait& each_wait, const Key& key) {
  const base::Grouped<std::uint32_t> successors(count, each_wait);
  std::vector<std::uint32_t> waiting(count, 0);
  for (const std::uint32_t succ : successors.all()) ++waiting[succ];
  const auto after = [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(after)> free(after);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) free.push(i);
  }
  LocalOrder local;
  local.order.reserve(count);
  while (!free.empty()) {
    const std::uint32_t i = free.top();
    free.pop();
    local.order.push_back(i);
    for (const std::uint32_t succ : successors[i]) {
      if (--waiting[succ] == 0) free.push(succ);
    }
  }
  if (local.order.size() == count) return local;
  // Every node left over waits for another one: walk back until one comes again.
  std::vector<std::uint32_t> cause(count, 0);
  each_wait([&](std::uint32_t pred, std::uint32_t succ) {
    if (waiting[pred] != 0) cause[succ] = pred;
  });
  std::uint32_t at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<bool> seen(count, false);
  while (!seen[at]) {
    seen[at] = true;
    at = cause[at];
  }
  std::uint32_t i = at;
  do {
    local.cycle.push_back(i);
    i = cause[i];
  } while (i != at);
  return local;
}

/// All the bytes of a rank that go one way: a buffer, which messages use from its begin on.
class OneWay {
 public:
  /// What is sent has the rank's value.
  OneWay(ScheduleBuilder& builder, RankId rank, std::uint64_t bytes, bool sends);
  /// Of the next message.
  SliceRange next(std::uint64_t bytes);

 private:
  ScheduleBuilder& builder_;
  BufferId buffer_;  // none without bytes
  std::uint64_t used_ = 0;
};

/// What the builder has. Errors name the file.
Schedule build_of(ScheduleBuilder& builder, std::string_view file);

/// Of operations that wait for each other the first `shown`, as `called` has them: "a, b, ...".
std::string cycle_text(std::span<const OpId> cycle, std::size_t shown,
                       const std::function<std::string(OpId)>& called);

/// ", or --eager BYTES, with which…": the least of the sends' sizes, above what is eager now, with
/// which nothing deadlocks; empty if there is none. The more are eager, the fewer wait.
std::string eager_way_out(std::vector<std::uint64_t> sizes,
                          const std::optional<std::uint64_t>& eager_bytes,
                          const std::function<bool(std::uint64_t)>& deadlocks);

}  // namespace slackline::sched
