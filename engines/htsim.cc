#include "engines/htsim.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "base/error.h"
#include "engines/goal_told.h"
#include "engines/htsim_network.h"
#include "sched/export/goal_binary.h"

namespace slackline::engines {
namespace {

constexpr double kClockEnds_s = 50;

// Past that time its clock stands still, and it never ends. No run takes longer than all of its
// messages and computations one after another.
void require_messages(const machine::Setting& setting, std::uint64_t gbps) {
  const sched::Schedule& schedule = setting.schedule;
  double bytes = 0;
  double computed_s = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.op(sched::OpId(i));
    computed_s += static_cast<double>(schedule.arguments(op).duration.count()) * 1e-12;
    if (op.kind != sched::OpKind::kSend && op.kind != sched::OpKind::kPut) continue;
    const std::uint64_t message = schedule.payload_bytes(op);
    if (message > std::numeric_limits<std::int32_t>::max()) {
      throw Unsupported(fmt::format("htsim: {}: {} bytes; expected less than 2 GiB",
                                    sched::describe(schedule, sched::OpId(i)), message));
    }
    // It has those arrive at once.
    if (const sched::Channel& channel = schedule.channel(op.channel); channel.src == channel.dst) {
      throw Unsupported(fmt::format("htsim: {}: a message of a rank to itself; expected two ranks",
                                    sched::describe(schedule, sched::OpId(i))));
    }
    bytes += static_cast<double>(message);
  }
  const double s = computed_s + bytes * 8e-9 / static_cast<double>(gbps);
  if (s > kClockEnds_s) {
    throw Unsupported(fmt::format(
        "htsim: messages that take {:.3g} s one after another; expected at most {:g} s, at which "
        "its clock ends",
        s, kClockEnds_s));
  }
}

}  // namespace

SimulatorJob htsim_job(const machine::Setting& setting, const std::string& prefix) {
  const machine::Platform& platform = setting.platform;
  const HtsimNetwork network = htsim_network(platform, setting.schedule.rank_count());
  require_messages(setting, network.gbps);
  // Its time of a post is a whole number of nanoseconds.
  const double post_ns = static_cast<double>(platform.o_post.count()) * 1e-3;
  return {{{".bin", sched::write_goal_binary(setting.schedule)}, {".topo", network.text}},
          {std::string(kHtsim.program),
           "-goal",
           prefix + ".bin",
           "-topo",
           prefix + ".topo",
           "-nodes",
           fmt::format("{}", network.nodes),
           "-linkspeed",
           fmt::format("{}", network.gbps * 1000),
           "-lgs_o",
           fmt::format("{:.0f}", post_ns),
           "-strat",
           "ecmp_host",
           "-paths",
           "128",
           "-mtu",
           "4096",
           "-seed",
           "1",
           "-o",
           prefix + ".log"}};
}

std::optional<double> htsim_told_s(std::string_view told, const machine::Setting&) {
  const std::optional<std::uint64_t> ns = goal_finish(told);
  if (!ns) return std::nullopt;
  return static_cast<double>(*ns) * 1e-9;
}

}  // namespace slackline::engines
