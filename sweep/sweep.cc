#include "sweep/sweep.h"

#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "sweep/workers.h"

namespace slackline::sweep {
namespace {

using Rows = std::map<std::string, Row>;

std::vector<std::string> keys_of(const Study& study) {
  Keys keys;
  std::vector<std::string> of_points;
  for (const Point& point : study.points) of_points.push_back(keys.of(point));
  return of_points;
}

SearchState asked_of(const Study& study, const std::vector<std::string>& keys, const Rows& rows) {
  if (study.search) {
    return search_state(study, *study.search, [&](std::size_t point) {
      const auto row = rows.find(keys[point]);
      return row == rows.end() ? nullptr : &row->second;
    });
  }
  SearchState all;
  all.asked.resize(study.points.size());
  std::iota(all.asked.begin(), all.asked.end(), std::size_t{0});
  return all;
}

SweepState state_from(const Study& study, const std::vector<std::string>& keys, Rows rows) {
  SweepState state;
  const SearchState search = asked_of(study, keys, rows);
  state.study = {study.values, study.engines, study.search, study.with_slack, {}};
  state.rows = std::move(rows);
  std::set<std::string> known;
  std::map<std::size_t, std::size_t> place;
  for (const std::size_t point : search.asked) {
    place.emplace(point, state.keys.size());
    state.study.points.push_back(study.points[point]);
    state.keys.push_back(keys[point]);
    if (!known.insert(keys[point]).second) continue;
    const auto row = state.rows.find(keys[point]);
    if (row == state.rows.end()) continue;
    ++state.there;
    if (!row->second.error.empty()) ++state.failed;
  }
  state.points = known.size();
  for (const std::size_t point : search.best) state.best.push_back(place.at(point));
  return state;
}

// Points that are to be answered now, with their keys.
struct Left {
  std::vector<Point> points;
  std::vector<std::string> keys;

  void add(const Point& point, const std::string& key) {
    points.push_back(point);
    keys.push_back(key);
  }
};

class Answering {
 public:
  Answering(ResultsPart part, const SweepRuns& runs, Rows& rows)
      : part_(std::move(part)), runs_(runs), rows_(rows) {}

  void answer(const Left& simulated, const Left& real) {
    of_ = done_ + simulated.points.size() + real.points.size();
    answer_all(
        simulated.points, runs_.jobs,
        [&](std::size_t index, const PointOutcome& answer) { take(simulated, index, answer); },
        [&] { keep(); });
    for (std::size_t i = 0; i < real.points.size(); ++i) {
      take(real, i, runs_.real(real.points[i]));
      keep();
    }
  }

 private:
  void take(const Left& left, std::size_t index, const PointOutcome& answer) {
    fresh_.emplace_back(left.keys[index], row_of(left.points[index], answer));
    ++done_;
  }
  void keep() {
    if (!fresh_.empty()) part_.add(fresh_, of_ - done_);
    for (auto& [key, row] : fresh_) rows_.insert_or_assign(std::move(key), std::move(row));
    fresh_.clear();
    if (runs_.progress) runs_.progress(done_, of_);
  }

  ResultsPart part_;
  const SweepRuns& runs_;
  Rows& rows_;
  std::vector<std::pair<std::string, Row>> fresh_;
  std::size_t done_ = 0;
  std::size_t of_ = 0;
};

}  // namespace

SweepState state_of(const Study& study, const std::string& folder) {
  return state_from(study, keys_of(study), rows_of_parts(folder));
}

void require_shares(const Study& study) {
  if (!study.search) return;
  throw InputError(
      "[optimise] in shares: what one is asked depends on what others answered; expected one sweep "
      "of the whole study, or a study without it");
}

SweepState sweep(const Study& study, const std::string& folder, const SweepRuns& runs) {
  if (runs.shard) require_shares(study);
  const std::vector<std::string> keys = keys_of(study);
  Rows rows = rows_of_parts(folder);
  Answering answering(
      runs.shard ? ResultsPart::of_shard(folder, *runs.shard) : ResultsPart::free_one(folder), runs,
      rows);
  for (;;) {
    Left simulated, real;
    std::set<std::string> told;
    for (const std::size_t i : asked_of(study, keys, rows).asked) {
      const std::string& key = keys[i];
      if (!told.insert(key).second || rows.contains(key)) continue;
      // By the number of the point among those that differ, so that shares do not depend on what is
      // there.
      if (runs.shard && (told.size() - 1) % runs.shard->count != runs.shard->number) continue;
      (runs.real && is_real(study.points[i]) ? real : simulated).add(study.points[i], key);
    }
    if (simulated.points.empty() && real.points.empty()) break;
    answering.answer(simulated, real);
    if (!study.search) break;
  }
  return state_from(study, keys, std::move(rows));
}

}  // namespace slackline::sweep
