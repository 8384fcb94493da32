#include "cli/human.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace slackline::cli {

std::string human_time(sched::Time time) { return sched::human_seconds(sched::seconds(time)); }

std::string exact_seconds(double time_s) {
  return fmt::format("{} ({:.9g} s)", sched::human_seconds(time_s), time_s);
}

std::string human_difference(double time_s) {
  if (time_s == 0) return "0 s";
  return fmt::format("{}{}", time_s > 0 ? "+" : "−", sched::human_seconds(std::abs(time_s)));
}

std::string human_share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "–";
}

std::string human_count(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string share_of_ops(std::uint64_t count, std::size_t ops) {
  return fmt::format("at {} of {} ({})", count, human_count(ops, "op"),
                     human_share(static_cast<double>(count), static_cast<double>(ops)));
}

std::string exact_average(const analysis::SlackSum& sum) {
  if (sum.sends == 0) return "";
  const std::uint64_t divisor = std::gcd(sum.total, sum.sends);
  const std::uint64_t below = sum.sends / divisor;
  return below == 1 ? fmt::format("{}", sum.total / divisor)
                    : fmt::format("{}/{}", sum.total / divisor, below);
}

}  // namespace slackline::cli
