// A run, and what its messages use, as sparse matrices of Eigen: for solvers that people have. Only
// who includes this needs Eigen.
#pragma once

#include <Eigen/SparseCore>

#include "analysis/slack/wire_times.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Rows are quick to go through.
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// What holds between the moments of a run with the order on lanes and ports that it had:
/// `matrix` · t ≥ `weight_s` and t ≥ `earliest_s`, where the least solution is when each comes.
/// Moment 4·op is the operation's issue, 4·op + 1 when its request begins to leave (get, atomics),
/// 4·op + 2 when its message does, 4·op + 3 its end; those that an operation lacks coincide.
/// Each row has −1 at the moment that comes first and +1 at the one that waits. Seconds.
struct ConstraintSystem {
  SparseRows matrix;
  Eigen::VectorXd weight_s;
  Eigen::VectorXd earliest_s;
  Eigen::VectorXd time_s;  // the least solution
};

/// Throws what timed_slack() does, and InputError at 2^31 constraints or moments.
ConstraintSystem constraint_system(const machine::Setting& setting, const sched::Trace& trace,
                                   WireTimes wire = WireTimes::kModel);

/// Bytes from each rank (row) to each (column): what sends and puts carry, what gets and atomics
/// bring back.
SparseRows traffic_bytes(const sched::Schedule& schedule);

/// Operations × links of the wiring: how often the operation's message passes the link, or which
/// part of a sprayed one does; of gets and atomics that which comes back. Throws what
/// machine::Paths does, and Unsupported with adaptive routing.
SparseRows link_incidence(const machine::Setting& setting);

}  // namespace slackline::analysis
