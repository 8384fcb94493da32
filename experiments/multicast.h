// One multicast on one machine: what most experiments measure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::experiments {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;

struct Multicast {
  std::string pattern;
  std::uint32_t ranks = 1;  // the root among them
  std::uint64_t bytes = 0;
  std::uint64_t block_bytes = kMiB;
  std::string more;  // further options of a spec: "first-block=copy"
};

std::string spec_of(const Multicast& multicast);
sched::Schedule schedule_of(const Multicast& multicast);

/// Ends in a part of the message being at a receiver: the receive of a block, or its copy. Not of
/// an empty message.
bool brings_data(const sched::Schedule& schedule, const sched::Op& op);

/// A machine on which nothing takes time but blocks, whose unit of time one block of `block_bytes`
/// is: results in it are "block times".
machine::Platform bare_machine();
double block_time_s(const machine::Platform& platform, std::uint64_t block_bytes = kMiB);

/// When each rank holds the whole message: its last receive or copy. 0 for the root.
std::vector<double> receipts_s(const sched::Schedule& schedule, const sched::Trace& trace);

/// When every receiver holds the message, as RDMC measures (section 5.1): the root's last
/// acknowledgement is not waited for.
double delivered_s(const sched::Schedule& schedule, const sched::Trace& trace);

/// The same of one multicast alone, by the analytic engine.
double delivery_s(const Multicast& multicast, const machine::Platform& platform,
                  const machine::DelayPlan& delays = {});

/// The time in block times of the bare machine, by the analytic engine.
double block_times(const Multicast& multicast, const machine::DelayPlan& delays = {});

/// A pattern's name as figures show it: "binomial pipeline".
std::string title_of(std::string_view pattern);

}  // namespace slackline::experiments
