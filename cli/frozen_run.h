// What a reader of floats and of other predictions from a frozen run must know of them.
#pragma once

#include <optional>
#include <string>

#include "cli/answer.h"
#include "machine/setting.h"

namespace slackline::cli {

/// The name of a link that messages may share; nothing where no message ever can.
std::optional<std::string> shared_link_name(const machine::Setting& setting);

/// Why a delay within its float may cost time all the same; nothing where no message can ever share
/// a link. It ends a sentence: "messages may share links (rack-0.up)".
std::optional<std::string> why_no_promise(const machine::Setting& setting);

/// What does better where the cost of a delay is asked for.
inline constexpr std::string_view kRealPrices = "--price says what delays really cost";

/// `of_frozen_run_only`, and `of_frozen_run_only_because`, null if it is false. For people a line
/// under the name: what `what` ("floats are") is of, and that it is no promise; and `instead`, if
/// it is not empty: what does better. No line if `why` is nothing.
void add_no_promise(Answer& answer, std::string_view what, const std::optional<std::string>& why,
                    std::string_view instead = {});

}  // namespace slackline::cli
