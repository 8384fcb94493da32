#include "cli/memory_option.h"

#include "base/units.h"

namespace slackline::cli {

void MemoryOption::declare(Arguments& arguments) {
  arguments.option("--memory", "SIZE", size_,
                   "refuse what would take more memory (default: what is free)");
}

sched::MemoryLimit MemoryOption::limit() const {
  return size_ ? sched::MemoryLimit::of(sched::parse_bytes(*size_, "--memory"))
               : sched::MemoryLimit();
}

}  // namespace slackline::cli
