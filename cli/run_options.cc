#include "cli/run_options.h"

#include <fmt/format.h>

#include "cli/inline_delays.h"
#include "sched/error.h"

namespace slackline::cli {

sched::Trace RunSetting::run(const sched::Schedule& schedule, Console& console) const {
  console.phase("simulating");
  return engine->run(schedule, platform, delays, policy);
}

void RunOptions::declare(Arguments& arguments) {
  arguments.option("-p,--platform", "PLATFORM", platform_,
                   fmt::format("a preset's name, a TOML file, or star:key=value,… (default: {})",
                               machine::kDefaultPlatform));
  arguments.option("-e,--engine", "simgrid|analytic", engine_,
                   fmt::format("who answers (default: {})", default_engine_));
  arguments.option("--policy", "in-order|ready", policy_,
                   "which ready operation a lane posts next (default: in-order)");
  arguments.option("--delays", "FILE", delay_file_, "a delay plan (TOML)");
  arguments.repeatable("--delay", "op=N,by=TIME", delays_,
                       "delay one operation, or rank=R,step=N; of=lane holds its whole lane");
  arguments.repeatable("--slow-pair", "src=R,dst=R,rate=RATE", slow_pairs_,
                       "a lower rate for messages between two ranks");
}

RunSetting RunOptions::resolve(Console& console) const {
  RunSetting setting;
  if (engine_) {
    setting.engine = &engine_named(*engine_);
  } else {
    for (const EngineEntry& entry : engines()) {
      if (entry.name == default_engine_) setting.engine = &entry;
    }
    if (setting.engine == nullptr) {
      setting.engine = &engine_named("analytic");
      console.note("this program was built without SimGrid: the analytic engine answers");
    }
  }
  if (policy_) {
    const auto policy = machine::issue_policy_named(*policy_);
    if (!policy) {
      throw InputError(fmt::format("--policy: '{}'; expected in-order or ready", *policy_));
    }
    setting.policy = *policy;
  }
  setting.platform = machine::load_platform(platform_ ? *platform_ : machine::kDefaultPlatform);
  if (delay_file_) setting.delays = machine::load_delay_plan(*delay_file_);
  for (const std::string& text : delays_) add_delay(setting.delays, text);
  for (const std::string& text : slow_pairs_) add_slow_pair(setting.delays, text);
  return setting;
}

std::string_view RunOptions::given() const {
  if (platform_) return "--platform";
  if (engine_) return "--engine";
  if (policy_) return "--policy";
  if (delay_file_) return "--delays";
  if (!delays_.empty()) return "--delay";
  if (!slow_pairs_.empty()) return "--slow-pair";
  return "";
}

}  // namespace slackline::cli
