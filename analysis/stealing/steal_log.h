// What the ranks of a run decided, in the order in which each of them did it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/stealing/steal_options.h"

namespace slackline::analysis {

/// A step of a rank. Plain bytes: a run may take place in another process.
struct StealStep {
  enum class What : std::uint8_t {
    kSearch,  // `number` vertices
    kTake,    // the message `number` of `rank`, and its handler
    kSend,    // to `rank`, a message of `kind` that gives `number` vertices; its number is how many
              // its rank sent before
    kRest,    // for `number` picoseconds before the rank asks again
  };
  What what = What::kSearch;
  StealMessage kind = StealMessage::kAsk;
  std::uint32_t rank = 0;
  std::uint64_t number = 0;
};

struct StealFigures {
  double makespan_s = 0;
  std::uint64_t vertices = 0;  // visited
  std::uint64_t asked = 0;
  std::uint64_t refused = 0;
  std::uint64_t moved = 0;     // vertices given away
  std::uint64_t messages = 0;  // of every kind
};

struct StealLog {
  StealFigures figures;
  std::vector<std::vector<StealStep>> steps;  // by rank
};

}  // namespace slackline::analysis
