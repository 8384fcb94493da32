// DelayPlan::text().
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "machine/delay_plan.h"
#include "machine/delay_values.h"
#include "machine/toml_document.h"

namespace slackline::machine {
namespace {

using sched::RankId;
using sched::Time;

template <class Entry, class Key>
std::vector<Entry> sorted(std::vector<Entry> entries, const Key& key) {
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  return entries;
}

std::string line(std::string_view key, std::string_view value) {
  return fmt::format("{} = {}\n", key, value);
}
std::string line(std::string_view key, Time time) {
  return line(key, toml_string(sched::format_time(time)));
}
std::string line(std::string_view key, sched::Rate rate) {
  return line(key, toml_string(sched::format_rate(rate)));
}
std::string line(std::string_view key, std::uint64_t value) {
  return line(key, std::to_string(value));
}

std::string of_line(bool whole_lane) { return line("of", whole_lane ? "\"lane\"" : "\"op\""); }

// TOML's numbers end at 2^63 − 1.
std::string seed_line(std::uint64_t seed) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  return seed <= kLargest ? line("seed", seed) : line("seed", toml_string(std::to_string(seed)));
}

std::string noise_lines(const Noise& noise) {
  std::string out;
  if (!noise.ranks.empty()) {
    std::vector<std::uint32_t> ranks;
    for (const RankId rank : noise.ranks) ranks.push_back(rank.value);
    std::sort(ranks.begin(), ranks.end());
    out += line("ranks", fmt::format("[{}]", fmt::join(ranks, ", ")));
  }
  out += line("distribution", toml_string(name(noise.of.kind)));
  for (const DistributionParameter& parameter : parameters(noise.of.kind)) {
    const std::string value = parameter.get(noise.of);
    out += line(parameter.key, parameter.number ? value : toml_string(value));
  }
  if (noise.of.kind == Distribution::Kind::kTrace) {
    std::vector<std::string> values;
    for (const Time value : noise.of.values)
      values.push_back(toml_string(sched::format_time(value)));
    out += line("values", fmt::format("[{}]", fmt::join(values, ", ")));
  }
  out += line("chance", fmt::format("{}", noise.chance.value / 1e6));
  return out + of_line(noise.whole_lane);
}

}  // namespace

std::string DelayPlan::text() const {
  if (empty()) return "";
  std::string out = line("schema", kDelayPlanSchema);
  if (!noise.empty()) out += seed_line(seed);
  for (const OpDelay& delay :
       sorted(ops, [](const OpDelay& d) { return std::tuple(d.op, d.whole_lane, d.by, d.rank); })) {
    out += "\n[[delay]]\n" + line("op", delay.op.value);
    if (delay.rank.valid()) out += line("rank", delay.rank.value);
    out += line("by", delay.by) + of_line(delay.whole_lane);
  }
  for (const StepDelay& delay : sorted(steps, [](const StepDelay& d) {
         return std::tuple(d.rank, d.step, d.whole_lane, d.by);
       })) {
    out += "\n[[delay]]\n" + line("rank", delay.rank.value) + line("step", delay.step) +
           line("by", delay.by) + of_line(delay.whole_lane);
  }
  for (const PairRate& pair :
       sorted(pairs, [](const PairRate& p) { return std::tuple(p.src, p.dst, p.rate); })) {
    out += "\n[[slow_pair]]\n" + line("src", pair.src.value) + line("dst", pair.dst.value) +
           line("rate", pair.rate);
  }
  for (const Straggler& straggler : sorted(
           stragglers, [](const Straggler& s) { return std::tuple(s.rank, s.slowdown, s.by); })) {
    out += "\n[[straggler]]\n" + line("rank", straggler.rank.value) +
           line("slowdown", fmt::format("{}", straggler.slowdown)) + line("by", straggler.by);
  }
  for (const Noise& each : noise) out += "\n[[noise]]\n" + noise_lines(each);
  for (const LinkRate& rate :
       sorted(link_rates, [](const LinkRate& r) { return std::tuple(r.link, r.at, r.rate); })) {
    out += "\n[[link_rate]]\n" + line("link", toml_string(rate.link)) + line("rate", rate.rate) +
           line("at", rate.at);
  }
  for (const Failure& failure :
       sorted(failures, [](const Failure& f) { return std::tuple(f.rank, f.link, f.at); })) {
    out += "\n[[failure]]\n";
    out += failure.rank.valid() ? line("rank", failure.rank.value)
                                : line("link", toml_string(failure.link));
    out += line("at", failure.at);
  }
  return out;
}

}  // namespace slackline::machine
