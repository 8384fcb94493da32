// Files read whole. What writes them is in sched/write_file.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sched/memory_limit.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// No file is read beyond this.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{4} << 30;

/// The file's bytes, without the mark that some editors put before UTF-8. Throws InputError, naming
/// the path and the reason, if it is missing, cannot be read, is a folder or a device (other than
/// a terminal or /dev/null), is UTF-16, or has more than `most_bytes`; EnvironmentError if memory
/// does not hold it.
std::string read_file(const std::string& path, std::uint64_t most_bytes = kMostFileBytes,
                      const MemoryLimit& memory = {});

/// Drops the mark that some editors put before UTF-8. Throws InputError, naming `where`, at that of
/// UTF-16.
void drop_mark(std::string& bytes, std::string_view where);

/// Reads a trace. Throws as read_trace() and load_schedule() do.
Trace load_trace(const std::string& path, const MemoryLimit& memory = {});

/// Reads a schedule in whichever form the file has: Slackline's text, JSON, or GOAL. The form is
/// known from the first bytes, and no more is read of a file that has none. Throws InputError as
/// the readers do, with the path for a name; EnvironmentError, before it is read, if memory will
/// not hold it and what is made of it.
Schedule load_schedule(const std::string& path, const MemoryLimit& memory = {});

}  // namespace slackline::sched
