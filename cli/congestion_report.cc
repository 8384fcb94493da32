#include "cli/congestion_report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace slackline::cli {
namespace {

constexpr std::size_t kLinksShown = 8;

// Of a fluid.
std::uint64_t whole(double amount) { return static_cast<std::uint64_t>(std::llround(amount)); }

}  // namespace

void add_congestion(Answer& answer, const machine::Wiring& wiring,
                    const std::vector<analysis::LinkCongestion>& links, double end_s) {
  const auto mean_queue = [&](auto l) {
    return end_s > 0 ? whole(links[l].queue_byte_s / end_s) : std::uint64_t{0};
  };
  const Columns columns = {
      {"link", "link", [&](auto l) { return Value(wiring.links()[l].name); }, Align::kLeft},
      {"bytes", nullptr, [&](auto l) { return in_bytes(whole(links[l].bytes)); }},
      {"largest_queue_bytes", "largest queue",
       [&](auto l) { return in_bytes(whole(links[l].largest_queue_bytes)); }},
      {"mean_queue_bytes", "mean queue", [&](auto l) { return in_bytes(mean_queue(l)); }},
      {"marked_packets", "marked packets",
       [&](auto l) {
         return Value(links[l].marked_packets)
             .shown_as(fmt::format("{:.0f}", links[l].marked_packets));
       }},
      {"pauses", "pauses", [&](auto l) { return Value(links[l].pauses); }},
      {"paused_s", "stopped for", [&](auto l) { return in_seconds(links[l].paused_s); }}};
  answer.list("congestion", rows_where(links.size(), [&](auto l) { return links[l].bytes > 0; }),
              columns);
  const Rows shown = rows_where(links.size(), [&](auto l) {
    return links[l].pauses != 0 || whole(links[l].largest_queue_bytes) != 0;
  });
  if (shown.empty()) return;
  answer.table("", columns, most_first(shown, [&](auto l) { return links[l].largest_queue_bytes; }),
               kLinksShown, "more link");
}

}  // namespace slackline::cli
