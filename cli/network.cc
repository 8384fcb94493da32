#include "cli/network.h"

namespace slackline::cli {

machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule) {
  return machine::Wiring(platform, schedule.rank_count());
}

}  // namespace slackline::cli
