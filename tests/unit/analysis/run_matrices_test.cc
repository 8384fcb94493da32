#include "analysis/slack/run_matrices.h"

#include <gtest/gtest.h>

#include "analysis/engines/flow_engine.h"
#include "analysis/slack/constraint_graph.h"
#include "base/error.h"
#include "machine/paths.h"
#include "sched/compile.h"

namespace slackline::analysis {
namespace {

struct Sample {
  explicit Sample(const char* spec, const char* text)
      : schedule(sched::compile(sched::parse_spec(spec))),
        platform(machine::load_platform(text)),
        setting(schedule, platform),
        trace(run_flows(setting)) {}
  sched::Schedule schedule;
  machine::Platform platform;
  machine::Setting setting;
  sched::Trace trace;
};

TEST(RunMatrices, AreTheConstraintsOfTheRun) {
  for (const char* spec : {"binomial-pipeline:ranks=8,bytes=6MiB", "allreduce:ranks=4,bytes=1MiB",
                           "chain:ranks=3,bytes=2MiB,lower=put,ready=write"}) {
    const Sample sample(spec, "fractus");
    const ConstraintSystem system = constraint_system(sample.setting, sample.trace);
    const ConstraintGraph graph = frozen_run(sample.setting, sample.trace);
    ASSERT_EQ(system.matrix.rows(), static_cast<int>(graph.constraints().size()));
    ASSERT_EQ(system.matrix.cols(), static_cast<int>(graph.node_count()));
    const Eigen::VectorXd difference = system.matrix * system.time_s;
    for (int row = 0; row < system.matrix.rows(); ++row) {
      const Constraint& constraint = graph.constraints()[static_cast<std::size_t>(row)];
      EXPECT_EQ(difference[row], system.time_s[static_cast<int>(constraint.head.value)] -
                                     system.time_s[static_cast<int>(constraint.tail.value)]);
      EXPECT_GE(difference[row], system.weight_s[row] - 1e-15);
    }
    EXPECT_GE((system.time_s - system.earliest_s).minCoeff(), 0);
    EXPECT_NEAR(system.time_s.maxCoeff(), sample.trace.makespan_s(),
                1e-9 * sample.trace.makespan_s());
  }
}

TEST(RunMatrices, RefuseATraceOfAnotherSchedule) {
  const Sample one("chain:ranks=3,bytes=2MiB", "fractus");
  const Sample other("chain:ranks=4,bytes=2MiB", "fractus");
  EXPECT_THROW(constraint_system(one.setting, other.trace), InputError);
}

TEST(RunMatrices, CountTheBytesBetweenRanks) {
  const Sample chain("chain:ranks=3,bytes=2MiB,block=1MiB", "fractus");
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(3, 3);
  expected(0, 1) = expected(1, 2) = 2 << 20;
  EXPECT_EQ(Eigen::MatrixXd(traffic_bytes(chain.schedule)), expected);
  // What gets and atomics fetch comes the other way.
  const auto table = sched::compile(sched::parse_spec("hash-table:ranks=3"));
  double bytes = 0;
  for (const sched::Op& op : table.ops()) {
    if (sched::is_initiator(op.kind)) bytes += static_cast<double>(table.payload_bytes(op));
  }
  EXPECT_EQ(traffic_bytes(table).sum(), bytes);
}

TEST(RunMatrices, SayWhichLinksAreUsed) {
  const Sample sample("chain:ranks=4,bytes=2MiB,block=1MiB", "two-level:racks=2,hosts=2");
  const SparseRows passes = link_incidence(sample.setting);
  const machine::Paths paths(sample.setting);
  ASSERT_EQ(passes.rows(), static_cast<int>(sample.schedule.op_count()));
  ASSERT_EQ(passes.cols(), static_cast<int>(sample.setting.wiring.links().size()));
  for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
    const sched::Op& op = sample.schedule.ops()[i];
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(passes.cols());
    if (op.kind == sched::OpKind::kSend) {
      for (const machine::LinkId link : paths.links(paths.of(op.channel, false))) {
        expected[static_cast<int>(link.value)] = 1;
      }
      EXPECT_EQ(expected.sum(),
                op.rank.value / 2 == sample.schedule.channel(op.channel).dst.value / 2 ? 2 : 4);
    }
    EXPECT_EQ(Eigen::VectorXd(passes.row(static_cast<int>(i)).transpose()), expected);
  }
}

}  // namespace
}  // namespace slackline::analysis
