#include "analysis/am_rules.h"

#include <fmt/format.h>

namespace slackline::analysis {

using sched::Op;
using sched::OpId;
using sched::OpKind;

sched::Diagnostics check_am_rules(const sched::Schedule& schedule,
                                  std::span<const sched::AmHandler> handlers) {
  sched::Diagnostics found;
  const auto report = [&](OpId op, std::string message) {
    found.push_back({sched::Code::kStructure, sched::Severity::kError, op, std::move(message)});
  };
  for (const sched::AmHandler& handler : handlers) {
    const Op& request = schedule.op(handler.request);
    const std::uint64_t mark = request.notify == sched::Notify::kFlag ? sched::kMarkBytes : 0;
    const std::uint64_t arguments = schedule.payload_bytes(request) - mark - handler.payload_bytes;
    if (arguments > kMostArgumentBytes) {
      report(handler.request,
             fmt::format("{} is a request with {} B of arguments; expected at most {}",
                         describe(schedule, handler.request), arguments, kMostArgumentBytes));
    }
    OpId reply;
    for (OpId id = handler.first; id <= handler.last; ++id.value) {
      const Op& op = schedule.op(id);
      if (!sched::has_channel(op.kind)) continue;
      const bool answers = (op.kind == OpKind::kPut || op.kind == OpKind::kSend) &&
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

}  // namespace slackline::analysis
