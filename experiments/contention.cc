#include "experiments/contention.h"

#include "base/error.h"
#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/simgrid_engine.h"
#endif

namespace slackline::experiments {

sched::Trace run_contended([[maybe_unused]] const sched::Schedule& schedule,
                           [[maybe_unused]] const machine::Platform& platform,
                           [[maybe_unused]] const machine::DelayPlan& delays) {
#ifdef SLACKLINE_HAVE_SIMGRID
  return sim::run_simgrid(schedule, platform, delays);
#else
  throw EnvironmentError(
      "this figure needs SimGrid, and Slackline was built without it; install it (Debian: "
      "libsimgrid-dev) and configure again");
#endif
}

}  // namespace slackline::experiments
