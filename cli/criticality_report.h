// What `slack --samples` says: how often each operation and each rank is on the critical path.
#pragma once

#include <string>

#include "analysis/criticality.h"
#include "cli/run_options.h"
#include "cli/schedule_source.h"

namespace slackline::cli {

std::string criticality_report(const LoadedSchedule& loaded, const RunSetting& setting,
                               const analysis::Criticality& found, bool all);
std::string criticality_document(const LoadedSchedule& loaded, const RunSetting& setting,
                                 const analysis::Criticality& found);

}  // namespace slackline::cli
