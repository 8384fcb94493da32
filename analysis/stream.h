// A multicast evaluated from its pattern's steps, without ever making its schedule: memory depends
// on the ranks alone, and a makespan is there sooner than a schedule would be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/samples.h"
#include "sched/compile.h"

namespace slackline::analysis {

struct Stream {
  double makespan_s = 0;
  std::vector<double> rank_finish_s;  // as machine::rank_finish_s
  std::vector<std::uint64_t> sent_bytes;
  std::vector<std::uint64_t> received_bytes;
  std::uint64_t transfers = 0;
};

/// Why a multicast cannot be streamed; nothing if it can. It can on a star, one message at a time,
/// with credits as sends, pairwise, one receive posted ahead and at most one block in flight (or,
/// of serial NICs, any number); posts take time; every block is above the platform's interleave
/// size. Of a delay plan noise and stragglers can be told.
std::optional<std::string> why_not_streamed(const sched::Spec& spec,
                                            const machine::Platform& platform,
                                            const machine::DelayPlan& delays);

/// The times of longest_path() on the compiled schedule, to the last bit. Nothing where
/// why_not_streamed() has a reason, and where lanes would not keep program order: then only the
/// engines that have the schedule know. The spec may be beyond the size that compile() takes, if
/// the pattern has steps of its own. Throws InputError for a spec or a plan that is none.
std::optional<Stream> stream(const sched::Spec& spec, const machine::Platform& platform,
                             const machine::DelayPlan& delays = {});

/// The samples of run_analytic_samples(), to the last bit. Samples in which lanes do not keep
/// program order are run by the engines that have the schedule. Nothing where why_not_streamed()
/// has a reason.
std::optional<machine::Samples> stream_samples(const sched::Spec& spec,
                                               const machine::Platform& platform,
                                               const machine::DelayPlan& delays,
                                               const machine::SampleRuns& runs);

}  // namespace slackline::analysis
