// What a point came to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sweep/point.h"

namespace slackline::sweep {

/// How the total float of a run's operations is spread (analysis/slack/float_summary.h).
struct PointSlack {
  std::uint64_t ops = 0;
  std::uint64_t without = 0;  // of them, those whose float is 0
  double least_s = 0;
  double median_s = 0;
  double most_s = 0;
  std::uint64_t critical_ops = 0;  // on one chain without float; each counts once
  /// A delay may change who shares links, or which rates messages meet: then floats are of the run
  /// with its order and rates frozen, and no promise (analysis::why_no_promise).
  bool frozen_only = false;

  friend bool operator==(const PointSlack&, const PointSlack&) = default;
};

struct PointOutcome {
  /// Of each sample; infinite where a failure kept a rank from finishing. None if it failed.
  std::vector<double> makespan_s;
  std::string error;           // one line; empty if it did not fail
  std::int32_t exit_code = 0;  // what `slackline simulate` ends with for that
  /// Where it was asked for, and every rank finished. A real run has none.
  std::optional<PointSlack> slack = {};
  /// Messages shared a NIC or a link, which the engine leaves out: the makespan is too short. Of
  /// several samples: they might have.
  bool contended = false;

  friend bool operator==(const PointOutcome&, const PointOutcome&) = default;
};

/// Answers points one after another. What one point needs and the next needs again is kept in
/// between: so points with the same schedule should follow each other.
class PointRunner {
 public:
  PointRunner();
  ~PointRunner();
  PointRunner(const PointRunner&) = delete;
  PointRunner& operator=(const PointRunner&) = delete;

  /// Of what is wrong with the point there is an error in the answer; throws nothing but
  /// std::bad_alloc.
  PointOutcome answer(const Point& point);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace slackline::sweep
