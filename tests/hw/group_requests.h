// What a member of a simulated group has asked of its transport for blocks, as a machine's member
// asks it: how many requests of each kind on each line of the group.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "analysis/group/failure_run.h"
#include "hw/transport.h"
#include "machine/group/plan.h"

namespace slackline::testing {

/// By line, which is the transport's channel of that number, and kind.
using Requests = std::map<std::pair<std::uint32_t, hw::RequestKind>, std::uint64_t>;

inline Requests requests_of(machine::GroupPlan& plan, const analysis::GroupScenario& scenario,
                            const analysis::GroupRun& run, std::uint32_t member) {
  const analysis::GroupMemberRun& of = run.members[member];
  Requests requests;
  auto issued = of.issued.begin();
  for (std::size_t k = 0; k < scenario.messages.size(); ++k) {
    if (scenario.small.takes(scenario.messages[k])) continue;
    const auto message = plan.message(scenario.messages[k]);
    const sched::Schedule& schedule = message->schedule;
    const sched::RankId rank(member);
    for (sched::OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
      const sched::Op& op = schedule.op(id);
      if (!*issued++ || !sched::has_channel(op.kind)) continue;
      const auto kind =
          op.kind == sched::OpKind::kRecv ? hw::RequestKind::kRecv : hw::RequestKind::kSend;
      ++requests[{message->line_of_channel[op.channel.value], kind}];
    }
  }
  // Ahead of a message that comes no more.
  issued = of.issued_ahead.begin();
  const auto add = [&](std::uint32_t line, hw::RequestKind kind) {
    if (line != machine::kNoLine && *issued++) ++requests[{line, kind}];
  };
  const auto credit_of = [&](std::uint32_t line) {
    return line == machine::kNoLine ? line : plan.credit_of(line);
  };
  const std::uint32_t first = plan.first_line(member);
  add(first, hw::RequestKind::kRecv);
  add(credit_of(first), hw::RequestKind::kSend);
  for (std::uint32_t m = 0; m < plan.shape().members; ++m) {
    const std::uint32_t line = plan.first_line(m);
    if (line == machine::kNoLine || plan.lines()[line].src != member) continue;
    add(credit_of(line), hw::RequestKind::kRecv);
  }
  return requests;
}

}  // namespace slackline::testing
