// Collectives in which all ranks do the same: one rank stands for all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/engines/stream.h"

namespace slackline::analysis {

/// What stream() says of a collective that why_not_streamed() has no reason against.
std::optional<Stream> stream_of_alike(const sched::Spec& spec, const machine::Platform& platform);

/// About the memory that this takes; never much less.
std::uint64_t bytes_for_alike(const sched::Spec& spec);

}  // namespace slackline::analysis
