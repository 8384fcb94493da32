// Files read whole. What writes them is in sched/write_file.h.
#pragma once

#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// The file's bytes. Throws InputError, naming the path and the reason, if it is missing, cannot be
/// read, is a directory, or has more than 4 GiB.
std::string read_file(const std::string& path);

/// Reads a schedule in whichever form the file has: Slackline's text, JSON, or GOAL. Throws
/// InputError as the readers do, with the path for a name.
Schedule load_schedule(const std::string& path);

}  // namespace slackline::sched
