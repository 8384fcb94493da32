#include "cli/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cli/human.h"
#include "machine/run/executable.h"
#include "sched/workloads/structures/structure_check.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kMostShown = 20;

// Of which every operation is part of a call or a delegate, and what they leave is the contract's.
bool is_of_calls(std::string_view pattern) {
  constexpr std::string_view kIrregular[] = {"random-access", "tree-search", "breadth-first-search",
                                             "breadth-first-levels", "hex-search"};
  return pattern.starts_with("call") || pattern.starts_with("broadcast") ||
         std::ranges::find(kIrregular, pattern) != std::end(kIrregular);
}

}  // namespace

Contents::Contents(const LoadedSchedule& loaded, const sched::Trace& trace,
                   const sched::ClockError& clock_error, bool timed) {
  const sched::Schedule& schedule = loaded.schedule;
  if (trace.engine == "best-case" || trace.ops.size() != schedule.op_count()) return;
  const bool of_calls =
      loaded.pattern && is_of_calls(*loaded.pattern) && schedule.regions().empty();
  if (!loaded.structure && trace.results.empty() && !of_calls) return;
  if (!std::isfinite(trace.makespan_s())) return;
  if (loaded.structure) {
    look_at_structure(*loaded.structure, schedule, trace, clock_error);
    return;
  }
  if (!trace.results.empty()) look_at_words(schedule, trace);
  if (!of_calls) return;
  look_at_runs(schedule, trace);
  if (timed) look_at_order(schedule, trace, clock_error);
}

bool Contents::may_look_at(const LoadedSchedule& loaded) {
  return loaded.structure || machine::request_count(loaded.schedule) != 0 ||
         (loaded.pattern && is_of_calls(*loaded.pattern));
}

void Contents::look_at_structure(const sched::StructureProgram& program,
                                 const sched::Schedule& schedule, const sched::Trace& trace,
                                 const sched::ClockError& clock_error) {
  looked_at_ = fmt::format("{} on {}", human_count(program.ops.size(), "operation"),
                           program.table ? "hash-table" : "queue");
  for (const sched::Finding& finding :
       sched::check_structure(program, trace, sched::kept_memory(schedule, trace), clock_error)) {
    findings_.push_back({std::string(sched::name(finding.breach)), finding.op, finding.message});
  }
}

void Contents::look_at_words(const sched::Schedule& schedule, const sched::Trace& trace) {
  const auto ops = schedule.ops();
  const auto adds =
      static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [](const sched::Op& op) {
        return op.kind == sched::OpKind::kFetchAdd;
      }));
  if (adds == 0) return;
  looked_at_ = human_count(adds, "fetch_add");
  for (const sched::Diagnostic& found : sched::check_fetch_adds(schedule, trace)) {
    findings_.push_back({"lost", found.op, found.message});
  }
}

// That bytes are right is another's proof; this is about when and how often.
void Contents::look_at_runs(const sched::Schedule& schedule, const sched::Trace& trace) {
  looked_at_ += fmt::format("{}{} that ran once", looked_at_.empty() ? "" : " and ",
                            human_count(schedule.op_count(), "operation"));
  for (const sched::Diagnostic& found : sched::check_ran_once(schedule, trace)) {
    findings_.push_back({"runs", found.op, found.message});
  }
}

void Contents::look_at_order(const sched::Schedule& schedule, const sched::Trace& trace,
                             const sched::ClockError& clock_error) {
  looked_at_ += ", in order,";
  const sched::Diagnostics disorder = clock_error ? sched::check_order(schedule, trace, clock_error)
                                                  : sched::check_order(schedule, trace);
  for (const sched::Diagnostic& found : disorder) {
    findings_.push_back({"order", found.op, found.message});
  }
}

std::string Contents::report() const {
  if (looked_at_.empty()) return "";
  const char* const where = of_several_ ? " in the iteration of the trace" : "";
  if (ok()) {
    return fmt::format("\ncontents: as {} should leave them{}{}\n", looked_at_,
                       of_several_ ? "," : "", where);
  }
  std::string text = fmt::format("\ncontents: {} after {}{}\n",
                                 human_count(findings_.size(), "finding"), looked_at_, where);
  for (std::size_t i = 0; i < std::min(findings_.size(), kMostShown); ++i) {
    text += fmt::format("  {}: {}\n", findings_[i].code, findings_[i].message);
  }
  if (findings_.size() > kMostShown) {
    text += fmt::format("  … and {} more\n", findings_.size() - kMostShown);
  }
  return text;
}

void Contents::add_to(JsonOutput& json) const {
  json.set("contents_checked", !looked_at_.empty());
  json.list("contents_findings", findings_, [&](const Finding& finding) {
    json.set("code", finding.code);
    json.set("op", finding.op.valid() ? std::optional(finding.op.value) : std::nullopt);
    json.set("message", finding.message);
  });
}

}  // namespace slackline::cli
