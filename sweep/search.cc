#include "sweep/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "sweep/results.h"
#include "sweep/study.h"

namespace slackline::sweep {
namespace {

using Points = std::vector<std::size_t>;

// Points that differ in their engine alone, by engine.
using Candidate = std::map<std::string, std::size_t>;

std::string texts_of(const Point& point, const std::vector<std::string>& names) {
  std::string texts;
  for (const std::string& name : names) texts += part_of(point, name) + '\n';
  return texts;
}

// The candidates of each combination, both in the order of the study.
std::vector<std::vector<Candidate>> combinations_of(const Study& study, const Search& search) {
  std::vector<std::vector<Candidate>> combinations;
  std::map<std::string, std::size_t> place_of_combination;
  std::map<std::string, std::pair<std::size_t, std::size_t>> places;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const Point& point = study.points[i];
    const auto [place, is_new] =
        places.try_emplace(texts_of(point, {"schedule", "platform", "delays", "seed", "samples"}));
    if (is_new) {
      const auto [of, is_first] =
          place_of_combination.try_emplace(texts_of(point, search.each), combinations.size());
      if (is_first) combinations.emplace_back();
      place->second = {of->second, combinations[of->second].size()};
      combinations[of->second].emplace_back();
    }
    combinations[place->second.first][place->second.second].emplace(point.engine, i);
  }
  return combinations;
}

struct OneSearch {
  Points asked;
  std::optional<std::size_t> best;
};

// One combination's, up to the first engine that has not answered all it is asked.
OneSearch search_one(const std::vector<std::string>& engines, std::vector<Candidate> candidates,
                     const Search& search,
                     const std::function<const Row*(std::size_t point)>& row_of) {
  OneSearch found;
  for (const std::string& engine : engines) {
    std::vector<Candidate> passing;
    std::vector<std::pair<double, Candidate>> judged;
    bool all_answered = true;
    for (Candidate& candidate : candidates) {
      const auto point = candidate.find(engine);
      if (point == candidate.end()) {
        passing.push_back(std::move(candidate));
        continue;
      }
      found.asked.push_back(point->second);
      const Row* const row = row_of(point->second);
      all_answered = all_answered && row != nullptr;
      if (row == nullptr || !row->error.empty()) continue;
      judged.emplace_back(time_of(*row, search.by), std::move(candidate));
    }
    if (!all_answered) return {std::move(found.asked), std::nullopt};
    std::ranges::stable_sort(judged, {}, [](const auto& j) { return j.first; });
    if (!judged.empty()) found.best = judged.front().second.at(engine);
    const auto share = static_cast<std::size_t>(
        std::ceil(search.keep * static_cast<double>(judged.size()) - 1e-9));
    judged.resize(std::min(judged.size(), std::max<std::size_t>(share, search.at_least)));
    for (auto& [time_s, candidate] : judged) passing.push_back(std::move(candidate));
    candidates = std::move(passing);
  }
  return found;
}

}  // namespace

SearchState search_state(const Study& study, const Search& search,
                         const std::function<const Row*(std::size_t point)>& row_of) {
  SearchState state;
  bool is_through = true;
  for (std::vector<Candidate>& candidates : combinations_of(study, search)) {
    OneSearch one = search_one(study.engines, std::move(candidates), search, row_of);
    is_through = is_through && std::ranges::all_of(one.asked, row_of);
    state.asked.insert(state.asked.end(), one.asked.begin(), one.asked.end());
    if (one.best) state.best.push_back(*one.best);
  }
  std::ranges::sort(state.asked);
  if (!is_through) state.best.clear();
  return state;
}

}  // namespace slackline::sweep
