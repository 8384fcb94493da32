#include "cli/delay_options.h"

#include "cli/inline_delays.h"

namespace slackline::cli {

void DelayOptions::declare(Arguments& arguments) {
  arguments.section("Delays and failures");
  arguments.option("--delays", "FILE", file_, "a delay plan (TOML)");
  arguments.number("--seed", "N", seed_, "of the random draws (default: the plan's, or 0)", 0);
  if (names_.delay) {
    arguments.repeatable("--delay", "op=N,by=TIME", delays_,
                         "delay one operation, or rank=R,step=N; of=lane holds its whole lane");
  }
  if (names_.network) {
    arguments.repeatable("--slow-pair", "src=R,dst=R,rate=RATE", slow_pairs_,
                         "a lower rate for messages between two ranks");
  }
  arguments.repeatable("--straggler", "rank=R,slowdown=X", stragglers_,
                       "a rank whose posts, copies and calculations take longer; by=TIME adds");
  arguments.repeatable(
      "--noise", "KIND,key=value", noise_,
      "random delays: constant,by=T or uniform,low=T,high=T or exponential,mean=T "
      "or lognormal,median=T,sigma=X or trace,file=FILE; also chance=, rank=, of=");
  if (names_.network) {
    arguments.repeatable("--link-rate", "link=NAME,rate=RATE,at=TIME", link_rates_,
                         "another rate for a link of the network, from a time on");
    arguments.repeatable("--fail", "link=NAME|rank=R,at=TIME", failures_,
                         "a link, or a rank's host, that is gone from a time on");
  }
  arguments.section("");
}

machine::DelayPlan DelayOptions::resolve() const {
  machine::DelayPlan plan;
  if (file_) plan = machine::load_delay_plan(*file_);
  for (const std::string& text : delays_) add_delay(plan, text);
  for (const std::string& text : slow_pairs_) add_slow_pair(plan, text);
  for (const std::string& text : stragglers_) add_straggler(plan, text);
  for (const std::string& text : noise_) add_noise(plan, text);
  for (const std::string& text : link_rates_) add_link_rate(plan, text);
  for (const std::string& text : failures_) add_failure(plan, text);
  if (seed_) plan.seed = *seed_;
  return plan;
}

std::string_view DelayOptions::given() const {
  if (file_) return "--delays";
  if (!delays_.empty()) return "--delay";
  if (!slow_pairs_.empty()) return "--slow-pair";
  if (!stragglers_.empty()) return "--straggler";
  if (!noise_.empty()) return "--noise";
  if (!link_rates_.empty()) return "--link-rate";
  if (!failures_.empty()) return "--fail";
  if (seed_) return "--seed";
  return "";
}

}  // namespace slackline::cli
