// build_schedule [FILE]: a schedule written operation by operation. Rank 0 sends a number to rank
// 1, which adds its own to it and sends the sum back. It is proved, simulated, and written to FILE.
#include <cstdio>
#include <fstream>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "sched/program_writer.h"
#include "sched/text.h"
#include "sched/verify.h"

using namespace slackline;
using namespace slackline::sched;

int main(int argc, char** argv) {
  try {
    ProgramWriter out(2);
    out.set_title("a sum, and back");
    const OpPlace here{RankId(0)}, there{RankId(1)};

    // Memory: 8 bytes to send and 8 for the answer; two operands and their sum.
    const BufferId mine = out.add_buffer(here.rank, 16), theirs = out.add_buffer(there.rank, 24);
    const Slice number{mine, 0, 8}, answer{mine, 8, 8};
    const Slice got{theirs, 0, 8}, own{theirs, 8, 8}, sum{theirs, 16, 8};
    const ChannelId way = out.connect(here.rank, there.rank);
    const ChannelId back = out.connect(there.rank, here.rank);

    // Operations, each with what it waits for on its own rank.
    out.send(here, way, number);
    const OpId came = out.receive(there, way, got);
    const OpId added = out.add(out.op(OpKind::kReduce, there, {}, {got, own}, sum), {came});
    out.send(there, back, sum, {added});
    out.receive(here, back, answer);

    // What stands in memory before, and what must stand there after: the sum of values 0 and 1.
    out.add_pre({number, ValueId(0), 0});
    out.add_pre({own, ValueId(1), 0});
    out.add_post({answer, ValueId(0), 0, 2});

    // The ids so far are the builder's. build() groups operations by rank, in each rank's order:
    // the answer is the last of rank 0.
    const Schedule schedule = out.build();
    const OpId last(schedule.end_op(here.rank).value - 1);
    for (const Diagnostic& found : verify(schedule)) {
      std::fprintf(stderr, "%s\n", found.message.c_str());
      return 1;
    }
    std::printf("proved: %s, %u operations, digest %s\n", schedule.title().c_str(),
                schedule.op_count(), to_string(schedule.digest()).c_str());

    const machine::Platform platform = machine::load_platform("fractus");
    const Trace trace = analysis::run_events({schedule, platform});
    std::printf("on %s the answer is there after %.3f us\n", platform.name.c_str(),
                trace.ops[last.value].done_s * 1e6);

    if (argc > 1) std::ofstream(argv[1]) << write_text(schedule);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
