#include "engines/astra_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/number.h"
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
  return fmt::format(
      "topology: [ Switch ]\nnpus_count: [ {} ]\nbandwidth: [ {:.17g} ]\nlatency: [ {:.17g} ]\n",
      ranks, platform.rate.bytes_per_second() / (1u << 30),
      0.5e-3 * static_cast<double>(platform.latency.count()));
}

// A link of it has no message without bytes.
void require_bytes(const sched::Schedule& schedule) {
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.op(sched::OpId(i));
    const bool sends = op.kind == sched::OpKind::kSend || op.kind == sched::OpKind::kPut;
    if (!sends || schedule.payload_bytes(op) != 0) continue;
    refuse(kAstraSim.name,
           fmt::format("{}: a message without bytes", describe(schedule, sched::OpId(i))),
           "none, as with ready=none");
  }
}

}  // namespace

SimulatorJob astra_sim_job(const machine::Setting& setting, const std::string& prefix) {
  require_bytes(setting.schedule);
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
