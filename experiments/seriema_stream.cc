#include "experiments/seriema_stream.h"

#include <fmt/format.h>

#include "analysis/engines/event_engine.h"
#include "sched/compile.h"
#include "sched/program_writer.h"

namespace slackline::experiments {

using sched::OpId;
using sched::OpKind;

double writes_per_s(const machine::Platform& platform, std::uint64_t bytes, std::uint32_t messages,
                    std::uint32_t u_max, Signalling signalling) {
  sched::ProgramWriter builder(2);
  const sched::BufferId source = builder.add_buffer(sched::RankId(0), bytes);
  const sched::BufferId target = builder.add_buffer(sched::RankId(1), bytes);
  const sched::OpPlace at{sched::RankId(0)};
  const sched::ChannelId on = builder.connect(sched::RankId(0), sched::RankId(1));
  const sched::Op put =
      builder.op(OpKind::kPut, at, on, {{source, 0, bytes}}, {{target, 0, bytes}});
  OpId asked;   // signalled, and not looked for
  OpId looked;  // what the next post waits for
  for (std::uint32_t m = 0; m < messages; ++m) {
    const OpId posted = builder.add(put, {looked});
    looked = OpId::none();
    if (signalling == Signalling::kAll) {
      looked = builder.calc(at, platform.poll_cost);
      builder.add_edge(posted, looked, sched::On::kIssued);
    } else if ((m + 1) % u_max == 0) {
      const OpId due = signalling == Signalling::kAutomatic ? posted : asked;
      if (due.valid()) {
        looked = builder.calc(at, platform.poll_cost, {due});
        builder.add_edge(posted, looked, sched::On::kIssued);
      }
      asked = posted;
    }
  }
  return messages / analysis::run_events({builder.build(), platform}).makespan_s();
}

double calls_per_s(const machine::Platform& platform, std::uint64_t bytes, std::uint32_t messages,
                   std::uint32_t u_max, std::string_view options) {
  const sched::Schedule schedule = sched::compile(
      sched::parse_spec(fmt::format("call:ranks=2,bytes={},messages={},signal={}{}{}", bytes,
                                    messages, u_max, options.empty() ? "" : ",", options)));
  return messages / analysis::run_events({schedule, platform}).makespan_s();
}

}  // namespace slackline::experiments
