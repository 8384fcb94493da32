// The rules of active messages, as GASNet has them ("RDMA vs. RPC", sections II-B and II-D).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "sched/diagnostic.h"
#include "sched/workloads/structures/structure.h"

namespace slackline::testing {

inline constexpr std::uint64_t kMostArgumentBytes = 64;

/// A handler sends at most one reply, to the rank that called, and takes part in no other
/// communication; a request has at most 64 B of arguments beside its payload. What breaks a rule is
/// named; code kStructure.
inline sched::Diagnostics check_am_rules(const sched::Schedule& schedule,
                                         std::span<const sched::AmHandler> handlers) {
  sched::Diagnostics found;
  const auto report = [&](sched::OpId op, std::string message) {
    found.push_back({sched::Code::kStructure, sched::Severity::kError, op, std::move(message)});
  };
  for (const sched::AmHandler& handler : handlers) {
    const sched::Op& request = schedule.op(handler.request);
    const std::uint64_t mark = request.notify == sched::Notify::kFlag ? sched::kMarkBytes : 0;
    const std::uint64_t arguments = schedule.payload_bytes(request) - mark - handler.payload_bytes;
    if (arguments > kMostArgumentBytes) {
      report(handler.request,
             fmt::format("{} is a request with {} B of arguments; expected at most {}",
                         describe(schedule, handler.request), arguments, kMostArgumentBytes));
    }
    sched::OpId reply;
    for (sched::OpId id = handler.first; id <= handler.last; ++id.value) {
      const sched::Op& op = schedule.op(id);
      if (!sched::has_channel(op.kind)) continue;
      const bool answers = (op.kind == sched::OpKind::kPut || op.kind == sched::OpKind::kSend) &&
                           schedule.channel(op.channel).dst == request.rank;
      if (!answers) {
        report(id, fmt::format("{} communicates in a handler, called by {}; expected a reply only",
                               describe(schedule, id), describe(schedule, handler.request)));
      } else if (reply.valid()) {
        report(id, fmt::format("{} is another reply to {}, beside {}; expected one at most",
                               describe(schedule, id), describe(schedule, handler.request),
                               describe(schedule, reply)));
      } else {
        reply = id;
      }
    }
  }
  return found;
}

}  // namespace slackline::testing
