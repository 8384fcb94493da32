// Schedules and traces from files. What reads and writes files of any kind is in base/read_file.h
// and base/write_file.h.
#pragma once

#include <string>

#include "base/memory_limit.h"
#include "sched/import/chakra.h"
#include "sched/import/goal.h"
#include "sched/import/msccl.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// What files of other tools do not say themselves.
struct ImportOptions {
  ChakraOptions chakra;  // its eager_bytes are those of `goal`
  GoalOptions goal;
  MscclOptions msccl;
};

/// Reads a trace. Throws as read_trace() and load_schedule() do.
Trace load_trace(const std::string& path, const MemoryLimit& memory = {});

/// Reads a schedule in whichever form the file has: Slackline's text, JSON, GOAL as text or bytes,
/// MSCCL's XML or MSCCL++'s JSON. Forms are known from the first bytes, and no more is read of a
/// file without. Chakra's traces are known by their names instead (sched/import/chakra_files.h),
/// and those of all ranks are read. Throws InputError as the readers do, with the path for a name,
/// and where an option is given that is of another form; EnvironmentError, before it is read, if
/// memory will not hold it and what is made of it.
Schedule load_schedule(const std::string& path, const MemoryLimit& memory = {},
                       const ImportOptions& options = {});

}  // namespace slackline::sched
