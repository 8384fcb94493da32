// The inverse of the name() functions of queue_program.h.
#pragma once

#include <optional>
#include <string_view>

#include "offload/queue_program.h"

namespace slackline::offload {

/// Nothing if there is no such name.
std::optional<Mode> mode_named(std::string_view text);
std::optional<Readiness> readiness_named(std::string_view text);
std::optional<QueueKind> queue_kind_named(std::string_view text);
std::optional<Purpose> purpose_named(std::string_view text);
std::optional<EntryKind> entry_kind_named(std::string_view text);

}  // namespace slackline::offload
