// What `simulate` says of a run whose messages met queues, marks and pauses.
#pragma once

#include <vector>

#include "analysis/engines/link_congestion.h"
#include "cli/answer.h"
#include "machine/wiring.h"

namespace slackline::cli {

/// `links` are those of the wiring, of a run that took `end_s`. In JSON every link that carried
/// large messages; of people, the links with the largest queues, and those that were stopped.
void add_congestion(Answer& answer, const machine::Wiring& wiring,
                    const std::vector<analysis::LinkCongestion>& links, double end_s);

}  // namespace slackline::cli
