// A study: which points there are, as a file says.
//
//     schedule = ["binomial-pipeline:ranks={ranks},bytes={bytes}",
//     "chain:ranks={ranks},bytes={bytes}"] platform = ["fractus"] engine = ["analytic"] [values]
//     ranks = { from = 4, to = 64, times = 2 }
//     bytes = ["1MiB", "64MiB"]
//
// has each schedule with each number of ranks and of bytes. A value counts where a text names it,
// so one that only a platform names does not multiply what goes on other platforms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/point.h"
#include "sweep/search.h"

namespace slackline::sweep {

/// The newest `schema` that is read.
inline constexpr std::uint32_t kStudySchema = 1;
/// Most points of a study.
inline constexpr std::size_t kMostPoints = 1'000'000;

struct Study {
  std::vector<std::string> values;  // names, in the order of the file
  std::vector<std::string> engines;
  std::optional<Search> search;  // nothing: every point is answered
  bool with_slack = false;       // of every point
  /// Those with the same schedule follow each other. Points may have the same key.
  std::vector<Point> points;
};

/// `file` names it in errors, and delay plans are looked for in `folder`. Throws InputError
/// "file:line: …" for what is malformed, a value that no text names or that has no text, a range
/// without end, and more than kMostPoints. Specs and platforms are not read yet: a point whose are
/// wrong fails alone.
Study study_from_toml(std::string_view text, std::string_view file, const std::string& folder);

/// Reads the file at `path`; delay plans are beside it. Throws InputError.
Study load_study(const std::string& path);

}  // namespace slackline::sweep
