#include "sched/workloads/tasks/task_options.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::sched {

void check_record(std::uint64_t bytes) {
  if (bytes >= 16 && bytes % 8 == 0 && bytes <= (1u << 20)) return;
  throw InputError(fmt::format("record: {} bytes; expected a multiple of 8, 16 to 1048576", bytes));
}

}  // namespace slackline::sched
