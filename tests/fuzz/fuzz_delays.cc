// Any text, read as a delay plan and resolved against a small schedule. Only our own errors may
// come out, of one line each; what is read must survive its canonical text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "machine/delays.h"
#include "sched/builder.h"
#include "tests/fuzz/require_ours.h"

namespace {

namespace sched = slackline::sched;
namespace machine = slackline::machine;

// Rank 0 sends three empty blocks to rank 1, one a step.
sched::Schedule three_sends() {
  sched::ScheduleBuilder builder(2);
  sched::Channel channel;
  channel.src = sched::RankId(0);
  channel.dst = sched::RankId(1);
  sched::Op op;
  op.channel = builder.add_channel(channel);
  for (op.step = 0; op.step < 3; ++op.step) {
    op.kind = sched::OpKind::kSend;
    op.rank = sched::RankId(0);
    builder.add(op);
    op.kind = sched::OpKind::kRecv;
    op.rank = sched::RankId(1);
    builder.add(op);
  }
  return builder.build();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sched::Schedule schedule = three_sends();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const machine::DelayPlan plan = machine::delay_plan_from_toml(text, "fuzz.toml");
    const std::string canonical = plan.text();
    const machine::DelayPlan again = machine::delay_plan_from_toml(canonical, "again.toml");
    if (again.text() != canonical) std::abort();
    if (again.noise.size() != plan.noise.size()) std::abort();
    const machine::Delays delays(plan, schedule, machine::Platform());
    for (std::uint32_t op = 0; op < schedule.op_count(); ++op) {
      if (!(delays.post_delay_s(sched::OpId(op)) >= 0)) std::abort();
      if (!(delays.lane_delay_s(sched::OpId(op)) >= 0)) std::abort();
    }
  } catch (const slackline::Error& error) {
    slackline::fuzz::require_ours(error);
  }
  return 0;
}
