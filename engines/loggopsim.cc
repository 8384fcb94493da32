#include "engines/loggopsim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "engines/goal_told.h"
#include "engines/plain_machine.h"
#include "sched/export/goal_binary.h"

namespace slackline::engines {
namespace {

// LogGOPSim takes whole numbers below 2^31. Its unit is whatever it is given: the finest in which
// all of its figures fit.
struct LogGops {
  explicit LogGops(const machine::Platform& platform) {
    const double byte_ns = 8e9 / static_cast<double>(platform.rate.bits_per_second);
    // A message of b bytes takes g + (b − 1) G, which must not be below 0 for one of none.
    const double gap_ns = std::max(in_ns(platform.gap), byte_ns);
    const double most_ns = std::max({in_ns(platform.latency), in_ns(platform.o_post), gap_ns});
    while (ticks_per_ns > 1 && most_ns * ticks_per_ns >= 2147483647.0) ticks_per_ns /= 10;
    const auto in_ticks = [&](double ns) { return fmt::format("{:.0f}", ns * ticks_per_ns); };
    latency = in_ticks(in_ns(platform.latency));
    overhead = in_ticks(in_ns(platform.o_post));
    gap = in_ticks(gap_ns);
    of_byte = in_ticks(byte_ns);
  }

  static double in_ns(sched::Time time) { return static_cast<double>(time.count()) * 1e-3; }

  std::uint32_t ticks_per_ns = 1'000'000;
  std::string latency, overhead, gap, of_byte;
};

// Of a larger message it would wait for the receive.
constexpr std::uint64_t kMostEager = 1'000'000'000;

void require_eager(const sched::Schedule& schedule) {
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.op(sched::OpId(i));
    if (op.kind != sched::OpKind::kSend && op.kind != sched::OpKind::kPut) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    if (bytes <= kMostEager) continue;
    refuse(kLogGopsim.name,
           fmt::format("{}: {} bytes", sched::describe(schedule, sched::OpId(i)), bytes),
           fmt::format("at most {}", kMostEager));
  }
}

}  // namespace

SimulatorJob loggopsim_job(const machine::Setting& setting, const std::string& prefix) {
  require_plain_machine(setting.platform, kLogGopsim.name);
  require_serial_nics(setting.platform, kLogGopsim.name);
  if (setting.platform.topology.hop_latency.count() != 0) {
    refuse(kLogGopsim.name,
           fmt::format("hop_latency={}, and it has one latency for all ranks",
                       sched::format_time(setting.platform.topology.hop_latency)),
           "0");
  }
  require_eager(setting.schedule);
  if (setting.platform.topology.kind() == machine::TopologyKind::kSimgridFile) {
    throw Unsupported("loggopsim: a SimGrid file; expected a network that is told by figures");
  }
  const LogGops figures(setting.platform);
  return {{{".bin", sched::write_goal_binary(setting.schedule, figures.ticks_per_ns)}},
          {std::string(kLogGopsim.program), "-b", "-f", prefix + ".bin", "-L", figures.latency,
           "-o", figures.overhead, "-g", figures.gap, "-G", figures.of_byte, "-O", "0", "-S",
           fmt::format("{}", kMostEager)}};
}

std::optional<double> loggopsim_told_s(std::string_view told, const machine::Setting& setting) {
  const std::optional<std::uint64_t> ticks = goal_finish(told);
  if (!ticks) return std::nullopt;
  return static_cast<double>(*ticks) / (1e9 * LogGops(setting.platform).ticks_per_ns);
}

}  // namespace slackline::engines
