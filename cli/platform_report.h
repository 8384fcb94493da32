// What a report says of the platform of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/answer.h"
#include "machine/platform.h"

namespace slackline::cli {

/// Both of what is below: `platform_spec` is `spec`, where it stands elsewhere, as in a trace.
void add_platform(Answer& answer, std::string_view shown, const machine::Platform& platform,
                  std::uint32_t ranks, std::optional<std::string_view> spec = {});

/// The platform as `shown`, all of its figures (defaults too; `--platform` takes them in one line),
/// and that the run takes more nodes than the machine has, if it does.
void add_platform_rows(Table& table, std::string_view shown, const machine::Platform& platform,
                       std::uint32_t ranks);

/// `platform`, `platform_spec`, `nodes` (that the run takes) and `platform_nodes` (that the machine
/// has; null if nobody said).
void set_platform(JsonOutput& json, const machine::Platform& platform, std::uint32_t ranks,
                  std::optional<std::string_view> spec = {});

}  // namespace slackline::cli
