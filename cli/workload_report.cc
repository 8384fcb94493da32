#include "cli/workload_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/output_file.h"
#include "cli/table.h"
#include "machine/workload_result.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kGroupsShown = 16;

std::string csv_number(double value) { return std::isfinite(value) ? fmt::to_string(value) : ""; }

std::vector<std::string> cells(const machine::LatencySummary& latency) {
  std::vector<std::string> result;
  for (const double value : {latency.min_s, latency.median_s, latency.mean_s, latency.p90_s,
                             latency.p99_s, latency.max_s}) {
    result.push_back(latency.count == 0 ? "–" : sched::human_seconds(value));
  }
  return result;
}

void set_latency(JsonDocument& json, const machine::LatencySummary& latency) {
  const auto set = [&](std::string_view key, double value) {
    json.set(key, latency.count == 0 ? std::nullopt : std::optional(value));
  };
  set("latency_min_s", latency.min_s);
  set("latency_median_s", latency.median_s);
  set("latency_mean_s", latency.mean_s);
  set("latency_p90_s", latency.p90_s);
  set("latency_p99_s", latency.p99_s);
  set("latency_max_s", latency.max_s);
}

std::vector<std::uint64_t> messages_per_group(const machine::Workload& workload) {
  std::vector<std::uint64_t> counts(workload.groups.size(), 0);
  for (const machine::WorkloadMessage& message : workload.messages) ++counts[message.group];
  return counts;
}

}  // namespace

void WorkloadSource::declare(Arguments& arguments) {
  arguments.option("--workload", "FILE", file_,
                   "many multicasts over time (TOML), in the place of SCHEDULE");
  arguments.output("--messages", message_file_,
                   "of a workload: write there how each message fared (CSV)");
}

void WorkloadSource::check(const ScheduleSource& source, bool json) const {
  const std::string other = source.given();
  if (!file_) {
    if (message_file_) {
      throw InputError("--messages: there is no --workload; expected one, whose messages they are");
    }
    if (other.empty() || other.starts_with("--")) {
      throw InputError("simulate: neither SCHEDULE nor --workload stands there; expected one");
    }
    return;
  }
  if (other.starts_with("--")) {
    throw InputError(fmt::format(
        "{}: the specs stand in the workload's file; expected it to be said there", other));
  }
  if (!other.empty()) {
    throw InputError(fmt::format("{}: stands beside --workload; expected one of them", other));
  }
  if (json && message_file_ == "-") {
    throw InputError(
        "--messages -: with --json the document is alone on standard output; expected a file");
  }
}

LoadedSchedule WorkloadSource::load(const ScheduleSource& source, std::optional<std::uint64_t> seed,
                                    Console& console) {
  console.phase("reading");
  workload_ = machine::load_workload(*file_, seed);
  console.phase("compiling");
  sched::Composition whole = machine::compose_workload(workload_);
  parts_ = std::move(whole.parts);
  LoadedSchedule loaded{
      std::move(whole.schedule), *file_, *file_, std::nullopt, false, false, std::nullopt};
  source.prove(loaded, console);
  return loaded;
}

void WorkloadSource::write_messages(const sched::Schedule& schedule, const sched::Trace& trace,
                                    Console& console) const {
  if (!message_file_) return;
  console.phase("writing");
  const machine::WorkloadResult result =
      machine::workload_result(workload_, schedule, parts_, trace);
  std::string text = "message,group,bytes,receivers,arrival_s,done_s,latency_s\n";
  for (std::size_t m = 0; m < result.messages.size(); ++m) {
    const machine::WorkloadMessage& message = workload_.messages[m];
    const machine::WorkloadGroup& group = workload_.groups[message.group];
    const machine::MessageResult& times = result.messages[m];
    text += fmt::format("{},{},{},{},{},{},{}\n", m, csv_field(group.name), message.bytes,
                        group.ranks.size() - 1, csv_number(times.arrival_s),
                        csv_number(times.done_s), csv_number(times.latency_s()));
  }
  deliver(message_file_, text, "", nullptr, console);
}

std::string WorkloadSource::report(const sched::Schedule& schedule, const sched::Trace& trace,
                                   bool all) const {
  if (!file_) return "";
  const machine::WorkloadResult result =
      machine::workload_result(workload_, schedule, parts_, trace);
  const auto rate = [](double bytes_per_s) {
    return bytes_per_s > 0 ? sched::human_bytes_per_second(bytes_per_s) : "–";
  };
  Table summary({Align::kLeft, Align::kLeft});
  summary.add(
      {"messages", fmt::format("{} in {}, seed {}", workload_.messages.size(),
                               human_count(workload_.groups.size(), "group"), workload_.seed)});
  if (result.lost != 0) summary.add({"lost", fmt::to_string(result.lost)});
  summary.add({"span", sched::human_seconds(result.span_s)});
  summary.add({"sent", fmt::format("{}, {} (each message once)", human_bytes(result.message_bytes),
                                   rate(result.message_bytes_per_s))});
  summary.add({"delivered",
               fmt::format("{}, {} (once for each receiver)", human_bytes(result.delivered_bytes),
                           rate(result.delivered_bytes_per_s))});

  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"latency", "messages", "bytes", "least", "median", "mean", "90 %", "99 %", "most"});
  const auto add = [&](const std::string& name, std::uint64_t messages, std::uint64_t bytes,
                       const machine::LatencySummary& latency) {
    std::vector<std::string> row = {name, fmt::to_string(messages), human_bytes(bytes)};
    for (std::string& cell : cells(latency)) row.push_back(std::move(cell));
    table.add(std::move(row));
  };
  const std::vector<std::uint64_t> counts = messages_per_group(workload_);
  std::uint64_t bytes = 0;
  for (const machine::GroupResult& group : result.groups) bytes += group.bytes;
  add("all", workload_.messages.size(), bytes, result.latency);
  const std::size_t rows = all ? counts.size() : std::min(counts.size(), kGroupsShown);
  for (std::size_t g = 0; g < rows; ++g) {
    add(workload_.groups[g].name, counts[g], result.groups[g].bytes, result.groups[g].latency);
  }
  std::string text = '\n' + summary.text("  ") + '\n' + table.text("  ");
  if (rows < counts.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(counts.size() - rows, "more group"));
  }
  return text;
}

void WorkloadSource::add_to(JsonDocument& json, const sched::Schedule& schedule,
                            const sched::Trace& trace) const {
  if (!file_) return;
  const machine::WorkloadResult result =
      machine::workload_result(workload_, schedule, parts_, trace);
  const auto rate = [&](double bytes_per_s) {
    return result.span_s > 0 ? std::optional(bytes_per_s) : std::nullopt;
  };
  json.set("workload_seed", workload_.seed);
  json.set("messages", std::uint64_t{workload_.messages.size()});
  json.set("messages_lost", result.lost);
  json.set("span_s", result.span_s);
  json.set("message_bytes", result.message_bytes);
  json.set("message_bytes_per_s", rate(result.message_bytes_per_s));
  json.set("delivered_bytes", result.delivered_bytes);
  json.set("delivered_bytes_per_s", rate(result.delivered_bytes_per_s));
  set_latency(json, result.latency);
  json.set("messages_file", message_file_);
  const std::vector<std::uint64_t> counts = messages_per_group(workload_);
  json.begin_list("groups");
  for (std::size_t g = 0; g < counts.size(); ++g) {
    std::vector<std::uint64_t> ranks;
    for (const sched::RankId rank : workload_.groups[g].ranks) ranks.push_back(rank.value);
    json.begin_object();
    json.set("name", workload_.groups[g].name);
    json.set("ranks", std::span<const std::uint64_t>(ranks));
    json.set("messages", counts[g]);
    json.set("bytes", result.groups[g].bytes);
    set_latency(json, result.groups[g].latency);
    json.end();
  }
  json.end();
}

}  // namespace slackline::cli
