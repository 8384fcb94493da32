// RDMC, section 2: does posting work as soon as possible delay urgent work?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/analytic.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/overlap.h"
#include "experiments/rdmc-inversion/posting.h"

namespace slackline::experiments {
namespace {

using sched::RankId;
using Times = std::array<double, kRuleCount>;  // by rule

constexpr std::array<std::uint32_t, 4> kInFlight = {1, 2, 4, 0};  // 0: no bound
constexpr std::size_t kReady = static_cast<std::size_t>(Rule::kReady);
constexpr std::size_t kLeastSlack = static_cast<std::size_t>(Rule::kLeastSlack);

std::string shown_bound(std::uint32_t in_flight) {
  return in_flight == 0 ? "any" : fmt::format("{}", in_flight);
}

// --- A case whose answer is known: a relayer with leaves of its own.

constexpr std::uint32_t kChain = 8;   // ranks
constexpr std::uint32_t kBlocks = 8;  // along the chain
constexpr std::uint32_t kLeaves = 6;  // of rank 1, one block each

// A chain along which rank 1 relays, and rank 1's own sends to leaves, which could wait until the
// chain's last block has passed.
sched::Composition chain_and_leaves(ScheduleStore& store, bool leaves_first) {
  const std::string asap = "in-flight=0,ready=none";
  sched::Part chain;
  chain.schedule = store.get({"chain", kChain, kBlocks * kMiB, kMiB, asap});
  for (std::uint32_t r = 0; r < kChain; ++r) chain.rank_of.emplace_back(r);
  sched::Part leaves;
  leaves.schedule = store.get({"sequential", kLeaves + 1, kMiB, kMiB, asap});
  leaves.rank_of.emplace_back(1);
  for (std::uint32_t r = 0; r < kLeaves; ++r) leaves.rank_of.emplace_back(kChain + r);
  std::vector<sched::Part> parts = {chain, leaves};
  if (leaves_first) std::swap(parts[0], parts[1]);
  return sched::compose(parts, kChain + kLeaves);
}

void add_known_case(ExperimentReport& report) {
  const machine::Platform bare = bare_machine();
  ReportTable table{
      fmt::format("A chain of {} and {} blocks, whose rank 1 has {} blocks for leaves of its "
                  "own: block times",
                  kChain, kBlocks, kLeaves),
      {"first in program order", "in flight"}};
  for (const Rule rule : kRules) table.columns.emplace_back(name(rule));
  std::map<std::pair<bool, std::uint32_t>, Times> found;
  ScheduleStore store;
  for (const bool leaves_first : {false, true}) {
    const sched::Schedule schedule = chain_and_leaves(store, leaves_first).schedule;
    const Posting posting(schedule, bare);
    for (const std::uint32_t w : kInFlight) {
      std::vector<NumberOrText> row{std::string(leaves_first ? "leaves" : "chain"), shown_bound(w)};
      for (std::size_t r = 0; r < kRuleCount; ++r) {
        const sched::Trace trace =
            analysis::run_analytic({schedule, bare, {}, posting.order(kRules[r], w)});
        found[{leaves_first, w}][r] = delivered_s(schedule, trace) / block_time_s(bare);
        row.emplace_back(found[{leaves_first, w}][r]);
      }
      table.add(std::move(row));
    }
  }
  report.tables.push_back(std::move(table));

  // Rank 1 sends to leaves while it waits for its first block; with w sends in flight, that block
  // finds w of them before it. In the order of readiness it finds all of them.
  Facts facts(report, "rdmc-inversion");
  for (const std::uint32_t w : kInFlight) {
    facts.judge("known-in-order", found[{false, w}][0], shown_bound(w));
    facts.judge("known-ready", found[{false, w}][kReady], shown_bound(w));
    facts.judge("known-latest", found[{true, w}].back(), shown_bound(w));
  }
  facts.judge("known-least-slack", found[{true, 1}][kLeastSlack]);
}

// --- Patterns, overlapping groups, and what may disturb them.

struct Disturbance {
  std::string name;
  machine::DelayPlan plan;
  std::uint32_t seeds = 1;
};

std::vector<Disturbance> disturbances(std::uint32_t seeds) {
  Disturbance straggler{"straggler", {}, 1};
  machine::Straggler slow;
  slow.rank = RankId(1);
  slow.by = sched::Time{20'000'000};
  straggler.plan.stragglers.push_back(slow);
  Disturbance pair{"slow pair", {}, 1};
  pair.plan.pairs.push_back({RankId(0), RankId(1), sched::Rate{50'000'000'000}});
  Disturbance noise{"noise", {}, seeds};
  machine::Noise late;
  late.of.kind = machine::Distribution::Kind::kExponential;
  late.of.mean = sched::Time{40'000'000};
  late.chance = sched::PartsPerMillion{100'000};
  noise.plan.noise.push_back(late);
  return {{"none", {}, 1}, straggler, pair, noise};
}

struct Readiness {
  std::string name;
  std::string option;
};
const std::array<Readiness, 3> kReadiness = {Readiness{"beforehand", "ready=none"},
                                             Readiness{"1 ahead", "window=1"},
                                             Readiness{"16 ahead", "window=16"}};

struct Case {
  std::string receives;
  std::uint32_t nodes = 0;
  std::string schedule;
  std::string disturbance;
  std::uint32_t in_flight = 0;
  double strict_ms = 0;  // one send in flight, in schedule order, as RDMC has it
  Times ms{};

  double ratio(std::size_t rule) const { return ms[rule] / ms[0]; }
  bool is_close() const {
    return std::all_of(ms.begin(), ms.end(),
                       [&](double t) { return t < 1.05 * ms[0] && t > 0.95 * ms[0]; });
  }
  // Half of what `ready` loses to in-order.
  bool wins_back(std::size_t rule) const { return ratio(rule) - 1 <= (ratio(kReady) - 1) / 2; }
};

constexpr std::string_view kOverlap = "4 pipelines";

sched::Schedule make(std::string_view pattern, std::uint32_t nodes, std::uint64_t bytes,
                     const std::string& options) {
  if (pattern != kOverlap) return schedule_of({std::string(pattern), nodes, bytes, kMiB, options});
  ScheduleStore store;
  return same_members(store, {"binomial-pipeline", nodes, bytes / 4, kMiB, options}, 4, 1).schedule;
}

double mean_ms(const sched::Schedule& schedule, const machine::Platform& platform,
               const Disturbance& disturbance, const machine::IssueOrder& order) {
  machine::DelayPlan plan = disturbance.plan;
  double sum = 0;
  for (std::uint32_t seed = 0; seed < disturbance.seeds; ++seed) {
    plan.seed = seed;
    sum += delivered_s(schedule, analysis::run_analytic({schedule, platform, plan, order}));
  }
  return 1e3 * sum / disturbance.seeds;
}

std::vector<Case> measure(const Options& options) {
  const machine::Platform platform = machine::load_platform("fractus");
  constexpr std::uint64_t kBytes = 64 * kMiB;
  std::vector<std::string_view> patterns = {"binomial-pipeline", "circulant", "scatter-allgather",
                                            "double-tree",       "hybrid",    kOverlap};
  std::vector<std::uint32_t> nodes = {13, 16};
  if (options.quick) nodes = {16};
  std::vector<Case> cases;
  for (const Readiness& readiness : kReadiness) {
    for (const std::uint32_t n : nodes) {
      for (const std::string_view pattern : patterns) {
        const auto asap = make(pattern, n, kBytes, "in-flight=0," + readiness.option);
        const auto strict = make(pattern, n, kBytes, "in-flight=1," + readiness.option);
        const Posting posting(asap, platform);
        for (const Disturbance& disturbance : disturbances(options.quick ? 2 : 8)) {
          const double strict_ms = mean_ms(strict, platform, disturbance, {});
          for (const std::uint32_t w : kInFlight) {
            Case c{readiness.name, n, std::string(pattern), disturbance.name, w, strict_ms, {}};
            for (std::size_t r = 0; r < kRuleCount; ++r) {
              c.ms[r] = mean_ms(asap, platform, disturbance, posting.order(kRules[r], w));
            }
            cases.push_back(std::move(c));
          }
        }
      }
    }
  }
  return cases;
}

void add_details(ExperimentReport& report, const std::vector<Case>& cases) {
  ReportTable table{
      "Time over that of in-order; cases in which all are within 5 % left out",
      {"receives", "nodes", "schedule", "disturbed by", "in flight", "strict, ms", "in-order, ms"}};
  for (std::size_t r = 1; r < kRuleCount; ++r) table.columns.emplace_back(name(kRules[r]));
  for (const Case& c : cases) {
    if (c.is_close()) continue;
    std::vector<NumberOrText> row{c.receives,    static_cast<double>(c.nodes), c.schedule,
                                  c.disturbance, shown_bound(c.in_flight),     c.strict_ms,
                                  c.ms[0]};
    for (std::size_t r = 1; r < kRuleCount; ++r) row.emplace_back(c.ratio(r));
    table.add(std::move(row));
  }
  report.tables.push_back(std::move(table));
  Figure figure{"rdmc-inversion",
                "Time over that of in-order, over all cases",
                {"share of cases", 0},
                {"time / in-order", 2},
                {},
                true};
  for (std::size_t r = 1; r < kRuleCount; ++r) {
    std::vector<double> ratios;
    for (const Case& c : cases) ratios.push_back(c.ratio(r));
    std::sort(ratios.begin(), ratios.end());
    Series series{std::string(name(kRules[r]))};
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      series.add(static_cast<double>(i + 1) / static_cast<double>(ratios.size()), ratios[i]);
    }
    figure.series.push_back(std::move(series));
  }
  report.figures.push_back(std::move(figure));
}

// One row for each kind of case, by `kind`.
template <class Kind>
void add_summary(ExperimentReport& report, std::string title, std::string column,
                 const std::vector<Case>& cases, Kind kind) {
  struct Sum {
    double count = 0;
    double strict = 0;
    Times sum{};
    Times most{};
  };
  std::vector<std::pair<std::string, Sum>> sums;  // in the order of the cases
  for (const Case& c : cases) {
    auto at = std::find_if(sums.begin(), sums.end(), [&](auto& s) { return s.first == kind(c); });
    if (at == sums.end()) at = sums.insert(sums.end(), {kind(c), {}});
    Sum& sum = at->second;
    sum.count += 1;
    sum.strict += c.strict_ms / c.ms[0];
    for (std::size_t r = 0; r < kRuleCount; ++r) {
      sum.sum[r] += c.ratio(r);
      sum.most[r] = std::max(sum.most[r], c.ratio(r));
    }
  }
  ReportTable table{std::move(title), {std::move(column), "cases", "strict"}};
  for (std::size_t r = 1; r < kRuleCount; ++r) table.columns.emplace_back(name(kRules[r]));
  for (std::size_t r = 1; r < kRuleCount; ++r) {
    table.columns.push_back(fmt::format("worst {}", name(kRules[r])));
  }
  for (const auto& [of, sum] : sums) {
    std::vector<NumberOrText> row{of, sum.count, sum.strict / sum.count};
    for (std::size_t r = 1; r < kRuleCount; ++r) row.emplace_back(sum.sum[r] / sum.count);
    for (std::size_t r = 1; r < kRuleCount; ++r) row.emplace_back(sum.most[r]);
    table.add(std::move(row));
  }
  report.tables.push_back(std::move(table));
}

void add_facts(ExperimentReport& report, const std::vector<Case>& cases) {
  Facts facts(report, "rdmc-inversion");
  double pipeline = 0;
  const Case* worst = &cases.front();
  std::vector<const Case*> losses;  // of 5 % and more
  double strict_worst = 1e9;
  for (const Case& c : cases) {
    if (c.ratio(kReady) > worst->ratio(kReady)) worst = &c;
    if (c.ratio(kReady) >= 1.05) losses.push_back(&c);
    if (c.disturbance == "none" &&
        (c.schedule == "binomial-pipeline" || c.schedule == "circulant")) {
      pipeline = std::max(pipeline, c.ratio(kReady));
    }
    if (c.receives == "1 ahead" && c.schedule == "binomial-pipeline") {
      strict_worst = std::min(strict_worst, c.ms[kReady] / c.strict_ms);
    }
  }
  facts.judge("inversions", worst->ratio(kReady));
  facts.judge("undisturbed", pipeline);
  facts.judge("strict", strict_worst);
  const auto won = std::count_if(losses.begin(), losses.end(),
                                 [](const Case* c) { return c->wins_back(kLeastSlack); });
  facts.judge_words("won-back", won == static_cast<long>(losses.size()),
                    fmt::format("{} of {}", won, losses.size()));
  report.notes.push_back(fmt::format(
      "Ready loses most, {:.0f} %, with {}, {} nodes, receives {}, disturbed by {}, {} in flight.",
      100 * (worst->ratio(kReady) - 1), worst->schedule, worst->nodes, worst->receives,
      worst->disturbance, shown_bound(worst->in_flight)));
  for (std::size_t r = kReady; r < kRuleCount; ++r) {
    const auto back =
        std::count_if(losses.begin(), losses.end(), [&](const Case* c) { return c->wins_back(r); });
    const auto lost = std::count_if(cases.begin(), cases.end(),
                                    [&](const Case& c) { return c.ratio(r) >= 1.05; });
    const auto gained = std::count_if(cases.begin(), cases.end(),
                                      [&](const Case& c) { return c.ratio(r) <= 0.95; });
    report.notes.push_back(fmt::format(
        "{}: 5 % and more slower than in-order in {} of {} cases, as much faster in {}{}.",
        name(kRules[r]), lost, cases.size(), gained,
        r == kReady ? ""
                    : fmt::format("; wins back half of what ready loses in {} of {}", back,
                                  losses.size())));
  }
}

ExperimentReport rdmc_inversion(const Options& options) {
  ExperimentReport report{"Posting as soon as possible: priority inversions",
                          "RDMC (DSN 2018), section 2, which leaves the question open"};
  add_known_case(report);
  const std::vector<Case> cases = measure(options);
  add_summary(report, "By schedule: mean time over that of in-order, and the worst", "schedule",
              cases, [](const Case& c) { return c.schedule; });
  add_summary(report, "By how receives are posted", "receives", cases,
              [](const Case& c) { return c.receives; });
  add_summary(report, "By what disturbs", "disturbed by", cases,
              [](const Case& c) { return c.disturbance; });
  add_summary(report, "By sends in flight", "in flight", cases,
              [](const Case& c) { return shown_bound(c.in_flight); });
  add_details(report, cases);
  report.constants = {
      {"machine", "preset fractus; the chain and its leaves: only blocks take time",
       "in the preset"},
      {"message", "64 MiB, by 1 MiB; 4 pipelines: 16 MiB each, of 4 roots among the same nodes",
       "assumed"},
      {"straggler", "rank 1: 20 us more for each post and copy", "assumed"},
      {"slow pair", "0 to 1 at half the rate", "assumed"},
      {"noise",
       fmt::format("exponential, mean 40 us, of 10 % of posts; mean of {} seeds",
                   options.quick ? 2 : 8),
       "assumed"},
      {"receives", "all beforehand (as offloading posts a whole graph), or 1 or 16 ahead",
       "assumed"},
      {"in flight", "large sends that a rank has posted and not done", "as --sends-in-flight"},
      {"strict", "one send in flight, in schedule order", "stated: as RDMC does"},
  };
  add_facts(report, cases);
  return report;
}

}  // namespace

extern const Experiment kRdmcInversion = {
    "rdmc-inversion", "posting as soon as possible, or by slack", rdmc_inversion};

}  // namespace slackline::experiments
