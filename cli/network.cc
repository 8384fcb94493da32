#include "cli/network.h"

#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/file_wiring.h"
#else
#include "sched/error.h"
#endif

namespace slackline::cli {

machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule) {
#ifdef SLACKLINE_HAVE_SIMGRID
  return sim::wiring_of(platform, schedule);
#else
  if (platform.topology.kind() == machine::TopologyKind::kSimgridFile) {
    throw EnvironmentError(
        "topology simgrid: this program was built without SimGrid, which reads its file; install "
        "it (Debian: libsimgrid-dev) and build again, or use another topology");
  }
  return machine::Wiring(platform, schedule.rank_count());
#endif
}

}  // namespace slackline::cli
