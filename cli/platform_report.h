// What a report says of the platform of a run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/json_document.h"
#include "cli/table.h"
#include "machine/platform.h"

namespace slackline::cli {

/// The platform as `shown`, all of its figures in one line (defaults too; `--platform` takes it),
/// and that the run takes more nodes than the machine has, if it does.
void add_platform_rows(Table& table, std::string_view shown, const machine::Platform& platform,
                       std::uint32_t ranks);

/// `platform`, `platform_spec`, `nodes` (that the run takes) and `platform_nodes` (that the machine
/// has; null if nobody said).
void set_platform(JsonDocument& json, const machine::Platform& platform, std::uint32_t ranks);
/// The same where the spec stands elsewhere, as in a trace.
void set_platform(JsonDocument& json, const machine::Platform& platform, std::string_view spec,
                  std::uint32_t ranks);

}  // namespace slackline::cli
