#include "machine/host_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "machine/delay_values.h"
#include "machine/input_text.h"
#include "machine/platform.h"
#include "machine/platform_figures.h"

namespace slackline::machine {
namespace {

constexpr std::string_view kTo = "..";

// "4..7" or "4".
std::optional<std::pair<std::uint32_t, std::uint32_t>> range_of(std::string_view text) {
  const std::size_t dots = text.find(kTo);
  const auto first = base::whole_number<std::uint32_t>(text.substr(0, dots));
  const auto last = dots == std::string_view::npos
                        ? first
                        : base::whole_number<std::uint32_t>(text.substr(dots + kTo.size()));
  if (!first || !last || *first > *last || *last >= kMaxHosts) return std::nullopt;
  return std::pair(*first, *last);
}

template <class Value, class Read>
ForHosts<Value> parse_for_hosts(std::string_view text, std::string_view what, const Read& read) {
  ForHosts<Value> all;
  for (const std::string_view item : base::split(text, '+')) {
    const std::size_t colon = item.find(':');
    const auto range = range_of(item.substr(0, colon));
    if (colon == std::string_view::npos || !range) {
      throw InputError(
          fmt::format("{}: {} is no value of hosts; expected hosts, a colon and the value, such as "
                      "4..7:50Gbps or 4:2us, joined by +",
                      what, in_quotes(item)));
    }
    all.runs.push_back({range->first, range->second, read(item.substr(colon + 1), what)});
  }
  const auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(all.runs.begin(), all.runs.end(), earlier);
  std::vector<typename ForHosts<Value>::Run> kept;
  for (const auto& run : all.runs) {
    if (!kept.empty() && run.first <= kept.back().last) {
      throw InputError(fmt::format("{}: host {} stands twice in {}; expected one value of a host",
                                   what, run.first, in_quotes(text)));
    }
    // One platform has one text.
    if (!kept.empty() && run.first == kept.back().last + 1 && run.value == kept.back().value) {
      kept.back().last = run.last;
    } else {
      kept.push_back(run);
    }
  }
  all.runs = std::move(kept);
  return all;
}

template <class Value, class Write>
std::string format_all(const ForHosts<Value>& all, const Write& write) {
  std::string text;
  for (const auto& run : all.runs) {
    text +=
        fmt::format("{}{}{}:{}", text.empty() ? "" : "+", run.first,
                    run.first == run.last ? "" : fmt::format("..{}", run.last), write(run.value));
  }
  return text;
}

template <class Value>
void require_hosts(const ForHosts<Value>& all, std::string_view key, std::uint32_t hosts,
                   std::string_view what) {
  if (!all.any() || all.runs.back().last < hosts) return;
  throw InputError(fmt::format("{}: {}: the network has no host {}; expected hosts below {}", what,
                               key, all.runs.back().last, hosts));
}

}  // namespace

ForHosts<sched::Rate> parse_host_rates(std::string_view text, std::string_view what) {
  return parse_for_hosts<sched::Rate>(text, what, [](std::string_view value, std::string_view of) {
    return sched::parse_rate(value, of);
  });
}

ForHosts<sched::Time> parse_host_times(std::string_view text, std::string_view what) {
  return parse_for_hosts<sched::Time>(text, what, parse_finite_time);
}

std::string format_for_hosts(const ForHosts<sched::Rate>& rates) {
  return format_all(rates, [](sched::Rate rate) { return sched::format_rate(rate); });
}

std::string format_for_hosts(const ForHosts<sched::Time>& times) {
  return format_all(times, [](sched::Time time) { return sched::format_time(time); });
}

sched::Rate fastest_nic(const Platform& platform) {
  sched::Rate fastest = platform.rate;
  for (const auto& run : platform.hosts.rate.runs) {
    if (run.value.bits_per_second > fastest.bits_per_second) fastest = run.value;
  }
  return fastest;
}

void check_host_figures(const Platform& platform, std::string_view what) {
  if (!platform.hosts.scale_up_rate.any() || platform.node.scale_up.any()) return;
  throw InputError(
      fmt::format("{}: host_scale_up_rate without scale_up_rate; expected both", what));
}

void require_hosts(const HostFigures& figures, std::uint32_t hosts, std::string_view what) {
  require_hosts(figures.rate, "host_rate", hosts, what);
  require_hosts(figures.latency, "host_latency", hosts, what);
  require_hosts(figures.scale_up_rate, "host_scale_up_rate", hosts, what);
}

}  // namespace slackline::machine
