#include "machine/engine.h"

namespace slackline::machine {

std::vector<double> Engine::delayed_runs(const Setting& setting, std::span<const OpDelay> delays,
                                         const PlanRuns& plans, const TraceReading& reading) const {
  if (run_delayed != nullptr) return run_delayed(setting, delays, plans, reading);
  PlanRuns each = plans;
  each.count = static_cast<std::uint32_t>(delays.size());
  each.plan = [&](std::uint32_t run) {
    DelayPlan plan = setting.delays;
    plan.ops.push_back(delays[run]);
    return plan;
  };
  return run_plans(setting, each, reading);
}

Samples Engine::samples(const Setting& setting, const SampleRuns& runs) const {
  return samples_of(source(setting), setting.schedule, setting.delays, runs);
}

std::string Engine::drive(const Setting& setting, const Paths& paths, const MakeRun& make) const {
  return drive_run == nullptr ? drive_alone(paths, make) : drive_run(setting, paths, make);
}

}  // namespace slackline::machine
