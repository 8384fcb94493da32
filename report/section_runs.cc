// What each run did and when: times, tracks of the timeline, slack and the critical path.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/slack/observed_slack.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "machine/delays.h"
#include "machine/paths.h"
#include "report/critical_causes.h"
#include "report/document.h"
#include "report/sections.h"
#include "report/tracks.h"

namespace slackline::report {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kNoSlope = std::int64_t{1} << 50;

// Which of its four times an operation came to: ready, issued, on the wire, done.
std::int64_t reached(const sched::OpTimes& t) {
  std::int64_t count = 0;
  for (const double time_s : {t.ready_s, t.issued_s, t.wire_s, t.done_s}) {
    if (!std::isfinite(time_s)) break;
    ++count;
  }
  return count;
}

class RunWriter {
 public:
  RunWriter(const Report& report, std::size_t index, const Ticks& ticks, Document& document)
      : schedule_(report.schedule),
        run_(report.runs[index]),
        ticks_(ticks),
        prefix_("run" + std::to_string(index) + "."),
        paths_(schedule_, run_.setting.wiring, run_.setting.delays),
        together_(schedule_, &run_.trace),
        facts_(document.facts["runs"].emplace_back()),
        columns_(document.columns) {}

  void write() {
    const double makespan_s = run_.trace.makespan_s();
    facts_["label"] = run_.label;
    facts_["engine"] = run_.trace.engine;
    facts_["platform"] = run_.trace.platform;
    facts_["delays"] = run_.trace.delays;
    // As text: the page's numbers are exact only below 2^53.
    facts_["seed"] = run_.trace.seed == 0 ? "" : std::to_string(run_.trace.seed);
    facts_["contended"] = run_.trace.contended;
    facts_["measured"] = is_measured(run_.trace);
    facts_["makespan"] = ticks_.of(makespan_s);
    write_times();
    write_tracks();
    write_slopes();
    if (const auto why = why_no_slack()) {
      facts_["no_slack"] = *why;
      return;
    }
    // Slack does not take everything that can run: the rest of the page is of use all the same.
    try {
      if (is_measured(run_.trace)) {
        write_observed_slack();
      } else {
        write_slack();
      }
    } catch (const InputError& error) {
      facts_["no_slack"] = error.what();
    } catch (const Unsupported& error) {
      facts_["no_slack"] = error.what();
    }
  }

 private:
  void add(std::string_view name, const Numbers& numbers, Coding coding = Coding::kValues) {
    columns_.add(prefix_ + std::string(name), numbers, coding);
  }

  std::int64_t between(double from_s, double to_s) const {
    if (!std::isfinite(from_s) || !std::isfinite(to_s)) return 0;
    return ticks_.of(to_s) - ticks_.of(from_s);
  }

  // Each time but the first as its distance from the one before, which is the same for many.
  void write_times() {
    const std::uint32_t ops = schedule_.op_count();
    Numbers count, issued, waited, wire, left, done, cause, attempts;
    for (Numbers* column : {&count, &issued, &waited, &wire, &left, &done, &cause, &attempts}) {
      column->reserve(ops);
    }
    for (std::uint32_t i = 0; i < ops; ++i) {
      const sched::OpTimes& t = run_.trace.ops[i];
      const bool sends = sched::is_initiator(schedule_.ops()[i].kind);
      count.push_back(reached(t));
      // What was never issued may have been ready all the same.
      const double issued_s = std::isfinite(t.issued_s) ? t.issued_s : t.ready_s;
      issued.push_back(std::isfinite(issued_s) ? ticks_.of(issued_s) : 0);
      waited.push_back(between(t.ready_s, t.issued_s));
      wire.push_back(between(t.issued_s, t.wire_s));
      left.push_back(sends ? left_after(sched::OpId(i)) : 0);
      done.push_back(between(t.issued_s, t.done_s));
      cause.push_back(t.cause.valid() ? std::int64_t{t.cause.value} - std::int64_t{i} : 0);
      attempts.push_back(t.attempts);
    }
    add("reached", count);
    add("issued", issued, Coding::kDifferences);
    add("waited", waited);
    add("wire", wire);
    add("left", left);
    add("done", done);
    add("cause", cause);
    add("attempts", attempts);
  }

  // Where nobody knows when a message had left, it counts as on its way until done.
  std::int64_t left_after(sched::OpId id) const {
    const sched::OpTimes& t = run_.trace.ops[id.value];
    if (t.attempts == 0) return 0;  // passed over
    const double end_s = left_s(run_.setting, paths_, run_.trace, together_, id);
    return std::max(std::int64_t{0}, between(t.wire_s, std::isfinite(end_s) ? end_s : t.done_s));
  }

  // When bars begin and end follows from the times above: only which they are is written.
  void write_tracks() {
    Numbers rank, band, lane, bars, op;
    for (const Track& track : tracks_of(run_.setting, paths_, run_.trace)) {
      rank.push_back(track.rank.value);
      band.push_back(static_cast<std::int64_t>(track.band));
      lane.push_back(track.lane);
      bars.push_back(static_cast<std::int64_t>(track.bars.size()));
      for (const TrackBar& bar : track.bars) op.push_back(bar.op.value);
    }
    add("track.rank", rank, Coding::kDifferences);
    add("track.band", band);
    add("track.lane", lane);
    add("track.bars", bars);
    add("bar.op", op, Coding::kDifferences);
  }

  // In millionths.
  void write_slopes() {
    if (run_.slopes.empty()) return;
    Numbers slopes;
    for (const double slope : run_.slopes) {
      slopes.push_back(std::isnan(slope) ? kNoSlope
                                         : std::llround(std::clamp(slope, -1e6, 1e6) * 1e6));
    }
    add("slope", slopes);
  }

  std::optional<std::string> why_no_slack() const {
    if (const auto why = schedule_.dynamic_reason()) return "the schedule is dynamic: " + *why;
    if (!std::isfinite(run_.trace.makespan_s())) return "the run never ended";
    return std::nullopt;
  }

  // Of a real run nobody knows the machine: floats are of the times that were seen.
  void write_observed_slack() {
    const analysis::ObservedSlack slack =
        analysis::observed_slack(schedule_, run_.trace, run_.setting.platform.interleave_bytes);
    Numbers total;
    for (const double float_s : slack.total_float_s) total.push_back(ticks_.of(float_s));
    add("total_float", total);
  }

  void write_slack() {
    const analysis::TimedSlack slack =
        run_.wire ? analysis::timed_slack(run_.setting, run_.trace, *run_.wire)
                  : analysis::slack_of_run(run_.setting, run_.trace);
    facts_["unexplained"] = ticks_.of(slack.unexplained_s);
    facts_["explained"] = analysis::explains(slack);
    facts_["no_promise"] = run_.no_promise.value_or("");
    Numbers total, free;
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      total.push_back(ticks_.of(slack.total_float_s[i]));
      free.push_back(ticks_.of(slack.free_float_s[i]));
    }
    add("total_float", total);
    add("free_float", free);
    write_path(slack.wire_times);
  }

  void write_path(analysis::WireTimes wire) {
    const analysis::ConstraintGraph graph = analysis::frozen_run(run_.setting, run_.trace, wire);
    const machine::Delays delays(run_.setting.delays, schedule_, run_.setting.platform);
    Numbers op, after, begin, end;
    std::vector<Numbers> by_cause(kCauses);
    for (const CriticalStretch& stretch : critical_causes(graph, run_.setting, delays, paths_)) {
      op.push_back(stretch.op.value);
      after.push_back(stretch.after.valid() ? std::int64_t{stretch.after.value} : -1);
      begin.push_back(ticks_.of(stretch.begin_s));
      end.push_back(ticks_.of(stretch.end_s));
      for (std::size_t c = 0; c < kCauses; ++c) {
        by_cause[c].push_back(ticks_.of(stretch.by_cause_s[c]));
      }
    }
    add("path.op", op);
    add("path.after", after);
    add("path.begin", begin, Coding::kDifferences);
    add("path.end", end, Coding::kDifferences);
    for (std::size_t c = 0; c < kCauses; ++c) {
      add("path.cause" + std::to_string(c), by_cause[c]);
    }
  }

  const sched::Schedule& schedule_;
  const ReportedRun& run_;
  const Ticks& ticks_;
  const std::string prefix_;
  const machine::Paths paths_;
  const analysis::SentTogether together_;
  nlohmann::ordered_json& facts_;
  Columns& columns_;
};

}  // namespace

void add_runs(const Report& report, const Ticks& ticks, Document& document) {
  document.facts["runs"] = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < kCauses; ++c) {
    document.facts["causes"].push_back(name(static_cast<Cause>(c)));
  }
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    RunWriter(report, i, ticks, document).write();
  }
}

}  // namespace slackline::report
