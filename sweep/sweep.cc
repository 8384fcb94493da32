#include "sweep/sweep.h"

#include <set>
#include <utility>

#include "sweep/workers.h"

namespace slackline::sweep {

SweepState state_of(const Study& study, const std::string& folder) {
  SweepState state;
  state.rows = rows_of_parts(folder);
  std::set<std::string> known;
  Keys keys;
  for (const Point& point : study.points) {
    state.keys.push_back(keys.of(point));
    if (!known.insert(state.keys.back()).second) continue;
    const auto row = state.rows.find(state.keys.back());
    if (row == state.rows.end()) continue;
    ++state.there;
    if (!row->second.error.empty()) ++state.failed;
  }
  state.points = known.size();
  return state;
}

SweepState sweep(const Study& study, const std::string& folder, const SweepRuns& runs) {
  SweepState state = state_of(study, folder);
  Part part = runs.shard ? Part::of_shard(folder, *runs.shard) : Part::free_one(folder);
  std::vector<Point> left;
  std::vector<std::string> keys;
  std::set<std::string> told;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const std::string& key = state.keys[i];
    if (!told.insert(key).second || state.rows.contains(key)) continue;
    // By the number of the point among those that differ, so that shares do not depend on what is
    // there.
    if (runs.shard && (told.size() - 1) % runs.shard->count != runs.shard->number) continue;
    left.push_back(study.points[i]);
    keys.push_back(key);
  }
  std::vector<std::pair<std::string, Row>> fresh;
  std::size_t done = 0;
  const auto keep = [&] {
    if (!fresh.empty()) part.add(fresh, left.size() - done);
    for (auto& [key, row] : fresh) {
      ++state.there;
      if (!row.error.empty()) ++state.failed;
      state.rows.insert_or_assign(std::move(key), std::move(row));
    }
    fresh.clear();
    if (runs.progress) runs.progress(done, left.size());
  };
  answer_all(
      left, runs.jobs,
      [&](std::size_t index, const Outcome& answer) {
        fresh.emplace_back(keys[index], row_of(left[index], answer));
        ++done;
      },
      keep);
  return state;
}

}  // namespace slackline::sweep
