// A launcher's exchange of keys by PMIx: Open MPI's mpirun, PRRTE, and srun --mpi=pmix. The library
// is loaded when it is needed, and only in a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "hw/launch/shared_word.h"

namespace slackline::hw {

/// Rank 0 gives `word` (which others leave empty), and all ranks get it. There is none if the
/// library is missing, or does not reach the launcher. Call it before there are threads.
///
/// A fork of this process does it: what the library starts (threads, handlers of signals) never was
/// in this one, and what it waits for ends after `patience`. Throws EnvironmentError then, and if
/// the exchange fails.
SharedWord share_by_pmix(std::uint32_t rank, const std::string& word,
                         std::chrono::milliseconds patience);

}  // namespace slackline::hw
