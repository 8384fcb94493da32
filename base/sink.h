// Where text or bytes go that are made piece by piece, so that nobody holds all of them.
#pragma once

#include <functional>
#include <string_view>

namespace slackline::sched {

/// Takes the next piece; it is not kept.
using Sink = std::function<void(std::string_view piece)>;

/// Makes all pieces, one after the other; the same each time it is called.
using Pieces = std::function<void(const Sink&)>;

}  // namespace slackline::sched
