#include "cli/upgrade_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analysis/slack/critical_path.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/price_report.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

using analysis::LinkUpgrade;

constexpr std::size_t kUpgradesShown = 12;

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
  // For sorting: whole picoseconds decide, or rounding would.
  auto rank(const LinkUpgrade& upgrade) const {
    const auto whole = [](double time_s) { return std::floor(time_s * 1e12 + 0.5); };
    return std::tuple(whole(of(upgrade.faster_s)), whole(of(upgrade.twice_s)),
                      -whole(of(upgrade.slower_s)), whole(of(upgrade.nearer_s)));
  }

 private:
  double makespan_s_;
};

}  // namespace

std::string upgrade_report(const LoadedSchedule& loaded, const SlackRun& run,
                           const analysis::LinkUpgrades& upgrades, bool all) {
  const Savings saves(upgrades.makespan_s);
  std::vector<LinkUpgrade> links = upgrades.links;
  const auto useful = static_cast<std::uint64_t>(std::count_if(
      links.begin(), links.end(), [&](const LinkUpgrade& u) { return saves.any(u); }));
  Table head({Align::kLeft, Align::kLeft});
  add_delayed_run_rows(head, run, upgrades.makespan_s);
  head.add({"changed", "each link alone, in runs of its own"});
  head.add(
      {"more rate saves", fmt::format("at {} of {}", useful, human_count(links.size(), "link"))});
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text = loaded.name + '\n' + head.text("  ");
  if (links.empty()) return text;
  std::stable_sort(links.begin(), links.end(), [&](const LinkUpgrade& a, const LinkUpgrade& b) {
    return saves.rank(a) > saves.rank(b);
  });
  Table table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"link", "rate", "1 % more", "twice", "1 % less", "per latency"});
  const std::size_t rows = all ? links.size() : std::min(links.size(), kUpgradesShown);
  for (std::size_t i = 0; i < rows; ++i) {
    const LinkUpgrade& upgrade = links[i];
    const machine::Link& link = run.setting.wiring.links()[upgrade.link.value];
    table.add({link.name, sched::format_rate(link.rate),
               human_difference(-saves.of(upgrade.faster_s)),
               human_difference(-saves.of(upgrade.twice_s)),
               human_difference(-saves.of(upgrade.slower_s)),
               fmt::format("{:.4g}", saves.per_latency(upgrade))});
  }
  text += "\n  links by what more rate saves, then by what less costs:\n" + table.text("  ");
  if (rows < links.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(links.size() - rows, "more link"));
  }
  return text;
}

std::string upgrade_document(const LoadedSchedule& loaded, const SlackRun& run,
                             const analysis::LinkUpgrades& upgrades) {
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  set_delayed_run(json, loaded, run, upgrades.makespan_s);
  json.begin_list("links");
  for (const LinkUpgrade& upgrade : upgrades.links) {
    const machine::Link& link = run.setting.wiring.links()[upgrade.link.value];
    json.begin_object();
    json.set("link", link.name);
    json.set("rate_bits_per_s", link.rate.bits_per_second);
    json.set("makespan_1_percent_faster_s", upgrade.faster_s);
    json.set("makespan_twice_as_fast_s", upgrade.twice_s);
    json.set("makespan_1_percent_slower_s", upgrade.slower_s);
    json.set("nearer_by_s", sched::seconds(upgrade.nearer));
    json.set("makespan_nearer_s", upgrade.nearer_s);
    json.end();
  }
  json.end();
  return json.text();
}

}  // namespace slackline::cli
