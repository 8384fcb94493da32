#include "sweep/outcome.h"

#include <cmath>
#include <optional>
#include <set>

#include "analysis/engines/stream.h"
#include "analysis/slack/float_summary.h"
#include "analysis/slack/may_share.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "engines/engines.h"
#include "engines/network.h"
#include "machine/delay_plan.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/randomness.h"
#include "machine/samples.h"
#include "machine/setting.h"
#include "machine/wiring.h"
#include "sched/compile.h"
#include "sched/pattern/spec.h"
#include "sched/schedule.h"

namespace slackline::sweep {
namespace {

machine::DelayPlan plan_of(const Point& point) {
  machine::DelayPlan plan;
  if (!point.delays.empty()) plan = machine::load_delay_plan(point.delays);
  plan.seed = point.seed;
  return plan;
}

PointSlack slack_of(const machine::Setting& setting, const sched::Trace& trace) {
  const analysis::TimedSlack slack = analysis::slack_of_run(setting, trace);
  const analysis::FloatSummary spread = analysis::summarise(slack.total_float_s);
  return {spread.ops,
          spread.without,
          spread.min_s,
          spread.median_s,
          spread.max_s,
          std::set(slack.critical_path.begin(), slack.critical_path.end()).size(),
          analysis::why_no_promise(setting).has_value()};
}

}  // namespace

struct PointRunner::Kept {
  std::string spec_text, platform_text;
  std::optional<sched::Spec> spec;
  std::optional<machine::Platform> platform;
  std::optional<sched::Schedule> schedule;
  std::optional<machine::Wiring> wiring;

  // Makes what is not there yet.
  void read(const Point& point) {
    if (!spec || point.schedule != spec_text) {
      *this = {};
      spec = sched::parse_spec_of_any_size(point.schedule);
      spec_text = point.schedule;
    }
    if (!platform || point.platform != platform_text) {
      wiring.reset();
      platform.reset();
      platform = machine::load_platform(point.platform);
      platform_text = point.platform;
    }
  }
  machine::Setting setting(const machine::DelayPlan& plan) {
    if (!schedule) schedule = sched::compile(*spec);
    if (!wiring) wiring = engines::wiring_of(*platform, *schedule);
    return {*schedule, *platform, *wiring, plan};
  }
};

PointRunner::PointRunner() : kept_(std::make_unique<Kept>()) {}
PointRunner::~PointRunner() = default;

PointOutcome PointRunner::answer(const Point& point) {
  try {
    kept_->read(point);
    const machine::Engine& engine = engines::engine_named(point.engine, "engine");
    const machine::DelayPlan plan = plan_of(point);
    if (engine.name == "analytic" && point.samples == 1 && !point.with_slack) {
      const auto stream = analysis::stream(*kept_->spec, *kept_->platform, plan);
      if (stream && stream->exact) return {{stream->makespan_s}, "", 0};
    }
    const machine::Setting setting = kept_->setting(plan);
    if (point.samples == 1) {
      const sched::Trace trace = engine.run(setting);
      const double makespan_s = trace.makespan_s();
      PointOutcome outcome{{makespan_s}, "", 0};
      outcome.contended = trace.contended;
      if (point.with_slack && std::isfinite(makespan_s)) outcome.slack = slack_of(setting, trace);
      return outcome;
    }
    machine::require_draws(point.samples, machine::draws(plan, setting.schedule), "samples");
    PointOutcome outcome{engine.samples(setting, {point.samples, 1, {}}).makespan_s, "", 0};
    outcome.contended =
        !engine.shares_links &&
        analysis::link_that_may_be_shared(setting, machine::Paths(setting)).has_value();
    return outcome;
  } catch (const Error& error) {
    return {{}, error.what(), error.exit_code()};
  }
}

}  // namespace slackline::sweep
