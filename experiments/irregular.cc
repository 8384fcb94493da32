#include "experiments/irregular.h"

#include <vector>

#include "analysis/engines/event_engine.h"
#include "sched/compile.h"
#include "sched/program_writer.h"

namespace slackline::experiments {

IrregularRun run_irregular(const std::string& spec, const machine::Platform& platform) {
  return run_irregular(sched::compile(sched::parse_spec(spec)), platform);
}

IrregularRun run_irregular(const sched::Schedule& schedule, const machine::Platform& platform) {
  IrregularRun run;
  run.ops = schedule.op_count();
  run.channels = schedule.channels().size();
  for (const sched::Op& op : schedule.ops()) {
    run.writes += op.kind == sched::OpKind::kPut ? 1 : 0;
    run.polls += op.kind == sched::OpKind::kPoll ? 1 : 0;
  }
  run.makespan_s = analysis::run_events({schedule, platform}).makespan_s();
  return run;
}

double share_of_peak(const machine::Platform& platform, std::uint32_t ranks, std::uint64_t bytes,
                     std::uint32_t messages) {
  sched::ProgramWriter out(ranks);
  std::vector<sched::BufferId> buffers;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    buffers.push_back(out.add_buffer(sched::RankId(r), 2 * bytes));
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::vector<sched::ChannelId> channels;
    for (std::uint32_t other = 1; other < ranks; ++other) {
      channels.push_back(out.connect(sched::RankId(r), sched::RankId((r + other) % ranks)));
    }
    for (std::uint32_t m = 0; m < messages; ++m) {
      const std::uint32_t to = m % (ranks - 1);
      out.put({sched::RankId(r)}, channels[to], {{buffers[r], 0, bytes}},
              {{buffers[(r + to + 1) % ranks], bytes, bytes}}, sched::Notify::kNone);
    }
  }
  const sched::Schedule schedule = out.build();
  const double time_s = analysis::run_events({schedule, platform}).makespan_s();
  return static_cast<double>(bytes) * messages / time_s / platform.rate.bytes_per_second();
}

}  // namespace slackline::experiments
