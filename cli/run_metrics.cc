#include "cli/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/append.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "base/write_file.h"

namespace slackline::cli {
namespace {

double unix_time_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A label's value, which has neither control characters nor anything that would end it.
std::string value_of(std::string_view text) {
  std::string value;
  for (const char c : sched::shown(text)) {
    if (c == '"' || c == '\\') value += '\\';
    value += c;
  }
  return value;
}

}  // namespace

RunMetrics::RunMetrics(std::string file, std::string_view schedule, std::string_view digest,
                       std::string_view transport, std::uint32_t ranks)
    : file_(std::move(file)),
      labels_(fmt::format("digest=\"{}\",transport=\"{}\"", value_of(digest), value_of(transport))),
      name_(value_of(schedule)),
      ranks_(ranks),
      begun_s_(unix_time_s()),
      last_s_(begun_s_) {}

// What a run before left there would stand for this one until its first iteration ends, if ever.
void RunMetrics::begin(Console& console) { write(console); }

void RunMetrics::add(const hw::IterationEnd& end, Console& console) {
  last_s_ = unix_time_s();
  if (end.counts) {
    least_s_ = iterations_ == 0 ? end.makespan_s : std::min(least_s_, end.makespan_s);
    most_s_ = std::max(most_s_, end.makespan_s);
    makespan_s_ = end.makespan_s;
    sum_s_ += end.makespan_s;
    late_start_s_ = std::max(late_start_s_, end.late_start_s);
    ++iterations_;
  } else {
    ++warm_up_;
  }
  write(console);
}

void RunMetrics::finish(Console& console) {
  finished_ = true;
  write(console);
}

std::string RunMetrics::text() const {
  std::string out;
  const auto metric = [&](std::string_view name, std::string_view type, std::string_view help,
                          auto value, std::string_view more_labels = "") {
    sched::append(out, "# HELP slackline_run_{0} {1}\n# TYPE slackline_run_{0} {2}\n", name, help,
                  type);
    sched::append(out, "slackline_run_{}{{{}{}}} {}\n", name, labels_, more_labels, value);
  };
  metric("info", "gauge", "Which schedule runs.", 1, fmt::format(",schedule=\"{}\"", name_));
  metric("ranks", "gauge", "Ranks of the run.", ranks_);
  metric("iterations_total", "counter", "Iterations that are through, without warm-up.",
         iterations_);
  metric("warm_up_iterations_total", "counter", "Iterations of the warm-up that are through.",
         warm_up_);
  metric("makespan_seconds_total", "counter", "Makespans of all iterations, without warm-up.",
         sum_s_);
  if (iterations_ > 0) {
    metric("makespan_seconds", "gauge", "Makespan of the last iteration.", makespan_s_);
    metric("makespan_min_seconds", "gauge", "Least makespan of an iteration.", least_s_);
    metric("makespan_max_seconds", "gauge", "Largest makespan of an iteration.", most_s_);
    metric("late_start_max_seconds", "gauge",
           "Latest that a rank began an iteration after the common start.", late_start_s_);
  }
  metric("start_timestamp_seconds", "gauge", "When the ranks had joined, since 1970.", begun_s_);
  metric("last_iteration_timestamp_seconds", "gauge", "When the last iteration ended, since 1970.",
         last_s_);
  metric("finished", "gauge", "1 once the run has come to its end and its bytes were right.",
         finished_ ? 1 : 0);
  return out;
}

void RunMetrics::write(Console& console) {
  if (failed_) return;
  try {
    sched::write_file(file_, text());
  } catch (const Error& error) {
    failed_ = true;
    console.note(fmt::format("--metrics: {}", error.what()));
  }
}

}  // namespace slackline::cli
