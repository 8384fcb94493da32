#include "engines/network.h"

#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/file_wiring.h"
#else
#include "base/error.h"
#endif

namespace slackline::engines {

#ifdef SLACKLINE_HAVE_SIMGRID

machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule) {
  return sim::wiring_of(platform, schedule);
}

machine::Wiring wiring_of_ranks(const machine::Platform& platform, std::uint32_t ranks) {
  return sim::wiring_of_ranks(platform, ranks);
}

#else

machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule) {
  return wiring_of_ranks(platform, schedule.rank_count());
}

machine::Wiring wiring_of_ranks(const machine::Platform& platform, std::uint32_t ranks) {
  if (platform.topology.kind() == machine::TopologyKind::kSimgridFile) {
    throw EnvironmentError(
        "topology simgrid: this program was built without SimGrid, which reads its file; install "
        "it (Debian: libsimgrid-dev) and build again, or use another topology");
  }
  return machine::Wiring(platform, ranks);
}

#endif

}  // namespace slackline::engines
