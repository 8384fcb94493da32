#include "engines/astra_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/number.h"
#include "base/units.h"
#include "engines/plain_machine.h"
#include "machine/topology_entry.h"
#include "sched/export/chakra.h"

namespace slackline::engines {
namespace {

// What its collectives would be made of: a schedule has none, but it asks for all of these.
constexpr std::string_view kSystem = R"({
  "scheduling-policy": "FIFO",
  "endpoint-delay": 1,
  "active-chunks-per-dimension": 1,
  "preferred-dataset-splits": 1,
  "all-reduce-implementation": ["ring"],
  "all-gather-implementation": ["ring"],
  "reduce-scatter-implementation": ["ring"],
  "all-to-all-implementation": ["ring"],
  "collective-optimization": "baseline",
  "local-mem-bw": 1600,
  "boost-mode": 0,
  "roofline-enabled": 0,
  "peak-perf": 900
}
)";
constexpr std::string_view kMemory = R"({"memory-type": "NO_MEMORY_EXPANSION"}
)";

// Its GB has 2^30 bytes, and a way past its switch two links, each with the latency.
std::string network_of(const machine::Platform& platform, std::uint32_t ranks) {
  if (platform.topology.kind() != machine::TopologyKind::kStar) {
    refuse(kAstraSim.name, machine::entry_of(platform.topology).name, "a star");
  }
  require_plain_machine(platform, kAstraSim.name);
  require_serial_nics(platform, kAstraSim.name);
  return fmt::format(
      "topology: [ Switch ]\nnpus_count: [ {} ]\nbandwidth: [ {:.17g} ]\nlatency: [ {:.17g} ]\n",
      ranks, platform.rate.bytes_per_second() / (1u << 30),
      0.5e-3 * static_cast<double>(platform.latency.count()));
}

// What it aborts on: fewer than two ranks, and a rank that has nothing to do.
void require_busy_ranks(const sched::Schedule& schedule) {
  if (schedule.rank_count() < 2) refuse(kAstraSim.name, "one rank", "at least 2");
  std::vector<bool> busy(schedule.rank_count());
  for (const sched::Op& op : schedule.ops()) {
    if (op.kind != sched::OpKind::kJoin) busy[op.rank.value] = true;
  }
  const auto idle = std::ranges::find(busy, false);
  if (idle == busy.end()) return;
  refuse(kAstraSim.name, fmt::format("rank {} does nothing", idle - busy.begin()),
         "a send, a receive or a calc of each rank");
}

// Its clock has whole nanoseconds, and it aborts if a message leaves a link in the instant in which
// it came. Traces have whole microseconds.
void require_its_grain(const machine::Setting& setting) {
  const sched::Schedule& schedule = setting.schedule;
  const double bytes_of_ns = 1e-9 * setting.platform.rate.bytes_per_second();
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::OpId id(i);
    const sched::Op& op = schedule.op(id);
    const auto refuse_op = [&](std::string_view what, std::string_view expected) {
      refuse(kAstraSim.name, fmt::format("{}: {}", describe(schedule, id), what), expected);
    };
    if (op.kind == sched::OpKind::kSend || op.kind == sched::OpKind::kPut) {
      const std::uint64_t bytes = schedule.payload_bytes(op);
      if (bytes == 0) refuse_op("a message without bytes", "none, as with ready=none");
      if (static_cast<double>(bytes) > bytes_of_ns * (1 + 1e-9)) continue;
      refuse_op(fmt::format("a message of {} bytes", bytes),
                fmt::format("more than leave in a nanosecond, {:.6g}", bytes_of_ns));
    }
    const sched::Time duration = schedule.arguments(op).duration;
    if (duration.count() % 1'000'000 == 0) continue;
    refuse_op(sched::format_time(duration), "whole microseconds");
  }
}

}  // namespace

SimulatorJob astra_sim_job(const machine::Setting& setting, const std::string& prefix) {
  require_busy_ranks(setting.schedule);
  require_its_grain(setting);
  SimulatorJob job;
  job.files = {{".system.json", std::string(kSystem)},
               {".memory.json", std::string(kMemory)},
               {".network.yml", network_of(setting.platform, setting.schedule.rank_count())}};
  std::vector<std::string> traces = sched::write_chakra(setting.schedule);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    job.files.push_back({fmt::format(".{}.et", r), std::move(traces[r])});
  }
  job.command = {std::string(kAstraSim.program),
                 "--workload-configuration=" + prefix,
                 fmt::format("--system-configuration={}.system.json", prefix),
                 fmt::format("--remote-memory-configuration={}.memory.json", prefix),
                 fmt::format("--network-configuration={}.network.yml", prefix),
                 fmt::format("--logging-folder={}.log", prefix)};
  return job;
}

// Of "sys[3] finished, 2503 cycles, …", a line of each rank, the most; a cycle is a nanosecond. A
// rank without a line has not ended.
std::optional<double> astra_sim_told_s(std::string_view told, const machine::Setting& setting) {
  constexpr std::string_view kLine = "] finished, ";
  std::uint64_t most_ns = 0;
  std::uint32_t ended = 0;
  for (std::size_t at = told.find(kLine); at != std::string_view::npos; at = told.find(kLine)) {
    told.remove_prefix(at + kLine.size());
    const auto ns = base::whole_number<std::uint64_t>(told.substr(0, told.find(' ')));
    if (!ns) return std::nullopt;
    most_ns = std::max(most_ns, *ns);
    ++ended;
  }
  if (ended != setting.schedule.rank_count()) return std::nullopt;
  return static_cast<double>(most_ns) * 1e-9;
}

}  // namespace slackline::engines
