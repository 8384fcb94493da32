// RDMC, figure 5: a preemption of the relayer seen step by step.
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

constexpr RankId kSender{0};
constexpr RankId kRelayer{1};  // the sender's first receiver

bool sends_data(const Schedule& schedule, const sched::Op& op) {
  return op.kind == OpKind::kSend && schedule.payload_bytes(op) != 0;
}

// How a rank spent one of its steps.
struct Step {
  std::uint32_t step = 0;
  double wait_s = 0;      // from the end of its send before, until this one leaves
  double transfer_s = 0;  // … and until it is known to have arrived
};

std::vector<Step> steps_of(const Schedule& schedule, const Trace& trace, RankId rank) {
  std::vector<Step> steps;
  double last_s = 0;
  for (OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
    if (!sends_data(schedule, schedule.op(id))) continue;
    const sched::OpTimes& times = trace.ops[id.value];
    steps.push_back({schedule.op(id).step, times.wire_s - last_s, times.done_s - times.wire_s});
    last_s = times.done_s;
  }
  return steps;
}

// The operation by which the relayer makes room for the block of `step` or the next one that the
// sender sends it: what a preemption at an inopportune time holds up.
OpId receive_from_sender(const Schedule& schedule, std::uint32_t step) {
  for (OpId id = schedule.first_op(kRelayer); id < schedule.end_op(kRelayer); ++id.value) {
    const sched::Op& op = schedule.op(id);
    if (op.kind == OpKind::kRecv && op.writes.count != 0 && op.step >= step &&
        schedule.channel(op.channel).src == kSender) {
      return id;
    }
  }
  return OpId::none();
}

Figure draw(std::string name, std::string title, const std::vector<Step>& sender,
            const std::vector<Step>& relayer) {
  Figure figure{std::move(name), std::move(title), {"step", 0}, {"time, us", 0}, {}, true};
  const auto add = [&](const char* who, const std::vector<Step>& steps) {
    Series transfer{fmt::format("{}: transfer", who)};
    Series wait{fmt::format("{}: wait", who)};
    for (const Step& s : steps) {
      transfer.add(s.step, 1e6 * s.transfer_s);
      wait.add(s.step, 1e6 * s.wait_s);
    }
    figure.series.push_back(std::move(transfer));
    figure.series.push_back(std::move(wait));
  };
  add("sender", sender);
  add("relayer", relayer);
  return figure;
}

ExperimentReport rdmc_fig5(const Options& options) {
  ExperimentReport report{"A preemption of the relayer, step by step", "RDMC (DSN 2018), figure 5"};
  const machine::Platform platform = machine::load_platform("stampede");
  const std::uint32_t blocks = options.quick ? 64 : 256;
  const Schedule schedule = schedule_of({"binomial-pipeline", 4, blocks * kMiB, kMiB, ""});
  // "Towards the end of the message transfer."
  const std::uint32_t preempted = blocks * 9 / 10;
  const OpId struck = receive_from_sender(schedule, preempted);
  const std::uint32_t late_step = schedule.op(struck).step;
  machine::DelayPlan plan;
  plan.ops.push_back({struck, sched::Time{100'000'000}, true, kRelayer});

  const Trace calm = analysis::run_analytic({schedule, platform});
  const Trace delayed = analysis::run_analytic({schedule, platform, plan});
  const auto sender_before = steps_of(schedule, calm, kSender);
  const auto sender = steps_of(schedule, delayed, kSender);
  const auto relayer = steps_of(schedule, delayed, kRelayer);
  const double added_s = delivered_s(schedule, delayed) - delivered_s(schedule, calm);

  ReportTable table{"The sender's steps around the preemption, us",
                    {"step", "transfer", "wait", "wait without it"}};
  double extra_wait_s = 0;
  double elsewhere_s = 0;  // the largest change of another step's wait
  for (std::size_t i = 0; i < sender.size(); ++i) {
    const double extra_s = sender[i].wait_s - sender_before[i].wait_s;
    if (sender[i].step == late_step) {
      extra_wait_s = extra_s;
    } else {
      elsewhere_s = std::max(elsewhere_s, extra_s);
    }
    if (sender[i].step + 3 >= late_step && sender[i].step <= late_step + 3) {
      table.add({static_cast<double>(sender[i].step), 1e6 * sender[i].transfer_s,
                 1e6 * sender[i].wait_s, 1e6 * sender_before[i].wait_s});
    }
  }
  double transfer_s = 0;
  for (const Step& s : sender_before) transfer_s += s.transfer_s;
  report.tables.push_back(table);
  report.figures.push_back(
      draw("rdmc-fig5", "Steps of a 256 MB transfer, 4 nodes, Stampede", sender, relayer));

  report.constants = {
      {"machine", "preset stampede", "stated and assumed; in the preset"},
      {"nodes, message, block", fmt::format("4, {} MiB, 1 MiB", blocks),
       "stated: the send of table 1 (256 MB)"},
      {"preemption", "100 us of the relayer", "stated"},
      {"its moment",
       fmt::format("as step {} ends, before the receive of step {} is posted", late_step - 1,
                   late_step),
       "assumed: \"towards the end\", \"an inopportune time\""},
  };
  Facts facts(report, "rdmc-fig5");
  facts.judge("next-step", 1e6 * extra_wait_s);
  facts.judge("other-steps", 1e6 * elsewhere_s);
  facts.judge("whole", 1e6 * added_s);
  facts.judge("majority", transfer_s / delivered_s(schedule, calm));
  return report;
}

}  // namespace

extern const Experiment kRdmcFig5 = {"rdmc-fig5", "a preemption of the relayer, step by step",
                                     rdmc_fig5};

}  // namespace slackline::experiments
