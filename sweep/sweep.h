// A study carried out: what was answered is there, and what is not is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweep/results.h"
#include "sweep/shard.h"
#include "sweep/study.h"

namespace slackline::sweep {

struct SweepState {
  /// Of a study that seeks the fastest: those points alone that are asked for so far.
  Study study;
  std::vector<std::string> keys;    // of its points
  std::map<std::string, Row> rows;  // that are there, by key; some may be of no point of the study
  std::size_t points = 0;           // that differ
  std::size_t there = 0;            // of these, those that have a row
  std::size_t failed = 0;           // of those, the ones with an error
  /// What a study that seeks them has found, among its points above.
  std::vector<std::size_t> best;
};

/// What a folder has of a study.
SweepState state_of(const Study& study, const std::string& folder);

struct SweepRuns {
  std::uint32_t jobs = 1;  // at a time
  std::optional<Shard> shard = {};
  /// Carries out for real a point of which is_real() is so. These are answered one at a time, after
  /// the others, since they would disturb each other. Empty: they fail, as of an unknown engine.
  std::function<PointOutcome(const Point&)> real = {};
  /// Told now and then how many of this sweep's points are answered. May be empty.
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};

/// Throws InputError for a study that seeks the fastest: what a share of its points is asked
/// depends on what others answered.
void require_shares(const Study& study);

/// Answers the points that the folder lacks, or the shard's of them, and gives what is there then.
/// Every answer is in the folder as soon as it came. Throws what Part, answer_all() and
/// require_shares() do.
SweepState sweep(const Study& study, const std::string& folder, const SweepRuns& runs);

}  // namespace slackline::sweep
