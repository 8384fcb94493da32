// The makespan as a function of the latency, by longest paths and by linear programming (COIN-OR's
// Clp), on the binomial pipeline: RANKS × BLOCKS blocks of 1 MiB. CPU seconds. Clp solves the
// programme for the latency as it is, once: dual simplex, and as Clp itself would go about it, with
// presolve. It is given up after SECONDS, once for each.
//
//   tolerance_against_clp RANKS BLOCKS SECONDS        0 seconds: without Clp
#include <fmt/format.h>

#include "analysis/engines/analytic.h"
#include "analysis/slack/tolerance.h"
#include "sched/compile.h"
#include "tests/support/makespan_programme.h"

namespace slackline {
namespace {

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void solve_by_clp(testing::MakespanProgramme& programme, double limit_s, bool own_way) {
  const double begin_s = cpu_s();
  Clp_setMaximumSeconds(programme.model(), limit_s);
  double makespan_s = 0;
  if (own_way) {
    Clp_initialSolve(programme.model());
    makespan_s = programme.makespan_s();
  } else {
    makespan_s = programme.solve(0).at(0);
  }
  const double took_s = cpu_s() - begin_s;
  const char* how = own_way ? "Clp's own way, with presolve" : "Clp, dual simplex";
  if (programme.status() == 0) {
    fmt::print("{}: {:.2f} s for one value, {:.9g} s\n", how, took_s, makespan_s);
  } else {
    fmt::print("{}: no answer in {:.0f} s (status {})\n", how, took_s, programme.status());
  }
  std::fflush(stdout);
}

int run(const char* ranks, const char* blocks, double limit_s) {
  const sched::Schedule schedule = compile(sched::parse_spec(
      fmt::format("binomial-pipeline:ranks={},bytes={}MiB,block=1MiB", ranks, blocks)));
  const machine::Platform platform = machine::load_platform(machine::kDefaultPlatform);
  const sched::Trace trace = analysis::run_analytic({schedule, platform});
  const machine::Setting setting(schedule, platform);
  const analysis::Parameter latency;

  double begin_s = cpu_s();
  const auto found = analysis::tolerance(setting, trace, std::span(&latency, 1));
  fmt::print("{} x {}: {} operations, makespan {:.9g} s\n", ranks, blocks, schedule.op_count(),
             found[0].makespan_s);
  fmt::print("the whole function: {:.3f} s ({} pieces, {} longest paths)\n", cpu_s() - begin_s,
             found[0].makespan_at.pieces().size(), found[0].evaluations);
  std::fflush(stdout);

  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  const analysis::ConstraintGraph graph(setting, delays, paths, trace);
  const analysis::WeightLines lines(setting, delays, paths, trace, analysis::WireTimes::kModel,
                                    latency);
  analysis::PathTape tape = analysis::packed(graph, lines);
  constexpr int kTimes = 20;
  begin_s = cpu_s();
  for (int i = 0; i < kTimes; ++i) tape.longest(i * 1e-9);
  fmt::print("one value, packed: {:.6f} s ({} nodes, {} edges)\n", (cpu_s() - begin_s) / kTimes,
             tape.node_count(), tape.edge_count());
  std::fflush(stdout);
  if (limit_s <= 0) return 0;
  for (const bool own_way : {true, false}) {
    testing::MakespanProgramme programme(graph, lines, found[0].makespan_s / 1000, 1e-6);
    if (own_way) {
      fmt::print("the programme: {} rows, {} columns\n", programme.rows(), programme.columns());
    }
    solve_by_clp(programme, limit_s, own_way);
  }
  return 0;
}

}  // namespace
}  // namespace slackline

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: tolerance_against_clp RANKS BLOCKS SECONDS\n");
    return 2;
  }
  return slackline::run(argv[1], argv[2], std::atof(argv[3]));
}
