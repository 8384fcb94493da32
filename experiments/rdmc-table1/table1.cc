// RDMC, table 1: where the time of one transfer goes.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/engines/analytic.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"

namespace slackline::experiments {
namespace {

using sched::OpId;
using sched::OpKind;
using sched::RankId;
using sched::Schedule;
using sched::Trace;

constexpr RankId kFarthest{3};  // two hops from the root: 0→1→3

// The time of the transfer, in the parts that the paper's table has.
struct Breakdown {
  double remote_setup_s = 0;  // until the first block leaves the root, and the relay its relayer
  double remote_transfers_s = 0;  // the first block on its way to the relayer and on from there
  double local_setup_s = 0;       // from its arrival until the next receive is posted
  double transfers_s = 0;         // some later block on its way to this node
  double waiting_s = 0;           // none
  double copy_s = 0;              // of the first block to its place, at the end
  double total_s = 0;
  std::uint32_t blocks = 0;
};

bool is_block(const sched::Op& op) { return op.kind == OpKind::kRecv && op.writes.count != 0; }

Breakdown take_apart(const Schedule& schedule, const Trace& trace,
                     const machine::Platform& platform) {
  Breakdown found;
  std::vector<OpId> receives;
  for (OpId id = schedule.first_op(kFarthest); id < schedule.end_op(kFarthest); ++id.value) {
    if (is_block(schedule.op(id))) receives.push_back(id);
  }
  const auto times = [&](OpId id) -> const sched::OpTimes& { return trace.ops[id.value]; };
  std::sort(receives.begin(), receives.end(),
            [&](OpId a, OpId b) { return times(a).done_s < times(b).done_s; });
  const OpId relay = schedule.op(receives.front()).match;
  const RankId relayer = schedule.op(relay).rank;
  // What the relayer relays is the first block that it received itself.
  OpId fed = OpId::none();
  for (OpId id = schedule.first_op(relayer); id < schedule.end_op(relayer); ++id.value) {
    if (is_block(schedule.op(id)) && (!fed.valid() || times(id).done_s < times(fed).done_s)) {
      fed = id;
    }
  }
  const double leaves_root_s = times(schedule.op(fed).match).wire_s;
  const double at_relayer_s = times(fed).done_s;
  const double leaves_relayer_s = times(relay).wire_s;
  const double arrives_s = times(receives.front()).done_s;
  found.remote_setup_s = leaves_root_s + (leaves_relayer_s - at_relayer_s);
  found.remote_transfers_s = (at_relayer_s - leaves_root_s) + (arrives_s - leaves_relayer_s);

  double now_s = arrives_s;
  for (std::size_t i = 1; i < receives.size(); ++i) {
    const double wire_s = times(schedule.op(receives[i]).match).wire_s;
    const double done_s = times(receives[i]).done_s;
    if (wire_s > now_s) {
      (i == 1 ? found.local_setup_s : found.waiting_s) += wire_s - now_s;
      now_s = wire_s;
    }
    if (done_s > now_s) {
      found.transfers_s += done_s - now_s;
      now_s = done_s;
    }
  }
  found.blocks = static_cast<std::uint32_t>(receives.size());
  found.copy_s = platform.copy_s(schedule.bytes(schedule.op(receives.front()).writes));
  found.total_s = now_s + found.copy_s;
  return found;
}

ExperimentReport rdmc_table1(const Options&) {
  ExperimentReport report{"Where the time of one transfer goes", "RDMC (DSN 2018), table 1"};
  const machine::Platform platform = machine::load_platform("stampede");
  const Schedule schedule = schedule_of({"binomial-pipeline", 4, 256 * kMiB, kMiB, ""});
  const Breakdown b = take_apart(schedule, analysis::run_analytic({schedule, platform}), platform);
  ReportTable table{"Seen from the node farthest from the root, us", {"part", "paper", "here"}};
  const auto row = [&](const char* part, double paper, double seconds) {
    table.add({std::string(part), paper, 1e6 * seconds});
  };
  row("remote setup", 11, b.remote_setup_s);
  row("remote block transfers", 461, b.remote_transfers_s);
  row("local setup", 4, b.local_setup_s);
  row("block transfers", 60944, b.transfers_s);
  row("waiting", 449, b.waiting_s);
  row("copy time", 215, b.copy_s);
  row("total", 62084, b.total_s);
  report.tables.push_back(table);
  report.constants = {
      {"machine", "preset stampede",
       "stated (unicast of up to 40 Gb/s) and assumed; in the preset, none from this table"},
      {"nodes, message, block", "4, 256 MiB, 1 MiB", "stated: 256 MB in 1 MB blocks"},
      {"first block", "copied to its place once the message is complete",
       "from RDMC's published code (the text: copied, while others come in)"},
  };
  Facts facts(report, "rdmc-table1");
  const double share = (b.remote_transfers_s + b.transfers_s) / b.total_s;
  facts.judge("share", 100 * share);
  const double parts = b.remote_setup_s + b.remote_transfers_s + b.local_setup_s + b.transfers_s +
                       b.waiting_s + b.copy_s;
  facts.judge("sum", parts / b.total_s);
  const double block_s = b.transfers_s / (b.blocks - 1);
  facts.judge("two-hops", b.remote_transfers_s / block_s);
  facts.judge("total", 1e6 * b.total_s);
  report.notes.push_back(fmt::format(
      "A block takes {:.1f} us here and took some 239 us there (34.6 Gb/s): the machine's "
      "constants "
      "are those of its preset, and none was fitted to this table. Shares compare, times do not.",
      1e6 * block_s));
  return report;
}

}  // namespace

extern const Experiment kRdmcTable1 = {"rdmc-table1", "where the time of one transfer goes",
                                       rdmc_table1};

}  // namespace slackline::experiments
