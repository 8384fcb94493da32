// Max-min fair rates as their definition fills them (Bertsekas and Gallager, Data Networks, 2nd
// edition, section 6.5.2), in rational numbers: nothing is rounded, kept up or left out.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tests/exact/rational.h"

namespace slackline::testing {

/// A flow has `share` times its rate of the link, which is above 0.
struct ExactPassage {
  std::size_t link;
  Rational share;
};

/// What is under way on one way.
struct ExactWay {
  std::vector<ExactPassage> passed;  // no link twice
  std::optional<Rational> bound;     // no flow has more
};

/// The rate of a flow on each of those ways, in their order. Capacities are by link. Each way has a
/// bound or passes a link.
std::vector<Rational> fair_rates(std::span<const ExactWay* const> flows,
                                 std::span<const Rational> capacities);

}  // namespace slackline::testing
