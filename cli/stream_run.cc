#include "cli/stream_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/advice/link_capacity.h"

namespace slackline::cli {
namespace {

constexpr std::uint32_t kCompared = 4;
constexpr std::uint64_t kMostOpsCompared = 4'000'000;

}  // namespace

std::optional<std::string> why_not_streamed(const sched::Spec& spec, const RunSetting& setting) {
  if (setting.policy != machine::IssuePolicy::kInOrder) return "the policy is not in-order";
  if (setting.sends_in_flight != 0) return "--sends-in-flight bounds what is posted";
  return analysis::why_not_streamed(spec, setting.platform, setting.delays);
}

Subject subject_of(const sched::Spec& spec, std::uint64_t message_bytes) {
  return {format_spec(spec), std::nullopt, false, message_bytes};
}

SimulationResult result_of(const RunSetting& setting, const analysis::Stream& stream) {
  SimulationResult result;
  result.makespan_s = stream.makespan_s;
  result.finish_s = stream.rank_finish_s;
  result.use = {stream.sent_bytes, stream.received_bytes, stream.sent_wire_bytes,
                stream.received_wire_bytes};
  const auto shares = [&](const std::vector<double>& wire_bytes) {
    std::vector<double> share;
    share.reserve(wire_bytes.size());
    for (const double b : wire_bytes) {
      const double busy_s = b / setting.platform.rate.bytes_per_second();
      share.push_back(stream.makespan_s > 0 ? busy_s / stream.makespan_s : 0);
    }
    return share;
  };
  if (stream.exact) {
    for (std::size_t r = 0; r < stream.sent_bytes.size(); ++r) {
      const auto require = [&](std::string_view way, double wire_bytes) {
        analysis::require_within_capacity(
            fmt::format("host-{}.{}", r, way), wire_bytes, static_cast<double>(stream.transfers),
            setting.platform.rate.bytes_per_second(), stream.makespan_s);
      };
      require("out", stream.sent_wire_bytes[r]);
      require("in", stream.received_wire_bytes[r]);
    }
  }
  result.out_share = shares(stream.sent_wire_bytes);
  result.in_share = shares(stream.received_wire_bytes);
  return result;
}

StreamedSamples stream_samples(const sched::Spec& spec, const RunSetting& setting, bool approximate,
                               machine::SampleRuns runs, Console& console) {
  runs.progress = [&](std::uint32_t done) { console.progress("simulating", done, runs.samples); };
  analysis::StreamSamples streamed =
      *analysis::stream_samples(spec, setting.platform, setting.delays, runs);
  std::vector<std::uint32_t> again;
  for (std::uint32_t i = 0; i < runs.samples; ++i) {
    if (streamed.exact[i] == 0) again.push_back(i);
  }
  if (!approximate) {
    run_exactly(streamed, again, spec, setting.platform, setting.delays, runs);
    return {std::move(streamed.samples), std::nullopt};
  }
  StreamedSamples result{streamed.samples, Approximation{}};
  Approximation& approximation = *result.approximation;
  approximation.inexact = static_cast<std::uint32_t>(again.size());
  if (most_ops(spec) > kMostOpsCompared) return result;
  again.resize(std::min<std::size_t>(again.size(), kCompared));
  approximation.compared = static_cast<std::uint32_t>(again.size());
  run_exactly(streamed, again, spec, setting.platform, setting.delays, runs);
  for (const std::uint32_t i : again) {
    const double off = result.samples.makespan_s[i] / streamed.samples.makespan_s[i] - 1;
    approximation.worst_difference = std::max(approximation.worst_difference, std::abs(off));
  }
  return result;
}

}  // namespace slackline::cli
