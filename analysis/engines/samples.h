// Monte-Carlo with the analytic engine, over threads.
#pragma once

#include <cstdint>
#include <span>

#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "machine/samples.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::analysis {

/// On the platform's own wiring; throws what that does, too.
machine::Samples run_analytic_samples(const sched::Schedule& schedule,
                                      const machine::Platform& platform,
                                      const machine::DelayPlan& plan,
                                      const machine::IssueOrder& order,
                                      const machine::SampleRuns& runs);

/// Runs run_analytic() once per sample. Throws what it throws; of several, the first sample's.
machine::Samples run_analytic_samples(const sched::Schedule& schedule,
                                      const machine::Platform& platform,
                                      const machine::Wiring& wiring, const machine::DelayPlan& plan,
                                      const machine::IssueOrder& order,
                                      const machine::SampleRuns& runs);

/// Runs run_events() once per sample.
machine::Samples run_event_samples(const sched::Schedule& schedule,
                                   const machine::Platform& platform, const machine::Wiring& wiring,
                                   const machine::DelayPlan& plan, const machine::IssueOrder& order,
                                   const machine::SampleRuns& runs);

/// Runs run_flows() once per sample.
machine::Samples run_flow_samples(const sched::Schedule& schedule,
                                  const machine::Platform& platform, const machine::Wiring& wiring,
                                  const machine::DelayPlan& plan, const machine::IssueOrder& order,
                                  const machine::SampleRuns& runs);

/// Only the samples `which`, into their places in `result`.
void run_analytic_samples(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::Wiring& wiring, const machine::DelayPlan& plan,
                          const machine::IssueOrder& order, const machine::SampleRuns& runs,
                          std::span<const std::uint32_t> which, machine::Samples& result);

}  // namespace slackline::analysis
