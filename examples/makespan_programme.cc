// makespan_programme [SPEC [PLATFORM]]: a run as a linear programme, which Clp solves. The least
// time at which all can be done is the makespan.
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "analysis/slack/run_matrices.h"
#include "base/error.h"
#include "sched/compile.h"

using namespace slackline;

int main(int argc, char** argv) {
  try {
    const sched::Schedule schedule = sched::compile(
        sched::parse_spec(argc > 1 ? argv[1] : "binomial-pipeline:ranks=8,bytes=8MiB"));
    const machine::Platform platform = machine::load_platform(argc > 2 ? argv[2] : "fractus");
    const machine::Setting setting(schedule, platform);
    const sched::Trace trace = analysis::run_flows(setting);
    const analysis::ConstraintSystem system = analysis::constraint_system(setting, trace);

    // Microseconds, since solvers take what is below 1e-7 for nothing. One variable more, the end,
    // comes after every moment.
    constexpr double kUnit = 1e6;
    const int moments = static_cast<int>(system.matrix.cols());
    const int rows = static_cast<int>(system.matrix.rows());
    CoinPackedMatrix matrix(false, 0, 0);
    matrix.setDimensions(0, moments + 1);
    for (int row = 0; row < rows; ++row) {
      const int at = system.matrix.outerIndexPtr()[row];
      matrix.appendRow(system.matrix.outerIndexPtr()[row + 1] - at,
                       system.matrix.innerIndexPtr() + at, system.matrix.valuePtr() + at);
    }
    for (int moment = 0; moment < moments; ++moment) {
      const int columns[] = {moment, moments};
      const double values[] = {-1, 1};
      matrix.appendRow(2, columns, values);
    }
    std::vector<double> least(moments + 1, 0), most(moments + 1, COIN_DBL_MAX);
    std::vector<double> objective(moments + 1, 0);
    objective[moments] = 1;
    for (int m = 0; m < moments; ++m) least[m] = kUnit * system.earliest_s[m];
    std::vector<double> weight(rows + moments, 0), any(rows + moments, COIN_DBL_MAX);
    for (int row = 0; row < rows; ++row) weight[row] = kUnit * system.weight_s[row];
    ClpSimplex solver;
    solver.setLogLevel(0);
    solver.loadProblem(matrix, least.data(), most.data(), objective.data(), weight.data(),
                       any.data());
    solver.initialSolve();
    const double found_s = solver.objectiveValue() / kUnit;
    std::printf("%d constraints of %d moments: %.9g s by Clp, %.9g s by the run\n", rows, moments,
                found_s, trace.makespan_s());
    return std::abs(found_s - trace.makespan_s()) < 1e-9 ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
