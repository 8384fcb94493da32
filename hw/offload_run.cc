#include "hw/offload_run.h"

#include "base/error.h"

#ifdef SLACKLINE_HAVE_VERBS
#include "hw/verbs/offload.h"
#endif

namespace slackline::hw {

OffloadRun run_offloaded([[maybe_unused]] const offload::QueueProgram& program,
                         [[maybe_unused]] const sched::Schedule& schedule,
                         [[maybe_unused]] OffloadPath path,
                         [[maybe_unused]] const std::string& device,
                         [[maybe_unused]] const QueueEncoder& encode) {
#ifdef SLACKLINE_HAVE_VERBS
  return run_on_mlx5(program, schedule, path, device, encode);
#else
  throw EnvironmentError(
      "offload: this Slackline was built without libibverbs (Debian: libibverbs-dev)");
#endif
}

}  // namespace slackline::hw
