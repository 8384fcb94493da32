// Ways to hold a number to what is expected of it. A number that is not finite never holds.
#pragma once

#include <string>
#include <vector>

#include "experiments/report.h"

namespace slackline::experiments {

class Facts {
 public:
  /// Facts go to the end of `report`, which must outlive this.
  explicit Facts(Report& report) : facts_(report.facts) {}

  /// |got − expected| ≤ relative · |expected|.
  Fact& equal(std::string fact, Source source, double expected, double got, double relative = 1e-9);
  /// |got − expected| ≤ margin.
  Fact& near(std::string fact, Source source, double expected, double got, double margin);
  Fact& at_most(std::string fact, Source source, double bound, double got);
  Fact& at_least(std::string fact, Source source, double bound, double got);
  Fact& between(std::string fact, Source source, double low, double high, double got);
  /// What no single number says.
  Fact& that(std::string fact, Source source, std::string expected, std::string got, bool ok);

 private:
  Fact& add(Fact fact);
  std::vector<Fact>& facts_;
};

}  // namespace slackline::experiments
