// What a study's points came to, in files: the parts that sweeps write, each its own, and the
// results that are made of all parts.
//
// A part is written while its sweep goes on, and has every point that was answered, whatever kills
// the sweep. Each sweep has a part of its own, so that several may go on in one folder; they read
// each other's. The results are made anew at the end, with the points of the study in the order of
// their keys: so they have the same bytes, whichever sweeps answered them and in how many parts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "sweep/database.h"
#include "sweep/outcome.h"
#include "sweep/shard.h"
#include "sweep/study.h"

namespace slackline::sweep {

/// What a row says of a point. Seconds; infinite where a rank never finished.
struct Row {
  std::string schedule, platform, engine, delays;
  std::uint64_t seed = 0;
  std::uint32_t samples = 1;
  double mean_s = 0, least_s = 0, median_s = 0, most_s = 0;
  std::optional<double> p90_s, p99_s;  // from 10 and from 100 samples on
  std::optional<PointSlack> slack;
  bool contended = false;  // as PointOutcome has it
  std::string error;       // then none of the times counts
  std::int32_t exit_code = 0;
};

Row row_of(const Point& point, const PointOutcome& answer);

/// Columns of times that are there where slack was asked for.
inline constexpr std::string_view kFloats[] = {"least_float_s", "median_float_s", "most_float_s"};

/// A column of kObjectives (sweep/search.h) or of kFloats, of a row without an error; infinite too
/// where there were too few samples for it, or no slack.
double time_of(const Row& row, std::string_view column);

/// The part of one sweep: a file of a folder that no other process writes.
class ResultsPart {
 public:
  /// The first of part-0, part-1, … that nobody writes.
  static ResultsPart free_one(const std::string& folder);
  /// That of a shard. Throws InputError if another process is writing it.
  static ResultsPart of_shard(const std::string& folder, const Shard& shard);

  /// All of them, or none. `left` are still to come.
  void add(const std::vector<std::pair<std::string, Row>>& rows, std::size_t left);

 private:
  ResultsPart(const std::string& path, sched::Descriptor lock);
  sched::Descriptor lock_;
  Database database_;
  std::int64_t begun_ms_;
  std::int64_t answered_ = 0;
};

/// What is going on in a folder just now.
struct Underway {
  std::uint32_t sweeps = 0;
  std::uint64_t answered = 0;  // by these
  std::uint64_t left = 0;      // that they still want to answer
  double rate_per_s = 0;       // of answers, of all of them together
};
Underway underway(const std::string& folder);

/// The rows of all parts of a folder, by their points' keys. What failed for want of something on
/// this machine is left out: it may come out another time.
std::map<std::string, Row> rows_of_parts(const std::string& folder);

/// FOLDER/results.sqlite, aside and then at once: tables points, value, makespans, contended,
/// errors and study; of a study that seeks the fastest also best, of these points.
void write_results(const std::string& folder, const Study& study,
                   const std::vector<std::string>& keys, const std::map<std::string, Row>& rows,
                   const std::vector<std::size_t>& best = {});

/// One line for each point of the study that has a row, in the study's order.
std::string results_csv(const Study& study, const std::vector<std::string>& keys,
                        const std::map<std::string, Row>& rows);

}  // namespace slackline::sweep
