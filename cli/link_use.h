// What each NIC carried.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "machine/framing.h"
#include "machine/node.h"
#include "machine/paths.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::cli {

/// One entry per rank.
struct LinkUse {
  std::vector<std::uint64_t> out_bytes;
  std::vector<std::uint64_t> in_bytes;
  std::vector<double> out_wire_bytes;  // with what packets and lines add
  std::vector<double> in_wire_bytes;
};

/// What each rank's messages carry, message by message: see link_use().
class RankUse {
 public:
  /// Both must outlive this.
  RankUse(const sched::Schedule& schedule, const machine::Node& node,
          const machine::Framing& framing);

  /// The message of an initiator, which began to leave so many times. `bytes`: of all that left
  /// with it; 0 where the message of another operation stands for them. Throws as link_use() does.
  void add(sched::OpId op, std::uint64_t bytes, std::uint64_t times);
  LinkUse take() { return std::move(use_); }

 private:
  const sched::Schedule& schedule_;
  const machine::Node& node_;
  const machine::Framing framing_;
  LinkUse use_;
};

/// The payload that each rank's messages take out of and into its NIC; answers of gets and atomics
/// leave from their target. What stays within a machine does not count. With a trace, as often as
/// they began to leave. Throws InputError where a rank's bytes are 2^64 or more.
LinkUse link_use(const sched::Schedule& schedule, const machine::Node& node = {},
                 const sched::Trace* trace = nullptr, const machine::Framing& framing = {});

/// How much each link of the wiring carries in a second, in the mean over the time from 0 to
/// `end_s`: a delay plan may change its rate. Its rate at 0 where that is no time, or none that
/// ends.
std::vector<double> mean_bytes_per_s(const machine::Wiring& wiring, const machine::Paths& paths,
                                     double end_s);

/// The share of `makespan_s` in which the NICs of each rank's machine, all together, move the
/// `wire_bytes` of all of its ranks at their mean rate; 0 in no time. A NIC is the first link of
/// the ways that begin at its rank, or the last of those that end there with `in`: the fastest of
/// them, where a SimGrid file has several. Of a switch, which has no NIC, 0.
std::vector<double> utilisation(const std::vector<double>& wire_bytes, bool in,
                                const machine::Wiring& wiring, const machine::Paths& paths,
                                double makespan_s);

/// One entry per NIC, in the order of their numbers.
struct NicUse {
  std::vector<std::uint64_t> out_bytes;
  std::vector<std::uint64_t> in_bytes;
  std::vector<double> out_share;  // of the makespan, as utilisation() has it
  std::vector<double> in_share;
};

/// What each NIC of each machine carries of what link_use() counts. `paths` are those of the
/// schedule on the wiring. Throws InputError where that is 2^64 bytes or more.
NicUse nic_use(const sched::Schedule& schedule, const machine::Wiring& wiring,
               const machine::Paths& paths, const sched::Trace* trace, double makespan_s);

}  // namespace slackline::cli
