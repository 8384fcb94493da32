// RDMC, sections 1 and 4.6: what it costs that a message is delivered only once all have it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/engines/analytic.h"
#include "base/units.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "sched/compile.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kSlots = 16;
constexpr std::uint32_t kBatch = 8;
constexpr std::array<std::uint64_t, 3> kSizes = {1, 1000, 10'000};

struct Case {
  std::uint32_t nodes = 2;
  std::uint64_t bytes = 1;
  std::uint32_t messages = 1;
  std::uint32_t batch = 1;
};

// When the last member has delivered the last message.
double delivery_us(const Case& of, bool stable, const machine::Platform& platform) {
  const sched::Schedule schedule = sched::compile(sched::parse_spec(fmt::format(
      "table-multicast:ranks={},bytes={},messages={},slots={},batch={},delivery={}", of.nodes,
      of.bytes, of.messages, kSlots, of.batch, stable ? "stable" : "received")));
  const sched::Trace trace = analysis::run_analytic({schedule, platform});
  double last_s = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::OpKind kind = schedule.op(sched::OpId(i)).kind;
    if (kind != sched::OpKind::kCopy && kind != sched::OpKind::kJoin) continue;
    last_s = std::max(last_s, trace.ops[i].done_s);
  }
  return 1e6 * last_s;
}

struct Times {
  double received = 0;
  double stable = 0;
  double adds() const { return stable - received; }
  double ratio() const { return stable / received; }
};

Times measure(const Case& of, const machine::Platform& platform) {
  return {delivery_us(of, false, platform), delivery_us(of, true, platform)};
}

// What stable delivery of a small message adds: the last member to receive it posts its count to
// all others, and the last of them has to see it.
double adds_us(std::uint32_t nodes, const machine::Platform& platform) {
  const double way_s =
      platform.transfer_s(8) + sched::seconds(platform.latency + platform.o_complete);
  return 1e6 * ((nodes - 1) * sched::seconds(platform.o_post) + way_s);
}

ExperimentReport rdmc_atomic(const Options& options) {
  ExperimentReport report{"Atomic delivery of small messages by a status table",
                          "RDMC (DSN 2018), sections 1 and 4.6"};
  const machine::Platform platform = machine::load_platform("fractus");
  const std::vector<std::uint32_t> nodes =
      options.quick ? std::vector<std::uint32_t>{2, 3, 4, 8, 16, 64}
                    : std::vector<std::uint32_t>{2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64};
  ReportTable alone{"One message: until the last member has delivered it, us",
                    {"message", "nodes", "received", "stable", "stable / received", "adds"}};
  Figure figure{"rdmc-atomic",
                "Latency of delivery: on receipt, and once all have the message",
                {"nodes, the sender included", 2},
                {"delivered after, us", 10}};
  Facts facts(report, "rdmc-atomic");
  double farthest = 1;
  bool grows = true;
  std::map<std::uint64_t, Times> of_16;
  for (const std::uint64_t bytes : kSizes) {
    Series received{fmt::format("{} B, on receipt", bytes)};
    Series stable{fmt::format("{} B, stable", bytes)};
    received.dashed = true;
    double before = 0;
    for (const std::uint32_t n : nodes) {
      const Times t = measure({n, bytes}, platform);
      if (n == 16) of_16[bytes] = t;
      if (bytes == 1000 && n >= 3) {
        const double over = t.adds() / adds_us(n, platform);
        if (std::abs(over - 1) > std::abs(farthest - 1)) farthest = over;
      }
      grows = grows && t.adds() > before;
      before = t.adds();
      alone.add({sched::format_bytes(bytes), static_cast<double>(n), t.received, t.stable,
                 t.ratio(), t.adds()});
      received.add(n, t.received);
      stable.add(n, t.stable);
    }
    figure.series.push_back(std::move(received));
    figure.series.push_back(std::move(stable));
  }
  report.add(std::move(alone), std::move(figure));

  const std::uint32_t messages = options.quick ? 64 : 512;
  ReportTable series{fmt::format("Series of {} messages to 16 nodes, us a message", messages),
                     {"message", "batch", "received", "stable", "stable / received"}};
  std::map<std::pair<std::uint64_t, std::uint32_t>, Times> grid;
  for (const std::uint64_t bytes : kSizes) {
    for (const std::uint32_t batch : {1u, kBatch}) {
      const Times& t = grid[{bytes, batch}] = measure({16, bytes, messages, batch}, platform);
      series.add({sched::format_bytes(bytes), static_cast<double>(batch), t.received / messages,
                  t.stable / messages, t.ratio()});
    }
  }
  report.tables.push_back(std::move(series));
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"slots of a member", fmt::format("{}", kSlots),
       "from RDMC's published code: the window of its small messages"},
      {"what a member does", "copies each message out of its slot to deliver it", "assumed"},
  };
  facts.judge("adds", farthest);
  facts.judge("small-delay", of_16.at(10'000).ratio());
  facts.judge("bandwidth", grid.at({10'000, 1}).ratio());
  facts.judge_words("grows", grows, grows ? "more in each larger group" : "not always more");
  facts.judge("batches", grid.at({1000, 1}).stable / grid.at({1000, kBatch}).stable);
  return report;
}

}  // namespace

extern const Experiment kRdmcAtomic = {
    "rdmc-atomic", "small messages delivered once all members have them", rdmc_atomic};

}  // namespace slackline::experiments
