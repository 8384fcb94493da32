// A queue program that was written before.
#pragma once

#include <optional>
#include <string>

#include "offload/queue_program.h"

namespace slackline::cli {

/// The program in the file; nothing if `path` is no file that begins as one. Throws InputError as
/// offload::read_queues() does.
std::optional<offload::QueueProgram> read_queue_file(const std::string& path);

}  // namespace slackline::cli
