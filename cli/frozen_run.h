// What a reader of floats and of other predictions from a frozen run must know of them.
#pragma once

#include <optional>
#include <string>

#include "analysis/slack/may_share.h"
#include "cli/answer.h"

namespace slackline::cli {

using analysis::shared_link_name;
using analysis::why_no_promise;

/// What does better where the cost of a delay is asked for.
inline constexpr std::string_view kRealPrices = "--price says what delays really cost";

/// `of_frozen_run_only`, and `of_frozen_run_only_because`, null if it is false. For people a line
/// under the name: what `what` ("floats are") is of, and that it is no promise; and `instead`, if
/// it is not empty: what does better. No line if `why` is nothing.
void add_no_promise(Answer& answer, std::string_view what, const std::optional<std::string>& why,
                    std::string_view instead = {});

}  // namespace slackline::cli
