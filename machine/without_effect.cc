#include "machine/without_effect.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/units.h"
#include "machine/delays.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

// All that a pair has under way leaves over the first link of its ways, its NIC's, and shares that.
bool is_below(const PairRate& pair, const Path& path, const Setting& setting, const Paths& paths,
              PathId id) {
  if (path.passes_no_nic() || path.link_count == 0) return true;
  const LinkId first = paths.links(id).front();
  const Link& link = setting.wiring.links()[first.value];
  if (!link.shared || pair.rate.bits_per_second < link.rate.bits_per_second) return true;
  for (const Paths::LinkChange& change : paths.link_changes()) {
    if (change.link == first) return true;
  }
  return false;
}

// Nothing where it may change something.
const char* why_idle(const PairRate& pair, const Setting& setting, const Paths& paths) {
  bool is_used = false;
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const Path& path = paths[PathId(p)];
    if (path.src != pair.src || path.dst != pair.dst) continue;
    if (is_below(pair, path, setting, paths, PathId(p))) return nullptr;
    is_used = true;
  }
  return is_used ? "its rate is not below the NIC's" : "no message goes that way";
}

// Of every link, whether a message's way is over it.
std::vector<bool> passed_links(const Paths& paths) {
  std::vector<bool> passed(paths.link_count());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    for (const LinkId link : paths.links(PathId(p))) passed[link.value] = true;
  }
  return passed;
}

}  // namespace

std::vector<IdleEntry> without_effect(const Setting& setting, const Paths& paths, double end_s) {
  const DelayPlan& plan = setting.delays;
  std::vector<IdleEntry> said = idle_delays(plan, setting.schedule, setting.platform);
  for (const PairRate& pair : plan.pairs) {
    const char* const why = why_idle(pair, setting, paths);
    if (why == nullptr) continue;
    said.push_back({fmt::format("slow pair {} to {}", pair.src.value, pair.dst.value), why});
  }
  if (plan.link_rates.empty() && plan.failures.empty()) return said;
  const std::vector<bool> passed = passed_links(paths);
  const auto say = [&](const std::string& what, const std::string& link, sched::Time at) {
    const bool is_late = sched::seconds(at) > end_s;
    if (!is_late && (link.empty() || passed[setting.wiring.find_link(link)->value])) return;
    said.push_back({what, is_late ? "it comes after the run's end" : "no message passes it"});
  };
  for (const LinkRate& rate : plan.link_rates) {
    say(fmt::format("rate of link {}", in_quotes(rate.link)), rate.link, rate.at);
  }
  for (const Failure& failure : plan.failures) {
    say(failure.link.empty() ? fmt::format("failure of rank {}", failure.rank.value)
                             : fmt::format("failure of link {}", in_quotes(failure.link)),
        failure.link, failure.at);
  }
  return said;
}

std::vector<IdleEntry> without_effect(const Setting& setting, double end_s) {
  if (setting.delays.empty()) return {};
  return without_effect(setting, Paths(setting), end_s);
}

}  // namespace slackline::machine
