// Reads the JSON form of a schedule (sched/export/json.h).
#pragma once

#include <string_view>

#include "sched/schedule.h"

namespace slackline::sched {

/// The schedule that the document describes: same digest as the one that was written. Fields that
/// are left out have the default of sched/op.h; those it does not know are passed over. `match` is
/// what joins a poll to its put; elsewhere, where given, it is checked. Throws InputError,
/// "file: place: what was expected", on anything else, a newer schema and a digest that does not
/// fit the contents included.
Schedule read_json(std::string_view text, std::string_view file = "schedule");

}  // namespace slackline::sched
