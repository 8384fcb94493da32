// What a point came to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sweep/point.h"

namespace slackline::sweep {

struct Outcome {
  /// Of each sample; infinite where a failure kept a rank from finishing. None if it failed.
  std::vector<double> makespan_s;
  std::string error;           // one line; empty if it did not fail
  std::int32_t exit_code = 0;  // what `slackline simulate` ends with for that

  friend bool operator==(const Outcome&, const Outcome&) = default;
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
  Outcome answer(const Point& point);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace slackline::sweep
