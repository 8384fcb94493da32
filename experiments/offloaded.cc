#include "experiments/offloaded.h"

#include "base/error.h"
#include "experiments/multicast.h"
#include "machine/wiring.h"
#include "offload/check_queues.h"
#include "offload/compile_queues.h"

namespace slackline::experiments {
namespace {

offload::QueueOptions options_of(offload::Mode mode) {
  offload::QueueOptions options;
  options.mode = mode;
  options.readiness = offload::default_readiness(mode);
  return options;
}

}  // namespace

Offloaded::Offloaded(const sched::Schedule& schedule, offload::Mode mode)
    : schedule_(schedule), program_(compile_queues(schedule, options_of(mode))), graph_(schedule) {
  const auto found = check_queues(program_, schedule_, graph_);
  if (!found.empty()) throw InternalError("compiled queues: " + found.front().message);
}

sched::Trace Offloaded::run(const machine::Platform& platform, const offload::NicTiming& timing,
                            const machine::DelayPlan& delays) const {
  const machine::Wiring wiring(platform, schedule_.rank_count());
  offload::Emulation emulation =
      emulate_timed(program_, {schedule_, platform, wiring, delays}, graph_, timing);
  if (!emulation.sound()) throw InternalError("emulated queues: " + emulation.faults.front());
  return std::move(emulation.trace);
}

double Offloaded::delivered_s(const machine::Platform& platform, const offload::NicTiming& timing,
                              const machine::DelayPlan& delays) const {
  return experiments::delivered_s(schedule_, run(platform, timing, delays));
}

}  // namespace slackline::experiments
