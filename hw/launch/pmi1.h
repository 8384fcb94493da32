// A launcher's exchange of keys by PMI-1's wire (hw/launch/pmi1_wire.h): a process asks by lines at
// the descriptor that PMI_FD names.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "hw/descriptor.h"
#include "hw/launch/shared_word.h"

namespace slackline::hw {

/// Rank 0 gives `word` (which others leave empty), and all ranks get it. Closes the connection, as
/// a launcher takes one exchange from a process and its successors. There is none if the launcher
/// ended it before.
///
/// Throws EnvironmentError if the ranks do not all come to it within `patience`, or the launcher
/// answers otherwise than the protocol says; never waits longer than that.
SharedWord share_by_pmi1(Descriptor connection, std::uint32_t rank, const std::string& word,
                         std::chrono::milliseconds patience);

}  // namespace slackline::hw
