#include "experiments/contention.h"

#include "base/error.h"
#include "engines/engines.h"

namespace slackline::experiments {

sched::Trace run_contended(const machine::Setting& setting) {
  const machine::Engine* simgrid = engines::find_engine("simgrid");
  if (simgrid != nullptr) return simgrid->run(setting);
  throw EnvironmentError(
      "this figure needs SimGrid, and Slackline was built without it; install it (Debian: "
      "libsimgrid-dev) and configure again");
}

}  // namespace slackline::experiments
