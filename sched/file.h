// Files: read whole, written whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "sched/schedule.h"

namespace slackline::sched {

/// The file's bytes. Throws InputError, naming the path and the reason, if it is missing, cannot be
/// read, is a directory, or has more than 4 GiB.
std::string read_file(const std::string& path);

/// Writes `bytes` to a temporary file beside `path` and renames it, so that nobody ever sees half a
/// file; one that was there keeps its permissions. What is there and is no ordinary file (a
/// terminal, a pipe) is written to directly. Throws InputError, naming the path and the reason, and
/// leaves nothing behind.
void write_file_aside(const std::string& path, std::string_view bytes);

/// Says beforehand what write_file_aside() would find wrong with a place: throws as it does.
void require_writable(const std::string& path);

/// Reads a schedule in whichever form the file has: Slackline's text, JSON, or GOAL. Throws
/// InputError as the readers do, with the path for a name.
Schedule load_schedule(const std::string& path);

}  // namespace slackline::sched
