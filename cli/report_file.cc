#include "cli/report_file.h"

#include <utility>

#include "cli/frozen_run.h"

namespace slackline::cli {

report::ReportedRun reported_run(std::string label, const sched::Schedule& schedule,
                                 const SlackRun& run) {
  return reported_run(std::move(label), schedule, run.trace, run.platform, run.wiring, run.delays);
}

report::ReportedRun reported_run(std::string label, const sched::Schedule& schedule,
                                 const sched::Trace& trace, const machine::Platform& platform,
                                 const machine::Wiring& wiring, const machine::DelayPlan& delays) {
  return {std::move(label), trace,  platform,     wiring,
          delays,           std::nullopt, why_no_promise(schedule, platform, wiring, delays)};
}

}  // namespace slackline::cli
