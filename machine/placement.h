// Which rank, or which machine of several ranks, is on which host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::machine {

struct Placement {
  enum class Kind : std::uint8_t {
    kPacked,      // in order
    kRoundRobin,  // each next rank in the next rack (leaf switch, group)
    kRandom,      // any order of the hosts is as likely as any other
    kFile,        // a host's name or number per line, rank by rank
  };
  Kind kind = Kind::kPacked;
  std::uint64_t seed = 0;  // of random
  std::string file;        // of file: a path without commas

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// "packed", "round-robin", "random:SEED", "file:PATH". Throws InputError, naming `what`.
Placement parse_placement(std::string_view text, std::string_view what);
std::string format_placement(const Placement& placement);

/// The hosts that ranks can be placed on, numbered from 0.
struct HostSet {
  std::uint32_t count = 0;
  std::uint32_t per_unit = 1;  // of a rack, in one row of numbers; divides `count`
  /// The host of a name; nothing if there is none.
  std::function<std::optional<std::uint32_t>(std::string_view)> find;
  std::string name_form;         // "host-0 … host-15", for errors
  std::string_view of = "rank";  // what is placed, for errors
};

/// The host of every rank, or of whatever `hosts.of` calls them; no two share one. Throws
/// InputError, naming `what`: more ranks than hosts; a file that cannot be read, names fewer hosts
/// than there are ranks, a host twice or one that does not exist. In a file, blank lines and lines
/// that begin with # count for nothing, and hosts beyond the last rank's stay empty.
std::vector<std::uint32_t> place_ranks(const Placement& placement, std::uint32_t ranks,
                                       const HostSet& hosts, std::string_view what);

}  // namespace slackline::machine
