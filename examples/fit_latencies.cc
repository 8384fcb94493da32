// fit_latencies: what of a platform a run gives away, by least squares. How long each message took
// to be acknowledged is the sum of its bytes, of what every way takes, and of what each switch on
// it adds. Eigen solves for the three.
#include <Eigen/Dense>
#include <cstdio>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "analysis/slack/run_matrices.h"
#include "base/error.h"
#include "sched/compile.h"

using namespace slackline;

int main() {
  try {
    const sched::Schedule schedule =
        sched::compile(sched::parse_spec("chain:ranks=6,bytes=5000000,block=1MiB"));
    const machine::Platform platform = machine::parse_platform_spec(
        "two-level:racks=3,hosts=2,rate=40Gbps,latency=2us,hop_latency=300ns,o_complete=500ns");
    const machine::Setting setting(schedule, platform);
    const sched::Trace trace = analysis::run_flows(setting);
    const analysis::SparseRows passes = analysis::link_incidence(setting);
    // NICs are passed by all, what is between switches by some.
    Eigen::VectorXd between(passes.cols());
    for (int link = 0; link < between.size(); ++link) {
      between[link] = setting.wiring.links()[link].name.starts_with("host-") ? 0 : 1;
    }
    const Eigen::VectorXd crossed = passes * between;
    std::vector<std::uint32_t> sends;
    for (std::uint32_t op = 0; op < schedule.op_count(); ++op) {
      if (schedule.ops()[op].kind == sched::OpKind::kSend) sends.push_back(op);
    }
    Eigen::MatrixXd known(sends.size(), 3);
    Eigen::VectorXd took_us(sends.size());
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const sched::Op& op = schedule.ops()[sends[i]];
      const sched::OpTimes& times = trace.ops[sends[i]];
      known.row(i) << static_cast<double>(schedule.payload_bytes(op)) * 1e-6, 1, crossed[sends[i]];
      took_us[i] = 1e6 * (times.done_s - times.wire_s);
    }
    const Eigen::VectorXd found = known.colPivHouseholderQr().solve(took_us);
    std::printf("rate %.3f Gb/s, there and back %.3f us, each link between switches %.3f us\n",
                8e3 / found[0], found[1], found[2]);
    return (known * found - took_us).norm() < 1e-6 ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
