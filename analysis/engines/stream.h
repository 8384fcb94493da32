// A multicast evaluated from its pattern's steps, without ever making its schedule: memory depends
// on the ranks alone, and a makespan is there sooner than a schedule would be. Of a collective in
// which all ranks do the same, one rank stands for all.
#pragma once

#include <cstdint>
#include <functional>
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
  std::vector<double> sent_wire_bytes;  // with what packets and lines add
  std::vector<double> received_wire_bytes;
  std::uint64_t transfers = 0;
  std::uint64_t message_bytes = 0;  // as Schedule::message_bytes()
  /// The times of longest_path() on the compiled schedule, to the last bit. Otherwise delays have
  /// exchanged operations of a CPU lane that are close together; each goes when it can, as if it
  /// had not met the other, and the lane's later ones wait for both. Times are then mostly a little
  /// short, by less than the lane's holds where that happened. Of a collective: of run_analytic(),
  /// and always.
  bool exact = false;
};

/// Why a spec cannot be streamed; nothing if it can. A multicast can on a star, whose ranks are
/// placed as they come, one message at a time, with credits as sends, pairwise, one receive posted
/// ahead and at most one block in flight (or, of serial NICs, any number); posts take time; every
/// block is above the platform's interleave size. Of a delay plan noise and stragglers can be told.
///
/// A collective can on such a star, if nothing is delayed and one of its ranks stands for all
/// (sched/pattern/collective_series.h): also with other credits and several messages in flight.
std::optional<std::string> why_not_streamed(const sched::Spec& spec,
                                            const machine::Platform& platform,
                                            const machine::DelayPlan& delays);

/// Nothing where why_not_streamed() has a reason, or where a collective's ranks may not stay alike:
/// messages share ports, or the order in which they come to one is not fixed. The spec may be
/// beyond the size that compile() takes, if the pattern has steps of its own or ranks that are
/// alike. `progress` may be empty; it is told now and then how many steps of all are done. Throws
/// InputError for a spec or a plan that is none, EnvironmentError where the ranks would not fit
/// into this machine's memory.
std::optional<Stream> stream(
    const sched::Spec& spec, const machine::Platform& platform,
    const machine::DelayPlan& delays = {},
    const std::function<void(std::uint32_t done, std::uint32_t of)>& progress = {});

struct StreamSamples {
  machine::Samples samples;
  std::vector<char> exact;  // of every sample, as Stream::exact
};

/// Sample i is stream() with seed `delays.seed + i`, to the last bit, whatever the number of jobs
/// and the machine's instruction set.
std::optional<StreamSamples> stream_samples(const sched::Spec& spec,
                                            const machine::Platform& platform,
                                            const machine::DelayPlan& delays,
                                            const machine::SampleRuns& runs);

/// Runs the samples `which` again by the engines that have the schedule, which it compiles.
void run_exactly(StreamSamples& streamed, const std::vector<std::uint32_t>& which,
                 const sched::Spec& spec, const machine::Platform& platform,
                 const machine::DelayPlan& delays, const machine::SampleRuns& runs);

}  // namespace slackline::analysis
