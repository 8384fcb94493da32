// The values of a delay plan as users write them, in a file and on the command line. Every reader
// throws InputError, naming `what`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "machine/distribution.h"

namespace slackline::machine {

/// A time that ends: "10us".
sched::Time parse_finite_time(std::string_view text, std::string_view what);
/// "lane" is true, "op" false: OpDelay::whole_lane.
bool parse_whole_lane(std::string_view text, std::string_view what);
/// A number of at least 1, finite.
double parse_slowdown(std::string_view text, std::string_view what);
/// A number from 0 to 1, or a percentage such as "1%"; rounded to a millionth, but not to nothing.
sched::PartsPerMillion parse_chance(std::string_view text, std::string_view what);

/// "constant", "uniform", "exponential", "lognormal" or "trace".
std::string_view name(Distribution::Kind kind);
Distribution::Kind parse_distribution_kind(std::string_view text, std::string_view what);

/// A parameter of a distribution, as data: how it is called, read and written.
struct DistributionParameter {
  std::string_view key;
  std::string_view expected;  // "a time such as \"10us\""
  bool number;                // in a file without quotes
  void (*set)(Distribution&, std::string_view text, std::string_view what);
  std::string (*get)(const Distribution&);
};
/// All of them must be given. A trace has none: its values are a list.
std::span<const DistributionParameter> parameters(Distribution::Kind kind);

/// The values of a trace: one time per line of `text`; what follows a # is a comment. `file` names
/// it in errors "file:line: …".
std::vector<sched::Time> parse_times(std::string_view text, std::string_view file);
/// Reads the file at `path`.
std::vector<sched::Time> load_times(const std::string& path, std::string_view what);

}  // namespace slackline::machine
