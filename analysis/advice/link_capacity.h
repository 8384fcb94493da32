// Whether a run moved more over a link than the link can carry: then its figures are wrong.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Throws InternalError, naming the link, if the run's messages above the platform's interleave
/// size needed more of a shared link, at the highest rate that it had, than the whole makespan (but
/// for rounding). Smaller messages travel between the packets of these and share nothing. Looks at
/// no run that is `contended`, whose engine ignored sharing, that ended nowhere, or that lost
/// messages.
void require_within_capacity(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace);

/// The same, message by message, for who goes through a run's operations for other figures, too.
class CapacityCheck {
 public:
  /// What the setting is of, the paths and the trace must outlive this.
  CapacityCheck(const machine::Setting& setting, const machine::Paths& paths,
                const sched::Trace& trace);

  /// The message of an initiator, the first of those whose messages left as one: `bytes`, all of
  /// theirs, so many times.
  void add(const sched::Op& op, std::uint64_t bytes, std::uint64_t times) {
    if (bytes <= most_small_bytes_) return;
    const machine::PathId path = paths_.of(op.channel, sched::has_reply(op.kind));
    Carried& carried = carried_[path.value];
    carried.bytes += paths_.wire_bytes(path, bytes) * static_cast<double>(times);
    carried.messages += static_cast<double>(times);
  }
  void require(double makespan_s) const;

 private:
  // Over every link of a path, of messages that share links.
  struct Carried {
    double bytes = 0;
    double messages = 0;
  };

  const machine::Setting& setting_;
  const machine::Paths& paths_;
  const std::uint64_t most_small_bytes_;
  const bool looks_;
  std::vector<Carried> carried_;  // of every path
};

/// The same of one link that carried `bytes` in `messages` at no more than `bytes_per_s`. `name`
/// names it in the error.
void require_within_capacity(std::string_view name, double bytes, double messages,
                             double bytes_per_s, double makespan_s);

}  // namespace slackline::analysis
