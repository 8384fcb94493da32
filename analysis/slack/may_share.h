// Whether the messages of a schedule can ever share a link of a network, or meet other rates,
// whatever delays do: then a float is no promise.
#pragma once

#include <optional>
#include <string>

#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::analysis {

/// The first link, in the wiring's order, that has not the rate for all large messages that could
/// pass it at a time, each at the rate of its own slowest link; nothing if every link has. Then no
/// delay makes messages share, and what is frozen of a run is its order alone.
///
/// A serial NIC sends one large message at a time, and receives one; of a fair one, and of a
/// SimGrid file's host, all of its messages count. Small messages, up to the platform's
/// `interleave`, share nothing, but what gathers may be large together. Never nothing where a run
/// could share; it may name a link that no order of events fills.
std::optional<machine::LinkId> link_that_may_be_shared(const machine::Setting& setting,
                                                       const machine::Paths& paths);

/// Its name.
std::optional<std::string> shared_link_name(const machine::Setting& setting);

/// Why a delay within its float may cost time all the same; nothing where no message can ever share
/// a link, and no rate changes and no way is cut at a given time. It ends a sentence: "messages may
/// share links (rack-0.up)".
std::optional<std::string> why_no_promise(const machine::Setting& setting);

}  // namespace slackline::analysis
