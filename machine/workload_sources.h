// Where a workload's message sizes and arrivals come from, as its file says it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "machine/distribution.h"
#include "machine/toml_document.h"

namespace slackline::machine {

/// Draws of one group or generator: `stream` keeps them apart from all others.
struct DrawStream {
  std::uint64_t seed = 0;
  std::uint32_t number = 0;  // of its kind
  bool generator = false;

  enum class Of : std::uint32_t { kSize, kArrival, kChoice };
  /// Far above the operations, which noise counts as its sites.
  std::uint64_t site(Of of) const {
    return (std::uint64_t{1} << 40) + 8 * static_cast<std::uint64_t>(of) + (generator ? 1 : 0);
  }
};

/// `bytes = "12MiB"`, or `sizes = { … }`: a lognormal or uniform distribution, or a file with a
/// size a line that is taken in order, again and again.
struct SizeSource {
  enum class Kind : std::uint8_t { kConstant, kLognormal, kUniform, kList };
  Kind kind = Kind::kConstant;
  std::uint64_t bytes = 0;   // constant
  std::uint64_t median = 1;  // lognormal
  double sigma = 0;          // lognormal: of the logarithm
  std::uint64_t min = 1;     // what is drawn below is taken for this
  std::uint64_t max = std::uint64_t{1} << 62;
  std::vector<std::uint64_t> list;

  std::uint64_t draw(const DrawStream& stream, std::uint64_t index) const;
};

/// Times between messages, or a list of times; closed if neither.
struct ArrivalSource {
  std::optional<Distribution> between;
  std::vector<sched::Time> list;
  bool closed() const { return !between && list.empty(); }
};

/// Reads `bytes` or `sizes` of `table`; nothing if neither stands there. Throws InputError.
std::optional<SizeSource> read_sizes(TomlTable& table, const std::filesystem::path& folder);
/// Reads `arrivals` of `table`. Throws InputError, also for a list that is not sorted.
ArrivalSource read_arrivals(TomlTable& table, const std::filesystem::path& folder);
/// Reads the time `key`, below kForever. Throws InputError.
std::optional<sched::Time> read_time(TomlTable& table, std::string_view key);

}  // namespace slackline::machine
