// A schedule on processes of this host, timed: the same as `slackline run`, without its start.
//
// usage: run_local TRANSPORT SPEC [ITERATIONS [polling|interrupt|hybrid [notimes]]]
//
// SPEC is a schedule's, or pingpong:BYTES:TIMES: a message to and fro between two ranks, in the
// same memory each time, as fi_pingpong sends it. Prints the makespans of all iterations in
// milliseconds, and the least, the median and the largest.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/local_ranks.h"
#include "hw/mesh.h"
#include "hw/session.h"
#include "hw/transports.h"
#include "sched/compile.h"
#include "sched/program_writer.h"

namespace {

using namespace slackline;

sched::Schedule ping_pong(std::uint64_t bytes, std::uint32_t times) {
  using sched::OpId;
  using sched::RankId;
  sched::ProgramWriter builder(2);
  sched::BufferId out[2];
  sched::BufferId in[2];
  sched::ChannelId channel[2];
  for (std::uint32_t r = 0; r < 2; ++r) {
    out[r] = builder.add_buffer(RankId(r), bytes);
    in[r] = builder.add_buffer(RankId(r), bytes);
    channel[r] = builder.connect(RankId(r), RankId(1 - r));
  }
  // By rank and message.
  std::vector<OpId> sends[2];
  std::vector<OpId> receives[2];
  for (std::uint32_t r = 0; r < 2; ++r) {
    for (std::uint32_t t = 0; t < times; ++t) {
      receives[r].push_back(builder.receive({RankId(r)}, channel[1 - r], {{in[r], 0, bytes}}));
      if (t > 0) builder.add_edge(receives[r][t - 1], receives[r][t]);
      sends[r].push_back(builder.send({RankId(r)}, channel[r], {{out[r], 0, bytes}}));
      if (t > 0) builder.add_edge(sends[r][t - 1], sends[r][t]);
      // Rank 0 begins.
      if (r == 1) builder.add_edge(receives[r][t], sends[r][t]);
      if (r == 0 && t > 0) builder.add_edge(receives[r][t - 1], sends[r][t]);
    }
  }
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.add_pre({{out[r], 0, bytes}, sched::ValueId(r), 0});
    builder.add_post({{in[1 - r], 0, bytes}, sched::ValueId(r), 0});
  }
  return builder.build();
}

sched::Schedule schedule_of(const std::string& spec) {
  unsigned long long bytes = 0;
  unsigned times = 0;
  if (std::sscanf(spec.c_str(), "pingpong:%llu:%u", &bytes, &times) == 2) {
    return ping_pong(bytes, times);
  }
  return sched::compile(sched::parse_spec(spec));
}

void be_rank(const hw::MeshOptions& mesh_options, const std::string& transport_name,
             const sched::Schedule& schedule, const hw::RunOptions& options) {
  hw::Mesh mesh(mesh_options);
  hw::TransportOptions transport_options;
  if (transport_name != "shm") transport_options.host = "127.0.0.1";
  const auto transport = hw::make_transport(transport_name, transport_options);
  hw::Session session(mesh, *transport);
  const hw::RunResult result = session.run(schedule, options);
  if (mesh.rank() != 0) return;
  std::vector<double> sorted = result.makespans_s;
  std::sort(sorted.begin(), sorted.end());
  for (const double makespan_s : result.makespans_s) fmt::print("{:.3f} ", makespan_s * 1e3);
  fmt::print("\n{} on {}: {:.3f} / {:.3f} / {:.3f} ms\n", schedule.title(), transport->name(),
             sorted.front() * 1e3, result.median_makespan_s() * 1e3, sorted.back() * 1e3);
  fmt::print("clock: {:.1f} ns a reading, {:.1f} ns an operation; latest start {:.1f} us late\n",
             result.clock_read_s * 1e9, result.timestamp_overhead_s * 1e9,
             result.late_start_s * 1e6);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr, "usage: run_local TRANSPORT SPEC [ITERATIONS [WAITING [notimes]]]\n");
    return 2;
  }
  hw::RunOptions options;
  options.iterations = count > 3 ? static_cast<std::uint32_t>(std::atoi(arguments[3])) : 9;
  options.warm_up = 2;
  options.prove = false;
  if (count > 4) options.waiting = hw::waiting_named(arguments[4]).value_or(options.waiting);
  options.timestamps = count <= 5;
  const sched::Schedule schedule = schedule_of(arguments[2]);
  return bench::run_on_local_ranks(schedule.rank_count(), [&](const hw::MeshOptions& mesh) {
    be_rank(mesh, arguments[1], schedule, options);
  });
}
