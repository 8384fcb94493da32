// RDMC, section 5.2.3: polling, polling for 50 ms, and interrupts, where messages come after gaps.

#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"
#include "experiments/overlap.h"
#include "machine/lane_use.h"
#include "machine/run/lanes.h"
#include "sched/compose.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kNodes = 8;
constexpr std::uint64_t kMessage = 10'000'000;
constexpr std::uint32_t kMessages = 8;
constexpr std::int64_t kMillisecond = 1'000'000'000;  // in picoseconds

sched::Time ms(double count) {
  return sched::Time{static_cast<std::int64_t>(count * static_cast<double>(kMillisecond))};
}

// One group's messages; the first at time zero, and each next one that much later at its root.
sched::Composition every(ScheduleStore& store, sched::Time interval) {
  std::vector<sched::Part> parts;
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    sched::Part part;
    part.schedule = store.get({"binomial-pipeline", kNodes, kMessage, kMiB, ""});
    for (std::uint32_t r = 0; r < kNodes; ++r) part.rank_of.push_back(sched::RankId(r));
    part.start = interval * i;
    part.start_rank = sched::RankId(0);
    if (i > 0) part.after = i - 1;
    parts.push_back(std::move(part));
  }
  return sched::compose(parts, kNodes);
}

struct Waiting {
  std::vector<double> delivery_s;  // of each message but the first, from its arrival on
  double cpu = 0;                  // the share of the nodes' time in which they were busy
};

Waiting measure(const sched::Composition& whole, sched::Time interval,
                const machine::Platform& platform) {
  std::vector<machine::LaneUse> lanes(machine::LaneIndex(whole.schedule).count());
  const machine::Setting setting(whole.schedule, platform);
  const sched::Trace trace = analysis::run_events(setting.adding_up(lanes));
  // The gap after the last message counts, too.
  const double end_s = std::max(trace.makespan_s(), sched::seconds(interval * kMessages));
  const double poll_for_s = platform.poll_for ? sched::seconds(*platform.poll_for)
                                              : std::numeric_limits<double>::infinity();
  Waiting waiting;
  for (machine::LaneUse& lane : lanes) {
    lane.idle_until(end_s, poll_for_s);
    waiting.cpu += lane.busy_s() / end_s / static_cast<double>(lanes.size());
  }
  const std::vector<double> delivered_s = parts_delivered_s(whole, trace);
  for (std::uint32_t i = 1; i < kMessages; ++i) {
    waiting.delivery_s.push_back(delivered_s[i] - sched::seconds(interval * i));
  }
  return waiting;
}

// How much longer messages take than by polling, in interrupts.
struct Longer {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  double mean = 0;
};

Longer longer(const Waiting& waiting, const Waiting& polling, double interrupt_s) {
  Longer found;
  for (std::size_t i = 0; i < waiting.delivery_s.size(); ++i) {
    const double by = (waiting.delivery_s[i] - polling.delivery_s[i]) / interrupt_s;
    found.least = std::min(found.least, by);
    found.most = std::max(found.most, by);
    found.mean += by / static_cast<double>(waiting.delivery_s.size());
  }
  return found;
}

struct Row {
  Longer hybrid;
  Longer interrupts;
  double cpu_hybrid = 0;  // %
  double cpu_interrupts = 0;
  double polling_ms = 0;  // what a message takes by polling
};

Row row_of(ScheduleStore& store, sched::Time interval, const machine::Platform& polling) {
  const sched::Composition whole = every(store, interval);
  const auto with = [&](double poll_for_ms) {
    machine::Platform platform = polling;
    platform.poll_for = ms(poll_for_ms);
    return measure(whole, interval, platform);
  };
  const Waiting by_polling = measure(whole, interval, polling);
  const Waiting by_hybrid = with(50);  // stated: RDMC polls for 50 ms
  const Waiting by_interrupts = with(0);
  const double interrupt_s = sched::seconds(polling.interrupt_cost);
  return {longer(by_hybrid, by_polling, interrupt_s),
          longer(by_interrupts, by_polling, interrupt_s), 100 * by_hybrid.cpu,
          100 * by_interrupts.cpu,
          1e3 * *std::max_element(by_polling.delivery_s.begin(), by_polling.delivery_s.end())};
}

ExperimentReport rdmc_waiting(const Options&) {
  ExperimentReport report{"Polling, polling for 50 ms, and interrupts, after gaps",
                          "RDMC (DSN 2018), section 5.2.3"};
  const machine::Platform polling = machine::load_platform("fractus");
  ScheduleStore store;
  ReportTable table{"8 messages of 10 MB to 8 nodes on Fractus",
                    {"messages every, ms", "by polling, ms", "hybrid: longer, interrupts",
                     "interrupts: longer, interrupts", "hybrid: CPU, %", "interrupts: CPU, %"}};
  Figure load{"rdmc-waiting-cpu",
              "CPU load of messages that come after gaps (with polling it is 100 %): a model",
              {"a message every, ms", 0},
              {"CPU load, %", 0}};
  Figure late{"rdmc-waiting-late",
              "What a message takes longer than by polling: a model",
              {"a message every, ms", 0},
              {"interrupts", 0}};
  Series cpu_hybrid{"hybrid"}, cpu_interrupts{"interrupts", {}, {}, true};
  Series late_hybrid{"hybrid"}, late_interrupts{"interrupts", {}, {}, true};
  const auto add = [&](NumberOrText title, const Row& row) {
    table.add({std::move(title), row.polling_ms, row.hybrid.mean, row.interrupts.mean,
               row.cpu_hybrid, row.cpu_interrupts});
  };
  Row at_40, at_50, at_100;
  for (const double interval_ms : {20.0, 40.0, 50.0, 52.0, 60.0, 80.0, 100.0, 200.0}) {
    const Row row = row_of(store, ms(interval_ms), polling);
    if (interval_ms == 40) at_40 = row;
    if (interval_ms == 50) at_50 = row;
    if (interval_ms == 100) at_100 = row;
    add(interval_ms, row);
    cpu_hybrid.add(interval_ms, row.cpu_hybrid);
    cpu_interrupts.add(interval_ms, row.cpu_interrupts);
    late_hybrid.add(interval_ms, row.hybrid.mean);
    late_interrupts.add(interval_ms, row.interrupts.mean);
  }
  // So long after the delivery of the one before, which takes no longer by polling than this.
  const Row pause = row_of(store, ms(50 + at_50.polling_ms), polling);
  add("50 after the last delivery", pause);
  load.series = {std::move(cpu_hybrid), std::move(cpu_interrupts)};
  late.series = {std::move(late_hybrid), std::move(late_interrupts)};
  report.figures = {std::move(load), std::move(late)};
  report.tables.push_back(std::move(table));
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"interrupt", sched::format_time(polling.interrupt_cost), "assumed; in the preset"},
      {"hybrid", "polls for 50 ms", "stated (section 5.2.3)"},
      {"messages", "8 of 10 MB in blocks of 1 MiB, to 8 nodes", "assumed"},
      {"receivers", "make themselves ready for a message when the one before is through",
       "assumed"},
  };
  Facts facts(report, "rdmc-waiting");
  facts.judge("awake", at_40.hybrid.most);
  facts.judge("every-50", at_50.hybrid.most);
  facts.judge("pause-of-50", pause.hybrid.least);
  facts.judge("asleep", at_100.hybrid.mean);
  facts.judge("interrupts", at_100.interrupts.mean / at_100.hybrid.mean);
  facts.judge("cpu-awake", at_40.cpu_hybrid);
  facts.judge("cpu-asleep", at_100.cpu_hybrid);
  facts.judge("cpu-interrupts", at_100.cpu_interrupts);
  report.notes.push_back(
      "A program that sleeps pays one interrupt for what comes after a gap: it is awake for the "
      "rest "
      "of that message. What a gap of 50 ms is depends on who counts: of messages every 50 ms no "
      "node has one, 50 ms after a delivery each receiver has had a longer one.");
  return report;
}

}  // namespace

extern const Experiment kRdmcWaiting = {
    "rdmc-waiting", "polling, polling for 50 ms, and interrupts, after gaps", rdmc_waiting};

}  // namespace slackline::experiments
