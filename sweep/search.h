// A study that seeks the fastest of its points, in place of an answer for each.
//
// Successive halving: the study's engines are tried in their order, the cheap ones first. Each
// answers what the one before it let through, and lets through the best share of that. So a dear
// engine, or a real run, sees a few of very many points. What a round asks for is a function of
// what is answered, and of nothing else: so a search that was ended goes on where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::sweep {

struct Row;
struct Study;

/// By what a point may be judged: columns of its row, in seconds.
inline constexpr std::string_view kObjectives[] = {"mean_s", "least_s", "median_s",
                                                   "p90_s",  "p99_s",   "most_s"};

struct Search {
  /// Parts or values of points (part_of()): the best is sought for each combination of these.
  std::vector<std::string> each;
  std::string by = "median_s";  // what is to be least, of kObjectives
  double keep = 0.25;           // share of its points that an engine lets through, in (0, 1]
  std::uint32_t at_least = 1;   // and no fewer than so many
};

struct SearchState {
  /// Points of the study that are asked for so far, in its order.
  std::vector<std::size_t> asked;
  /// The best of each combination, by the last engine that could answer for it. Combinations of
  /// which no point came out have none, and none has one while points that are asked for have no
  /// row.
  std::vector<std::size_t> best;
};

/// How far the search is. `row_of` gives the row of a point of the study, or null. A point that
/// failed is let through by no engine; one that an engine does not have, as the study skips it, is.
SearchState search_state(const Study& study, const Search& search,
                         const std::function<const Row*(std::size_t point)>& row_of);

}  // namespace slackline::sweep
