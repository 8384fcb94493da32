// The links of each run's network, and which of them the messages of each channel pass. Of a real
// run nobody knows the network: its links are each rank's way out and its way in, of no known rate.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/sent_together.h"
#include "machine/congestion.h"
#include "machine/paths.h"
#include "machine/run/adaptive_ways.h"
#include "report/document.h"
#include "report/sections.h"
#include "report/tracks.h"

namespace slackline::report {
namespace {

using Numbers = std::vector<std::int64_t>;

// Links out and in for each rank; the way of a channel passes its ends'.
void add_of_real_run(const sched::Schedule& schedule, const std::string& prefix,
                     nlohmann::ordered_json& links, Columns& columns) {
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    for (const char* side : {"out", "in"}) {
      links.push_back({{"name", "rank-" + std::to_string(rank) + "." + side}, {"bytes_per_s", 0}});
    }
  }
  Numbers way, back, lengths, passed;
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    const sched::Channel& channel = schedule.channels()[c];
    way.push_back(2 * std::int64_t{c});
    back.push_back(2 * std::int64_t{c} + 1);
    for (const auto& [from, to] :
         {std::pair(channel.src, channel.dst), std::pair(channel.dst, channel.src)}) {
      lengths.push_back(2);
      passed.push_back(2 * std::int64_t{from.value});
      passed.push_back(2 * std::int64_t{to.value} + 1);
    }
  }
  columns.add(prefix + "channel.way", way, Coding::kDifferences);
  columns.add(prefix + "channel.back", back, Coding::kDifferences);
  columns.add(prefix + "way.links", lengths);
  columns.add(prefix + "way.link", passed, Coding::kDifferences);
}

// Every link with its rate at first. Where a delay plan changes it later, `changes` says from when
// on it has which.
void add_rates(const machine::Wiring& wiring, const machine::Paths& paths, const Ticks& ticks,
               nlohmann::ordered_json& links) {
  for (const machine::Link& link : wiring.links()) {
    links.push_back({{"name", link.name}, {"bytes_per_s", link.rate.bytes_per_second()}});
  }
  for (const machine::Paths::LinkChange& change : paths.link_changes()) {
    auto& link = links[change.link.value];
    if (change.at_s > 0) {
      link["changes"].push_back(
          {{"at", ticks.of(change.at_s)}, {"bytes_per_s", change.bytes_per_s}});
    } else {
      link["bytes_per_s"] = change.bytes_per_s;
    }
  }
}

// Of each operation the bytes of the message that it is the first of, and 0 of what is in another's
// message: a channel that gathers sends several as one. Nothing without such a channel.
void add_bundles(const sched::Schedule& schedule, const ReportedRun& run, const std::string& prefix,
                 Columns& columns) {
  const auto channels = schedule.channels();
  if (std::none_of(channels.begin(), channels.end(), [](const sched::Channel& channel) {
        return channel.bundle != sched::Bundle::kNone;
      })) {
    return;
  }
  const analysis::SentTogether together(schedule, &run.trace);
  Numbers sent;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::OpId op(i);
    const bool initiates = sched::is_initiator(schedule.op(op).kind);
    const bool first = initiates && together.stands_for_all(op);
    sent.push_back(first ? static_cast<std::int64_t>(together.bytes(op)) : 0);
  }
  columns.add(prefix + "op.sent", sent);
}

void add_of_run(const sched::Schedule& schedule, const ReportedRun& run, std::size_t index,
                const Ticks& ticks, Document& document) {
  const std::string prefix = "run" + std::to_string(index) + ".";
  auto& links = document.facts["runs"][index]["links"];
  links = nlohmann::ordered_json::array();
  if (is_measured(run.trace)) {
    add_of_real_run(schedule, prefix, links, document.columns);
    return;
  }
  machine::require_fixed_ways(run.setting.platform, "report");
  machine::require_no_congestion(run.setting.platform, "report");
  const machine::Paths paths(schedule, run.setting.wiring, run.setting.delays);
  add_rates(run.setting.wiring, paths, ticks, links);
  add_bundles(schedule, run, prefix, document.columns);
  const machine::Framing& framing = run.setting.wiring.framing();
  document.facts["runs"][index]["framing"] = {
      {"mtu_bytes", framing.mtu_bytes},
      {"packet_overhead", framing.packet_overhead},
      {"line_bits_per_bit",
       static_cast<double>(framing.coding_line_bits) / framing.coding_payload_bits}};
  Numbers way, back;
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    way.push_back(paths.of(sched::ChannelId(c), false).value);
    back.push_back(paths.of(sched::ChannelId(c), true).value);
  }
  Numbers lengths, passed, parts, passing;
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const machine::PathId id(p);
    const auto of_path = paths.links(id);
    lengths.push_back(static_cast<std::int64_t>(of_path.size()));
    parts.push_back(paths[id].parts);
    for (std::size_t l = 0; l < of_path.size(); ++l) {
      passed.push_back(of_path[l].value);
      passing.push_back(paths.parts(id, l));
    }
  }
  document.columns.add(prefix + "channel.way", way, Coding::kDifferences);
  document.columns.add(prefix + "channel.back", back, Coding::kDifferences);
  document.columns.add(prefix + "way.links", lengths);
  document.columns.add(prefix + "way.link", passed, Coding::kDifferences);
  if (paths.common_parts() == 1) return;
  document.facts["runs"][index]["sprayed"] = true;
  document.columns.add(prefix + "way.parts", parts);      // of a message, …
  document.columns.add(prefix + "way.passing", passing);  // …and those over each of way.link
}

}  // namespace

void add_links(const Report& report, const Ticks& ticks, Document& document) {
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    add_of_run(report.schedule, report.runs[i], i, ticks, document);
  }
}

}  // namespace slackline::report
