// Numbers as people read them, and text as tables of other programs do.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/slack/step_slack.h"
#include "base/units.h"

namespace slackline::cli {

using sched::human_bytes;
/// "1.5 ms".
std::string human_time(sched::Time time);
/// "1.5 ms (0.0015 s)".
std::string exact_seconds(double time_s);
/// "+1.5 us", "−2 ns", "0 s".
std::string human_difference(double time_s);
/// "97.4 %".
std::string human_share(double part, double whole);
/// "1 rank", "16 ranks".
std::string human_count(std::uint64_t count, std::string_view noun);
/// "at 3 of 16 ops (18.8 %)".
std::string share_of_ops(std::uint64_t count, std::size_t ops);
/// The average in lowest terms: "11/7", or "2" if it is whole; empty over nothing.
std::string exact_average(const analysis::SlackSum& sum);

}  // namespace slackline::cli
