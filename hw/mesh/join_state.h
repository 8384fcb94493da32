// What a rank knows while ranks join, and what has come of it.
#pragma once

#include <optional>
#include <vector>

#include "hw/mesh/wire.h"

namespace slackline::hw {

struct JoinState {
  Hello hello;                         // this rank's, with the run's number as soon as it is known
  std::vector<Member> members;         // by rank
  std::optional<JoinVerdict> verdict;  // why there will be no run
  bool done = false;                   // without a verdict: this rank has joined
};

}  // namespace slackline::hw
