#include "cli/workload_report.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "base/csv_field.h"
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

// Of all messages, or of a group's.
struct Part {
  std::string name;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  machine::LatencySummary latency;
};

struct LatencyFigure {
  const char* key;
  const char* title;
  double machine::LatencySummary::*time_s;
};
constexpr LatencyFigure kLatencies[] = {
    {"latency_min_s", "least", &machine::LatencySummary::min_s},
    {"latency_median_s", "median", &machine::LatencySummary::median_s},
    {"latency_mean_s", "mean", &machine::LatencySummary::mean_s},
    {"latency_p90_s", "90 %", &machine::LatencySummary::p90_s},
    {"latency_p99_s", "99 %", &machine::LatencySummary::p99_s},
    {"latency_max_s", "most", &machine::LatencySummary::max_s}};

Value latency(const LatencyFigure& figure, const machine::LatencySummary& of) {
  return of.count == 0 ? Value() : in_seconds(of.*figure.time_s);
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
    text += fmt::format("{},{},{},{},{},{},{}\n", m, sched::csv_field(group.name), message.bytes,
                        group.ranks.size() - 1, csv_number(times.arrival_s),
                        csv_number(times.done_s), csv_number(times.latency_s()));
  }
  deliver(message_file_, text, console);
}

void WorkloadSource::add_to(Answer& answer, const sched::Schedule& schedule,
                            const sched::Trace& trace) const {
  if (!file_) return;
  const machine::WorkloadResult result =
      machine::workload_result(workload_, schedule, parts_, trace);
  const auto rate = [&](double bytes_per_s) {
    return result.span_s > 0 ? Value(bytes_per_s) : Value();
  };
  const auto rate_text = [](double bytes_per_s) {
    return bytes_per_s > 0 ? sched::human_bytes_per_second(bytes_per_s) : "–";
  };
  const std::uint64_t messages = workload_.messages.size();
  answer.set("workload_seed", workload_.seed);
  answer.set("messages", messages);
  answer.set("messages_lost", result.lost);
  answer.set("span_s", result.span_s);
  answer.set("message_bytes", result.message_bytes);
  answer.set("message_bytes_per_s", rate(result.message_bytes_per_s));
  answer.set("delivered_bytes", result.delivered_bytes);
  answer.set("delivered_bytes_per_s", rate(result.delivered_bytes_per_s));
  Table summary({Align::kLeft, Align::kLeft});
  summary.add(
      {"messages", fmt::format("{} in {}, seed {}", messages,
                               human_count(workload_.groups.size(), "group"), workload_.seed)});
  if (result.lost != 0) summary.add({"lost", fmt::to_string(result.lost)});
  summary.add({"span", sched::human_seconds(result.span_s)});
  summary.add({"sent", fmt::format("{}, {} (each message once)", human_bytes(result.message_bytes),
                                   rate_text(result.message_bytes_per_s))});
  summary.add({"delivered",
               fmt::format("{}, {} (once for each receiver)", human_bytes(result.delivered_bytes),
                           rate_text(result.delivered_bytes_per_s))});
  answer.say('\n' + summary.text("  "));

  // All messages, then each group's.
  const std::vector<std::uint64_t> counts = messages_per_group(workload_);
  std::vector<Part> parts{{"all", messages, 0, result.latency}};
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const machine::GroupResult& group = result.groups[g];
    parts.push_back({workload_.groups[g].name, counts[g], group.bytes, group.latency});
    parts.front().bytes += group.bytes;
  }
  Columns shown = {{nullptr, "latency", [&](auto i) { return parts[i].name; }, Align::kLeft},
                   {nullptr, "messages", [&](auto i) { return parts[i].messages; }},
                   {nullptr, "bytes", [&](auto i) { return in_bytes(parts[i].bytes); }}};
  for (const LatencyFigure& figure : kLatencies) {
    answer.set(figure.key, latency(figure, result.latency));
    shown.push_back({nullptr, figure.title, [&](auto i) {
                       return parts[i].latency.count == 0 ? Value("–")
                                                          : latency(figure, parts[i].latency);
                     }});
  }
  answer.set("messages_file", message_file_);
  answer.table("", shown, rows_of(parts.size()), 1 + kGroupsShown, "more group");
  if (JsonOutput* json = answer.json()) {
    json->list("groups", rows_of(counts.size()), [&](std::uint32_t g) {
      const Part& part = parts[g + 1];
      json->set("name", part.name);
      json->set_each("ranks", workload_.groups[g].ranks, &sched::RankId::value);
      json->set("messages", part.messages);
      json->set("bytes", part.bytes);
      for (const LatencyFigure& figure : kLatencies) {
        latency(figure, part.latency).set(*json, figure.key);
      }
    });
  }
}

}  // namespace slackline::cli
