#include "machine/placement.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "base/units.h"
#include "machine/draw.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

constexpr std::string_view kRandom = "random:";
constexpr std::string_view kFile = "file:";

// Beyond the ranks and operations that draws of delays are made for, so that a seed used for both
// gives no draw twice.
constexpr std::uint32_t kPlacementRank = ~std::uint32_t{0};

std::vector<std::uint32_t> random_hosts(std::uint64_t seed, std::uint32_t ranks,
                                        std::uint32_t count) {
  std::vector<std::uint32_t> hosts(count);
  std::iota(hosts.begin(), hosts.end(), 0u);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const DrawKey key{seed, kPlacementRank, r, 0};
    std::swap(hosts[r], hosts[r + draw_below(key, count - r)]);
  }
  hosts.resize(ranks);
  return hosts;
}

// A name comes first: a host may be called "12".
std::optional<std::uint32_t> find_host(std::string_view text, const HostSet& hosts) {
  if (const auto named = hosts.find ? hosts.find(text) : std::nullopt) return named;
  const auto number = base::whole_number<std::uint32_t>(text);
  return number && *number < hosts.count ? number : std::nullopt;
}

std::vector<std::uint32_t> read_hosts(const std::string& file, std::uint32_t ranks,
                                      const HostSet& hosts) {
  const std::string content = read_input_file(file, "placement", "a host per line");
  std::vector<std::uint32_t> placed;
  std::vector<bool> taken(hosts.count);
  std::string_view rest = content;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = base::trimmed(base::take_item(rest, '\n'));
    if (line.empty() || line.front() == '#') continue;
    const auto host = find_host(line, hosts);
    if (!host) {
      throw InputError(fmt::format("{}:{}: {} is no host; expected {} or a number below {}",
                                   in_quotes(file), number, in_quotes(line), hosts.name_form,
                                   hosts.count));
    }
    if (taken[*host]) {
      throw InputError(fmt::format("{}:{}: {} stands twice; expected one {} on a host",
                                   in_quotes(file), number, in_quotes(line), hosts.of));
    }
    taken[*host] = true;
    placed.push_back(*host);
  }
  if (placed.size() < ranks) {
    throw InputError(
        fmt::format("placement file {}: {} hosts for {} {}s; expected a host for "
                    "each {}, one per line",
                    in_quotes(file), placed.size(), ranks, hosts.of, hosts.of));
  }
  placed.resize(ranks);
  return placed;
}

}  // namespace

Placement parse_placement(std::string_view text, std::string_view what) {
  Placement placement;
  if (text == "packed") return placement;
  if (text == "round-robin") {
    placement.kind = Placement::Kind::kRoundRobin;
  } else if (text.starts_with(kRandom)) {
    placement.kind = Placement::Kind::kRandom;
    placement.seed = sched::parse_count(text.substr(kRandom.size()), what, 0, ~std::uint64_t{0});
  } else if (text.starts_with(kFile)) {
    placement.kind = Placement::Kind::kFile;
    placement.file = parse_path(text.substr(kFile.size()), what);
  } else {
    throw InputError(fmt::format(
        "{}: {} is no placement; expected packed, round-robin, random:SEED or file:PATH", what,
        in_quotes(text)));
  }
  return placement;
}

std::string format_placement(const Placement& placement) {
  switch (placement.kind) {
    case Placement::Kind::kPacked:
      return "packed";
    case Placement::Kind::kRoundRobin:
      return "round-robin";
    case Placement::Kind::kRandom:
      return fmt::format("{}{}", kRandom, placement.seed);
    case Placement::Kind::kFile:
      return fmt::format("{}{}", kFile, placement.file);
  }
  throw InternalError("a placement without a name");
}

std::vector<std::uint32_t> place_ranks(const Placement& placement, std::uint32_t ranks,
                                       const HostSet& hosts, std::string_view what) {
  if (ranks > hosts.count) {
    throw InputError(fmt::format("{0}: {1} {3}s on {2} hosts; expected no more {3}s than hosts",
                                 what, ranks, hosts.count, hosts.of));
  }
  if (placement.kind == Placement::Kind::kRandom) {
    return random_hosts(placement.seed, ranks, hosts.count);
  }
  if (placement.kind == Placement::Kind::kFile) return read_hosts(placement.file, ranks, hosts);
  std::vector<std::uint32_t> placed(ranks);
  std::iota(placed.begin(), placed.end(), 0u);
  if (placement.kind == Placement::Kind::kRoundRobin && ranks > 0) {
    const std::uint32_t units = hosts.count / hosts.per_unit;
    for (std::uint32_t r = 0; r < ranks; ++r) placed[r] = r % units * hosts.per_unit + r / units;
  }
  return placed;
}

}  // namespace slackline::machine
