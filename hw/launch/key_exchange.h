// Whether the launcher that started this process exchanges keys between ranks, and by what.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "hw/launch/shared_word.h"
#include "hw/place.h"

namespace slackline::hw {

enum class ExchangeKind : std::uint8_t { kNone, kPmi1, kPmix };

struct LauncherKeys {
  ExchangeKind kind = ExchangeKind::kNone;
  int descriptor = -1;  // of PMI-1

  explicit operator bool() const { return kind != ExchangeKind::kNone; }
};

/// What the environment of the process at `place` offers: PMI-1 where PMI_FD is an open socket,
/// PMIx where a server is named; of the launcher that gave it this rank, as others may stand around
/// it. Nothing where there is none.
LauncherKeys key_exchange_of(const Environment& environment, const LaunchPlace& place);

/// This process's.
LauncherKeys key_exchange_of_process(const LaunchPlace& place);

/// Rank 0 gives `word`, of kMostSharedWord bytes without white space at most; all ranks get it, as
/// share_by_pmi1() and share_by_pmix() do. Once in a process. Throws EnvironmentError as they do.
SharedWord share_word(const LauncherKeys& exchange, std::uint32_t rank, const std::string& word,
                      std::chrono::milliseconds patience);

}  // namespace slackline::hw
