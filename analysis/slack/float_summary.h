// How slack is spread over a schedule's operations, its ranks and its links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::analysis {

struct FloatSummary {
  std::uint64_t ops = 0;      // or messages
  std::uint64_t without = 0;  // of them, those whose float is 0
  double min_s = 0;
  double median_s = 0;  // the lower of the middle two
  double max_s = 0;
};

FloatSummary summarise(std::vector<double> float_s);

/// The same of each rank's operations.
std::vector<FloatSummary> summarise_by_rank(const sched::Schedule& schedule,
                                            std::span<const double> float_s);

/// Of every link, in the wiring's order, over the messages with bytes that pass it; of gets and
/// atomics the reply. `message_float_s` is TimedSlack's.
std::vector<FloatSummary> summarise_by_link(const machine::Setting& setting,
                                            const machine::Paths& paths,
                                            std::span<const double> message_float_s);

}  // namespace slackline::analysis
