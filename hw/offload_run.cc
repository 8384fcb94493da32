#include "hw/offload_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

#ifdef SLACKLINE_HAVE_VERBS
#include "hw/verbs/offload.h"
#endif

namespace slackline::hw {
namespace {

// What no device changes is said before one is looked for.
void require_path(const offload::QueueProgram& program, OffloadPath path) {
  for (std::uint32_t q = 0; path == OffloadPath::kRaw && q < program.queues().size(); ++q) {
    if (!program.queues()[q].managed) continue;
    throw Unsupported(fmt::format(
        "offload: queue {} is managed, which libibverbs cannot make, nor can it make another its "
        "master (cd_master); expected mode sq-wait with readiness handshake or none, or --run "
        "devx",
        q));
  }
  const auto begins_late = [](const auto& counted) { return counted.start != 0; };
  if (std::ranges::any_of(program.queues(), begins_late) ||
      std::ranges::any_of(program.cqs(), begins_late)) {
    throw Unsupported("offload: a program whose counts do not begin at 0, as new queues' do");
  }
}

}  // namespace

OffloadRun run_offloaded(const offload::QueueProgram& program,
                         [[maybe_unused]] const sched::Schedule& schedule, OffloadPath path,
                         [[maybe_unused]] const std::string& device,
                         [[maybe_unused]] const QueueEncoder& encode) {
  require_path(program, path);
#ifdef SLACKLINE_HAVE_VERBS
  return run_on_mlx5(program, schedule, path, device, encode);
#else
  throw EnvironmentError(
      "offload: this Slackline was built without libibverbs (Debian: libibverbs-dev)");
#endif
}

}  // namespace slackline::hw
