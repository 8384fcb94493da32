#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "analysis/slack/critical_path.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/real_cost_reports.h"

namespace slackline::cli {
namespace {

using analysis::LinkUpgrade;

constexpr std::size_t kUpgradesShown = 12;

// For sorting: whole picoseconds decide, or rounding would.
double whole_ps(double time_s) { return std::floor(time_s * 1e12 + 0.5); }

// What an upgrade saves; rounding is nothing.
class Savings {
 public:
  explicit Savings(double makespan_s) : makespan_s_(makespan_s) {}

  double of(double changed_s) const {
    const double saved_s = makespan_s_ - changed_s;
    return std::abs(saved_s) <= analysis::rounding_s(makespan_s_) ? 0 : saved_s;
  }
  // Seconds saved per second of latency taken away.
  double per_latency(const LinkUpgrade& upgrade) const {
    return upgrade.nearer.count() == 0 ? 0 : of(upgrade.nearer_s) / sched::seconds(upgrade.nearer);
  }
  bool any(const LinkUpgrade& upgrade) const {
    return of(upgrade.faster_s) > 0 || of(upgrade.twice_s) > 0;
  }
  auto rank(const LinkUpgrade& upgrade) const {
    return std::tuple(whole_ps(of(upgrade.faster_s)), whole_ps(of(upgrade.twice_s)),
                      -whole_ps(of(upgrade.slower_s)), whole_ps(of(upgrade.nearer_s)));
  }

 private:
  double makespan_s_;
};

void answer_overheads(Answer& answer, const Savings& saves,
                      std::span<const analysis::RankOverhead> overheads) {
  const auto cost = [&](double analysis::RankOverhead::*changed_s) {
    return [&, changed_s](auto row) { return as_difference(-saves.of(overheads[row].*changed_s)); };
  };
  const Columns columns = {
      {"rank", "rank", [&](auto row) { return overheads[row].rank.value; }},
      {"makespan_1_percent_slower_s", nullptr, [&](auto row) { return overheads[row].slower_s; }},
      {"makespan_twice_as_slow_s", nullptr, [&](auto row) { return overheads[row].twice_s; }},
      {nullptr, "1 % slower", cost(&analysis::RankOverhead::slower_s)},
      {nullptr, "half as fast", cost(&analysis::RankOverhead::twice_s)}};
  const Rows rows = rows_of(overheads.size());
  answer.list("ranks", rows, columns);
  answer.table("ranks by what slower work of their own costs", columns,
               most_first(rows,
                          [&](auto row) {
                            return std::tuple(-whole_ps(saves.of(overheads[row].slower_s)),
                                              -whole_ps(saves.of(overheads[row].twice_s)));
                          }),
               kUpgradesShown, "more rank");
}

}  // namespace

void answer_upgrades(Answer& answer, const SlackRun& run, const analysis::LinkUpgrades& upgrades,
                     std::span<const analysis::RankOverhead> overheads) {
  const Savings saves(upgrades.makespan_s);
  const std::vector<LinkUpgrade>& links = upgrades.links;
  const auto link = [&](std::uint32_t row) -> const machine::Link& {
    return run.setting.wiring.links()[links[row].link.value];
  };
  const auto saved = [&](double LinkUpgrade::*changed_s) {
    return [&, changed_s](auto row) { return as_difference(-saves.of(links[row].*changed_s)); };
  };
  add_delayed_run(answer, run, upgrades.makespan_s);
  answer.row("changed", "each link alone, in runs of its own");
  answer.row("more rate saves",
             fmt::format("at {} of {}",
                         std::ranges::count_if(links, [&](const auto& u) { return saves.any(u); }),
                         human_count(links.size(), "link")));
  answer.digest_row();
  const Columns columns = {
      {"link", "link", [&](auto row) { return link(row).name; }, Align::kLeft},
      {"rate_bits_per_s", nullptr, [&](auto row) { return link(row).rate.bits_per_second; }},
      {"makespan_1_percent_faster_s", nullptr, [&](auto row) { return links[row].faster_s; }},
      {"makespan_twice_as_fast_s", nullptr, [&](auto row) { return links[row].twice_s; }},
      {"makespan_1_percent_slower_s", nullptr, [&](auto row) { return links[row].slower_s; }},
      {"nearer_by_s", nullptr, [&](auto row) { return sched::seconds(links[row].nearer); }},
      {"makespan_nearer_s", nullptr, [&](auto row) { return links[row].nearer_s; }},
      {nullptr, "rate", [&](auto row) { return sched::format_rate(link(row).rate); }},
      {nullptr, "1 % more", saved(&LinkUpgrade::faster_s)},
      {nullptr, "twice", saved(&LinkUpgrade::twice_s)},
      {nullptr, "1 % less", saved(&LinkUpgrade::slower_s)},
      {nullptr, "per latency",
       [&](auto row) { return fmt::format("{:.4g}", saves.per_latency(links[row])); }}};
  const Rows rows = rows_of(links.size());
  answer.list("links", rows, columns);
  if (!links.empty()) {
    answer.table("links by what more rate saves, then by what less costs", columns,
                 most_first(rows, [&](auto row) { return saves.rank(links[row]); }), kUpgradesShown,
                 "more link");
  }
  answer_overheads(answer, saves, overheads);
}

}  // namespace slackline::cli
